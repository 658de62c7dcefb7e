#ifndef CAFFE_SRC_CPU_UPDATE_HPP_
#define CAFFE_SRC_CPU_UPDATE_HPP_

#include <cstdint>

// From gradients to updates of n parameters, every array read and written
// once. `diff` holds the gradient g on entry and the update on return;
// histories h are updated in place. Values do not depend on the number of
// threads.
namespace caffe::cpu {

// What is added to a gradient for being the weight's own: l2 * w + l1 * sign(w)
// after a multiplication with scale.
template <typename Dtype>
struct Decay {
  Dtype scale = 1;
  Dtype l1 = 0;
  Dtype l2 = 0;
};

template <typename Dtype>
void AddDecay(int64_t n, Decay<Dtype> decay, const Dtype* data, Dtype* diff);

// h = momentum h + rate g; the update is h.
template <typename Dtype>
void SgdUpdate(int64_t n, Dtype rate, Dtype momentum, Dtype* diff, Dtype* h);

// AddDecay, SgdUpdate and data -= update at once.
template <typename Dtype>
void SgdStep(int64_t n, Decay<Dtype> decay, Dtype rate, Dtype momentum,
             Dtype* data, Dtype* diff, Dtype* h);

// h' = momentum h + rate g; the update is (1 + momentum) h' - momentum h.
template <typename Dtype>
void NesterovUpdate(int64_t n, Dtype rate, Dtype momentum, Dtype* diff,
                    Dtype* h);

// h += g^2; the update is rate g / (sqrt(h) + delta).
template <typename Dtype>
void AdaGradUpdate(int64_t n, Dtype rate, Dtype delta, Dtype* diff, Dtype* h);

// h = decay h + (1 - decay) g^2; the update is rate g / (sqrt(h) + delta).
template <typename Dtype>
void RmsPropUpdate(int64_t n, Dtype rate, Dtype decay, Dtype delta, Dtype* diff,
                   Dtype* h);

// h = momentum h + (1 - momentum) g^2; s = g sqrt((k + delta) / (h + delta));
// k = momentum k + (1 - momentum) s^2; the update is rate s.
template <typename Dtype>
void AdaDeltaUpdate(int64_t n, Dtype rate, Dtype momentum, Dtype delta,
                    Dtype* diff, Dtype* h, Dtype* k);

// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; the update is
// rate m / (sqrt(v) + delta).
template <typename Dtype>
void AdamUpdate(int64_t n, Dtype rate, Dtype beta1, Dtype beta2, Dtype delta,
                Dtype* diff, Dtype* m, Dtype* v);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_UPDATE_HPP_
