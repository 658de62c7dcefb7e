#include "cpu/scale.hpp"

#include <vector>

#include "cpu/channel_sums.hpp"
#include "cpu/engine.hpp"

namespace caffe::cpu {

namespace {

// The gradients of factors and offsets by their definitions.
template <typename Dtype>
void AddSumsReference(const ChannelLayout& layout, const Dtype* in,
                      const Dtype* out_diff,
                      const ScaleGradients<Dtype>& gradients) {
  for (int64_t c = 0; c < layout.channels; ++c) {
    double products = 0;
    double sum = 0;
    for (int64_t n = 0; n < layout.num; ++n) {
      const int64_t first = layout.plane(n, c);
      for (int64_t i = first; i < first + layout.inner; ++i) {
        if (gradients.factors != nullptr) {
          products += double(out_diff[i]) * in[i];
        }
        sum += out_diff[i];
      }
    }
    if (gradients.factors != nullptr) gradients.factors[c] += products;
    if (gradients.offsets != nullptr) gradients.offsets[c] += sum;
  }
}

// The same for the channels [begin, end).
template <typename Dtype>
void AddSums(const ChannelLayout& layout, int64_t begin, int64_t end,
             const Dtype* in, const Dtype* out_diff,
             const ScaleGradients<Dtype>& gradients) {
  std::vector<double> products(end - begin);
  std::vector<double> sums(end - begin);
  const std::vector<Dtype> zeros(end - begin);
  // Without factors the products are not needed, and any values will do.
  AddProducts(layout, begin, end, out_diff,
              gradients.factors == nullptr ? out_diff : in, zeros.data(),
              sums.data(), products.data());
  for (int64_t c = begin; c < end; ++c) {
    if (gradients.factors != nullptr) {
      gradients.factors[c] += products[c - begin];
    }
    if (gradients.offsets != nullptr) gradients.offsets[c] += sums[c - begin];
  }
}

// out = factors * in of the channels [begin, end).
template <typename Dtype>
void Multiply(const ChannelLayout& layout, int64_t begin, int64_t end,
              const Dtype* in, const Dtype* factors, Dtype* out) {
  ForValues(layout, begin, end, [=](int64_t c) {
    return [=, factor = factors[c]](int64_t i) { out[i] = factor * in[i]; };
  });
}

}  // namespace

template <typename Dtype>
void ScaleForward(const ChannelLayout& layout, const Dtype* in,
                  const Dtype* factors, const Dtype* offsets, Dtype* out,
                  Dtype* copy) {
  ForChannelRanges(layout, [=](int64_t begin, int64_t end) {
    if (copy != nullptr) CopyChannels(layout, begin, end, in, copy);
    if (factors == nullptr) {
      ForValues(layout, begin, end, [=](int64_t c) {
        return [=, offset = offsets[c]](int64_t i) { out[i] = in[i] + offset; };
      });
    } else if (offsets == nullptr) {
      Multiply(layout, begin, end, in, factors, out);
    } else {
      ForValues(layout, begin, end, [=](int64_t c) {
        return [=, factor = factors[c], offset = offsets[c]](int64_t i) {
          out[i] = factor * in[i] + offset;
        };
      });
    }
  });
}

template <typename Dtype>
void ScaleBackward(const ChannelLayout& layout, const Dtype* in,
                   const Dtype* factors, const Dtype* out_diff,
                   const ScaleGradients<Dtype>& gradients) {
  const bool reference = kernels() == Kernels::kReference;
  const bool sums =
      gradients.factors != nullptr || gradients.offsets != nullptr;
  if (sums && reference) AddSumsReference(layout, in, out_diff, gradients);
  ForChannelRanges(layout, [&](int64_t begin, int64_t end) {
    if (sums && !reference) {
      AddSums(layout, begin, end, in, out_diff, gradients);
    }
    if (gradients.in == nullptr) return;
    if (factors != nullptr) {
      Multiply(layout, begin, end, out_diff, factors, gradients.in);
    } else if (gradients.in != out_diff) {
      CopyChannels(layout, begin, end, out_diff, gradients.in);
    }
  });
}

#define INSTANTIATE_SCALE(Dtype)                                               \
  template void ScaleForward(const ChannelLayout&, const Dtype*, const Dtype*, \
                             const Dtype*, Dtype*, Dtype*);                    \
  template void ScaleBackward(const ChannelLayout&, const Dtype*,              \
                              const Dtype*, const Dtype*,                      \
                              const ScaleGradients<Dtype>&)

INSTANTIATE_SCALE(float);
INSTANTIATE_SCALE(double);

}  // namespace caffe::cpu
