#ifndef CAFFE_SRC_DATA_READING_HPP_
#define CAFFE_SRC_DATA_READING_HPP_

#include <climits>
#include <cstdint>
#include <string>

#include "caffe/common.hpp"
#include "caffe/util/math_functions.hpp"

// What the data layers share besides their base classes.

namespace caffe {

// The batch size that a layer's settings ask for. Throws Error when they give
// none, or one that no blob can have.
inline int BatchSize(const char* settings, uint32_t batch_size) {
  Require(batch_size > 0 && batch_size <= INT_MAX, settings,
          " needs a batch_size of at least 1, not ", batch_size);
  return static_cast<int>(batch_size);
}

// How many items to skip at the start: any number below rand_skip, from the
// calling thread's generator.
inline unsigned int DrawSkip(uint32_t rand_skip) {
  if (rand_skip == 0) return 0;
  const unsigned int skip = caffe_rng_rand() % rand_skip;
  LOG(INFO) << "Skipping first " << skip << " data points.";
  return skip;
}

// A position that a layer saved for an exact resume.
template <typename Position>
Position ParsePosition(const std::string& saved) {
  Position position;
  Require(!saved.empty() && position.ParseFromString(saved),
          "the saved position in the data is damaged");
  return position;
}

// Whether an item belongs to another of the solvers that share the data: each
// of n solvers takes every n-th. Tests are not shared.
inline bool IsForAnotherSolver(uint64_t item, Phase phase) {
  return phase == TRAIN && item % Caffe::solver_count() !=
                               static_cast<uint64_t>(Caffe::solver_rank());
}

}  // namespace caffe

#endif  // CAFFE_SRC_DATA_READING_HPP_
