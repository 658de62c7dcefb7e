#include "data/visit_order.hpp"

#include <numeric>

#include "caffe/util/rng.hpp"

namespace caffe {

VisitOrder::VisitOrder(size_t count, bool shuffled, uint32_t seed)
    : count_(count), shuffled_(shuffled) {
  CHECK_GT(count, 0u);
  StartPass(seed);
}

void VisitOrder::StartPass(uint32_t seed) {
  position_ = 0;
  seed_ = seed;
  if (!shuffled_) return;
  rng_t rng(seed);
  next_seed_ = rng();
  order_.resize(count_);
  std::iota(order_.begin(), order_.end(), size_t{0});
  shuffle(order_.begin(), order_.end(), &rng);
}

bool VisitOrder::Next() {
  if (++position_ < count_) return false;
  StartPass(next_seed_);
  return true;
}

ListPosition VisitOrder::Save() const {
  ListPosition position;
  position.set_seed(seed_);
  position.set_index(position_);
  return position;
}

void VisitOrder::Restore(const ListPosition& position) {
  Require(position.index() < count_, "the saved position is item ",
          position.index(), " of a list that has only ", count_);
  StartPass(position.seed());
  position_ = position.index();
}

}  // namespace caffe
