#ifndef CAFFE_SRC_REPORT_AXIS_HPP_
#define CAFFE_SRC_REPORT_AXIS_HPP_

#include <string>
#include <vector>

namespace caffe {

enum class Scale { kLinear, kLog };

struct Tick {
  double value = 0;
  std::string label;
};

// One direction of a plot: from which value to which, where they are drawn, and
// the values that are written beside it.
class Axis {
 public:
  // The axis reaches to round values around both. They may be the same, or not
  // even numbers.
  // REQUIRES: for a logarithmic scale both are above zero.
  Axis(double low, double high, Scale scale, int most_ticks);
  // Ends where the values do.
  static Axis Exactly(double low, double high, int most_ticks);

  double low() const { return low_; }
  double high() const { return high_; }
  Scale scale() const { return scale_; }
  const std::vector<Tick>& ticks() const { return ticks_; }

  // From 0, for low(), to 1, for high().
  double Fraction(double value) const;

 private:
  Axis() = default;
  void SetLinearTicks(int most_ticks, bool rounds);
  void SetLogTicks(int most_ticks);

  double low_ = 0;
  double high_ = 1;
  Scale scale_ = Scale::kLinear;
  std::vector<Tick> ticks_;
};

// Whether curves of these values are better to read on a logarithmic scale.
Scale ScaleFor(double low, double high);

// For people: "0.25", "1.2e-05", "150k", "2.5M".
std::string ReadableNumber(double value);

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_AXIS_HPP_
