#ifndef CAFFE_SRC_DATA_VISIT_ORDER_HPP_
#define CAFFE_SRC_DATA_VISIT_ORDER_HPP_

#include <cstdint>
#include <vector>

#include "caffe/proto/caffe.pb.h"

namespace caffe {

// The order in which a data layer visits the items of a list, pass after pass:
// as they are or, shuffled, in another order every pass. Every order, and the
// seed of the next one, follows from one seed, so that this seed and the
// position in the pass are all that an exact resume needs.
class VisitOrder {
 public:
  // REQUIRES: count > 0.
  VisitOrder(size_t count, bool shuffled, uint32_t seed);

  // The index of the item whose turn it is.
  size_t current() const {
    return order_.empty() ? position_ : order_[position_];
  }
  // Goes on to the next item; true when that starts a new pass.
  bool Next();
  // What the order of this pass follows from.
  uint32_t seed() const { return seed_; }

  ListPosition Save() const;
  // Throws Error when the list is shorter than the one that was saved.
  void Restore(const ListPosition& position);

 private:
  void StartPass(uint32_t seed);

  const size_t count_;
  const bool shuffled_;
  uint32_t seed_ = 0;
  uint32_t next_seed_ = 0;
  size_t position_ = 0;
  std::vector<size_t> order_;  // Empty unless shuffled.
};

}  // namespace caffe

#endif  // CAFFE_SRC_DATA_VISIT_ORDER_HPP_
