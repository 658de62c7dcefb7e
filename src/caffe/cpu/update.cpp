#include "cpu/update.hpp"

#include <cmath>

#include "cpu/parallel.hpp"

namespace caffe::cpu {

namespace {

template <typename Body>
void ForEach(int64_t n, const Body& body) {
  ParallelFor(n, kElementwiseGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

template <typename Dtype>
Dtype Sign(Dtype x) {
  return static_cast<Dtype>((x > 0) - (x < 0));
}

// The three kinds of decay as functions of (gradient, weight), so that loops
// do not carry terms that are zero: 0 * w is not 0 for a weight that is not
// finite.
template <typename Dtype, typename Use>
void WithDecay(Decay<Dtype> decay, const Use& use) {
  const Dtype scale = decay.scale;
  const Dtype l1 = decay.l1;
  const Dtype l2 = decay.l2;
  if (l1 != 0) {
    use([=](Dtype g, Dtype w) { return scale * g + l2 * w + l1 * Sign(w); });
  } else if (l2 != 0) {
    use([=](Dtype g, Dtype w) { return scale * g + l2 * w; });
  } else {
    use([=](Dtype g, Dtype) { return scale * g; });
  }
}

}  // namespace

template <typename Dtype>
void AddDecay(int64_t n, Decay<Dtype> decay, const Dtype* data, Dtype* diff) {
  WithDecay(decay, [=](const auto& decayed) {
    ForEach(n, [=](int64_t i) { diff[i] = decayed(diff[i], data[i]); });
  });
}

template <typename Dtype>
void SgdUpdate(int64_t n, Dtype rate, Dtype momentum, Dtype* diff, Dtype* h) {
  ForEach(n, [=](int64_t i) {
    const Dtype update = momentum * h[i] + rate * diff[i];
    h[i] = update;
    diff[i] = update;
  });
}

template <typename Dtype>
void SgdStep(int64_t n, Decay<Dtype> decay, Dtype rate, Dtype momentum,
             Dtype* data, Dtype* diff, Dtype* h) {
  WithDecay(decay, [=](const auto& decayed) {
    ForEach(n, [=](int64_t i) {
      const Dtype gradient = decayed(diff[i], data[i]);
      const Dtype update = momentum * h[i] + rate * gradient;
      h[i] = update;
      diff[i] = update;
      data[i] -= update;
    });
  });
}

template <typename Dtype>
void NesterovUpdate(int64_t n, Dtype rate, Dtype momentum, Dtype* diff,
                    Dtype* h) {
  ForEach(n, [=](int64_t i) {
    const Dtype before = h[i];
    const Dtype after = momentum * before + rate * diff[i];
    h[i] = after;
    diff[i] = (1 + momentum) * after - momentum * before;
  });
}

template <typename Dtype>
void AdaGradUpdate(int64_t n, Dtype rate, Dtype delta, Dtype* diff, Dtype* h) {
  ForEach(n, [=](int64_t i) {
    const Dtype square = h[i] + diff[i] * diff[i];
    h[i] = square;
    diff[i] = rate * diff[i] / (std::sqrt(square) + delta);
  });
}

template <typename Dtype>
void RmsPropUpdate(int64_t n, Dtype rate, Dtype decay, Dtype delta, Dtype* diff,
                   Dtype* h) {
  ForEach(n, [=](int64_t i) {
    const Dtype square = decay * h[i] + (1 - decay) * diff[i] * diff[i];
    h[i] = square;
    diff[i] = rate * diff[i] / (std::sqrt(square) + delta);
  });
}

template <typename Dtype>
void AdaDeltaUpdate(int64_t n, Dtype rate, Dtype momentum, Dtype delta,
                    Dtype* diff, Dtype* h, Dtype* k) {
  ForEach(n, [=](int64_t i) {
    const Dtype square = momentum * h[i] + (1 - momentum) * diff[i] * diff[i];
    h[i] = square;
    const Dtype step = diff[i] * std::sqrt((k[i] + delta) / (square + delta));
    k[i] = momentum * k[i] + (1 - momentum) * step * step;
    diff[i] = rate * step;
  });
}

template <typename Dtype>
void AdamUpdate(int64_t n, Dtype rate, Dtype beta1, Dtype beta2, Dtype delta,
                Dtype* diff, Dtype* m, Dtype* v) {
  ForEach(n, [=](int64_t i) {
    const Dtype mean = beta1 * m[i] + (1 - beta1) * diff[i];
    const Dtype square = beta2 * v[i] + (1 - beta2) * diff[i] * diff[i];
    m[i] = mean;
    v[i] = square;
    diff[i] = rate * mean / (std::sqrt(square) + delta);
  });
}

#define INSTANTIATE_UPDATE(Dtype)                                            \
  template void AddDecay(int64_t, Decay<Dtype>, const Dtype*, Dtype*);       \
  template void SgdUpdate(int64_t, Dtype, Dtype, Dtype*, Dtype*);            \
  template void SgdStep(int64_t, Decay<Dtype>, Dtype, Dtype, Dtype*, Dtype*, \
                        Dtype*);                                             \
  template void NesterovUpdate(int64_t, Dtype, Dtype, Dtype*, Dtype*);       \
  template void AdaGradUpdate(int64_t, Dtype, Dtype, Dtype*, Dtype*);        \
  template void RmsPropUpdate(int64_t, Dtype, Dtype, Dtype, Dtype*, Dtype*); \
  template void AdaDeltaUpdate(int64_t, Dtype, Dtype, Dtype, Dtype*, Dtype*, \
                               Dtype*);                                      \
  template void AdamUpdate(int64_t, Dtype, Dtype, Dtype, Dtype, Dtype*,      \
                           Dtype*, Dtype*)

INSTANTIATE_UPDATE(float);
INSTANTIATE_UPDATE(double);

}  // namespace caffe::cpu
