#ifndef CAFFE_COMPRESS_BATCH_SIZE_HPP_
#define CAFFE_COMPRESS_BATCH_SIZE_HPP_

#include <cstddef>
#include <functional>
#include <string>

#include "caffe/proto/compress.pb.h"

// How large a batch may be: numbers in, numbers out. BatchControl brings them
// together with nets and solvers.

namespace caffe {

// Bytes that the process is forecast to take at its peak with such a batch.
using BatchForecast = std::function<double(int batch_size)>;

// Chooses batch sizes for a budget of memory.
class BatchSizeRule {
 public:
  // `configured` is the batch size in the net's settings. Throws Error when the
  // settings make no sense.
  BatchSizeRule(const BatchSizeParameter& param, size_t budget, int configured);

  struct Choice {
    int batch_size = 0;
    // Why it is not the one before; empty when it is.
    std::string reason;
  };
  // The batch size to begin with: the configured one, or the largest below it
  // that fits. Throws Error, telling what is needed, when none does.
  Choice First(const BatchForecast& forecast) const;
  // The batch size after `current`: less when that does not fit any more, and
  // more, up to twice as much, when there is room. A forecast far beyond what
  // has been measured is worth little.
  Choice Next(int current, const BatchForecast& forecast) const;

  int configured() const { return configured_; }
  size_t budget() const { return budget_; }
  // What the forecast must be within to take a batch size, and what it may rise
  // to before the batch size is given up: what goes up and down a little must
  // not change it back and forth.
  double limit() const;
  double upper_limit() const;

  // By how much the learning rate of such a batch is larger than that of a
  // configured one.
  double RateScale(int batch_size) const;

 private:
  // The largest of the sizes to choose from, up to `most`, that fits; 0 when
  // none does.
  int LargestThatFits(int most, const BatchForecast& forecast) const;

  const BatchSizeParameter param_;
  const size_t budget_;
  const int configured_;
};

}  // namespace caffe

#endif  // CAFFE_COMPRESS_BATCH_SIZE_HPP_
