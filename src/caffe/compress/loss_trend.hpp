#ifndef CAFFE_SRC_COMPRESS_LOSS_TREND_HPP_
#define CAFFE_SRC_COMPRESS_LOSS_TREND_HPP_

#include "caffe/proto/compress.pb.h"

namespace caffe {

// Where recent losses lie: a mean and a mean absolute deviation, in which older
// ones count less and less. Numbers only.
class LossTrend {
 public:
  // Reaches back over about `window` losses; a loss is far above it that
  // exceeds the mean by `deviations` mean deviations.
  LossTrend(int window, double deviations)
      : window_(window), deviations_(deviations) {}

  // The largest loss that is not far above the trend: infinite until there were
  // as many as the window holds, and never close to the mean.
  double limit() const;
  // Counts as the limit when it is more, so that one odd loss does not hide the
  // next; when losses stay up, the trend follows.
  void Add(double loss);

  double mean() const { return state_.mean(); }
  const LossTrendState& state() const { return state_; }
  void Restore(const LossTrendState& state) { state_ = state; }

 private:
  int window_;
  double deviations_;
  LossTrendState state_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_COMPRESS_LOSS_TREND_HPP_
