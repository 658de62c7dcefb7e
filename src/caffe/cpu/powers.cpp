#include "cpu/powers.hpp"

#include <cmath>

#include "cpu/elementwise.hpp"

namespace caffe::cpu {

namespace {

// Calls value(i, line(in[i])^power) for all i in [0, n), on all threads.
template <typename Dtype, typename Value>
void ForEachPower(int64_t n, const Line<Dtype>& line, Dtype power,
                  const Dtype* in, const Value& value) {
  if (power == 1) {
    ForEachValue(n, [=](int64_t i) { value(i, line(in[i])); });
  } else if (power == 2) {
    ForEachValue(n, [=](int64_t i) {
      const Dtype x = line(in[i]);
      value(i, x * x);
    });
  } else {
    ForEachValue(
        n, [=](int64_t i) { value(i, std::pow(line(in[i]), power)); },
        kElementaryCost);
  }
}

}  // namespace

template <typename Dtype>
void Exponential(int64_t n, const Line<Dtype>& line, const Dtype* in,
                 Dtype* out) {
  ForEachElementary<Dtype>(
      n, Elementary::kExp, [=](int64_t i) { return line(in[i]); },
      [=](int64_t i, Dtype value) { out[i] = value; });
}

template <typename Dtype>
void ExponentialBackward(int64_t n, const Line<Dtype>& line, const Dtype* out,
                         const Dtype* out_diff, Dtype* in_diff) {
  ForEachValue(n, [=, scale = line.scale](int64_t i) {
    in_diff[i] = out_diff[i] * (scale * out[i]);
  });
}

template <typename Dtype>
void Logarithm(int64_t n, const Line<Dtype>& line, Dtype log_base,
               const Dtype* in, Dtype* out) {
  ForEachElementary<Dtype>(
      n, Elementary::kLog, [=](int64_t i) { return line(in[i]); },
      [=, scale = 1 / log_base](int64_t i, Dtype value) {
        out[i] = scale * value;
      });
}

template <typename Dtype>
void LogarithmBackward(int64_t n, const Line<Dtype>& line, Dtype log_base,
                       const Dtype* out, const Dtype* out_diff,
                       Dtype* in_diff) {
  // The derivative is a quotient by line(in), and that is e^(log_base * out): a
  // small error of `out` does not matter.
  ForEachElementary<Dtype>(
      n, Elementary::kExp, [=](int64_t i) { return -log_base * out[i]; },
      [=, scale = line.scale / log_base](int64_t i, Dtype inverse) {
        in_diff[i] = out_diff[i] * (scale * inverse);
      });
}

template <typename Dtype>
void Power(int64_t n, const Line<Dtype>& line, Dtype power, const Dtype* in,
           Dtype* out) {
  ForEachPower(n, line, power, in,
               [=](int64_t i, Dtype value) { out[i] = value; });
}

template <typename Dtype>
void PowerBackward(int64_t n, const Line<Dtype>& line, Dtype power,
                   const Dtype* in, const Dtype* out_diff, Dtype* in_diff) {
  ForEachPower(n, line, power - 1, in,
               [=, scale = power * line.scale](int64_t i, Dtype value) {
                 in_diff[i] = out_diff[i] * (scale * value);
               });
}

#define INSTANTIATE_POWERS(Dtype)                                              \
  template void Exponential(int64_t, const Line<Dtype>&, const Dtype*,         \
                            Dtype*);                                           \
  template void ExponentialBackward(int64_t, const Line<Dtype>&, const Dtype*, \
                                    const Dtype*, Dtype*);                     \
  template void Logarithm(int64_t, const Line<Dtype>&, Dtype, const Dtype*,    \
                          Dtype*);                                             \
  template void LogarithmBackward(int64_t, const Line<Dtype>&, Dtype,          \
                                  const Dtype*, const Dtype*, Dtype*);         \
  template void Power(int64_t, const Line<Dtype>&, Dtype, const Dtype*,        \
                      Dtype*);                                                 \
  template void PowerBackward(int64_t, const Line<Dtype>&, Dtype,              \
                              const Dtype*, const Dtype*, Dtype*)

INSTANTIATE_POWERS(float);
INSTANTIATE_POWERS(double);

}  // namespace caffe::cpu
