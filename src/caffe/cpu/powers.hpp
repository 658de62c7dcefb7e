#ifndef CAFFE_SRC_CPU_POWERS_HPP_
#define CAFFE_SRC_CPU_POWERS_HPP_

#include <cstdint>

// Exponentials, logarithms and powers of scale * x + shift, and their
// gradients, as in cpu/activations.hpp.
namespace caffe::cpu {

// A straight line through the values.
template <typename Dtype>
struct Line {
  Dtype scale = 1;
  Dtype shift = 0;

  Dtype operator()(Dtype x) const { return scale * x + shift; }
};

// e^line(x).
template <typename Dtype>
void Exponential(int64_t n, const Line<Dtype>& line, const Dtype* in,
                 Dtype* out);
template <typename Dtype>
void ExponentialBackward(int64_t n, const Line<Dtype>& line, const Dtype* out,
                         const Dtype* out_diff, Dtype* in_diff);

// log(line(x)) / log_base.
template <typename Dtype>
void Logarithm(int64_t n, const Line<Dtype>& line, Dtype log_base,
               const Dtype* in, Dtype* out);
template <typename Dtype>
void LogarithmBackward(int64_t n, const Line<Dtype>& line, Dtype log_base,
                       const Dtype* out, const Dtype* out_diff, Dtype* in_diff);

// line(x)^power.
template <typename Dtype>
void Power(int64_t n, const Line<Dtype>& line, Dtype power, const Dtype* in,
           Dtype* out);
template <typename Dtype>
void PowerBackward(int64_t n, const Line<Dtype>& line, Dtype power,
                   const Dtype* in, const Dtype* out_diff, Dtype* in_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_POWERS_HPP_
