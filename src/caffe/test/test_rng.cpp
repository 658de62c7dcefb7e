#include "caffe/util/rng.hpp"

#include <numeric>
#include <string>
#include <vector>

#include "caffe/test/test_caffe_main.hpp"

namespace caffe {

TEST(RngTest, SavedStateContinuesTheSequence) {
  // The generator makes 624 numbers at a time.
  for (const int drawn : {0, 1, 623, 624, 625, 2000}) {
    rng_t rng(1701);
    for (int i = 0; i < drawn; ++i) rng();
    const string state = SaveRng(rng);
    rng_t restored(3);
    RestoreRng(state, &restored);
    for (int i = 0; i < 2000; ++i) {
      ASSERT_EQ(rng(), restored()) << drawn << " + " << i;
    }
  }
}

TEST(RngTest, DamagedStateIsRefused) {
  rng_t rng(1701);
  const string state = SaveRng(rng);
  rng_t untouched = rng;
  EXPECT_THROW(RestoreRng("", &rng), Error);
  EXPECT_THROW(RestoreRng("no state", &rng), Error);
  EXPECT_THROW(RestoreRng(state.substr(0, state.size() / 2), &rng), Error);
  EXPECT_EQ(untouched(), rng());
}

TEST(RngTest, ShuffleFollowsItsGenerator) {
  vector<int> ascending(100);
  std::iota(ascending.begin(), ascending.end(), 0);
  const auto shuffled = [&](unsigned int seed) {
    vector<int> order = ascending;
    rng_t rng(seed);
    shuffle(order.begin(), order.end(), &rng);
    return order;
  };
  EXPECT_EQ(shuffled(1), shuffled(1));
  EXPECT_NE(shuffled(1), shuffled(2));
  vector<int> sorted = shuffled(1);
  EXPECT_NE(ascending, sorted);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(ascending, sorted);
}

}  // namespace caffe
