#include "cpu/image.hpp"

#include <algorithm>

namespace caffe::cpu {

namespace {

// Neighbours in memory are what the compiler vectorises. Other steps go
// through buffers of this many values, which stay in the first-level cache.
constexpr int kChunk = 256;

template <typename T>
void Gather(int n, const T* __restrict from, int64_t step, T* __restrict to) {
  for (int i = 0; i < n; ++i) to[i] = from[i * step];
}

template <typename T>
void Scatter(int n, const T* __restrict from, int64_t step, T* __restrict to) {
  if (step == -1) {  // A mirror image, which vectorises.
    for (int64_t i = 0; i < n; ++i) to[-i] = from[i];
    return;
  }
  for (int i = 0; i < n; ++i) to[i * step] = from[i];
}

template <typename Pixel, typename Dtype>
void Normalize(int n, const Pixel* __restrict source,
               const Dtype* __restrict mean, bool mean_is_constant, Dtype scale,
               Dtype* __restrict target) {
  if (mean_is_constant) {
    const Dtype constant = *mean;
    for (int i = 0; i < n; ++i) {
      target[i] = (static_cast<Dtype>(source[i]) - constant) * scale;
    }
  } else {
    for (int i = 0; i < n; ++i) {
      target[i] = (static_cast<Dtype>(source[i]) - mean[i]) * scale;
    }
  }
}

template <typename T>
T* At(const ImageView<T>& image, int c, int h, int w) {
  return image.data + c * image.channel + h * image.row + w * image.column;
}

}  // namespace

void CopyImage(const ImageSize& size, const ImageView<const uint8_t>& source,
               const ImageView<uint8_t>& target) {
  for (int c = 0; c < size.channels; ++c) {
    for (int h = 0; h < size.height; ++h) {
      const uint8_t* const from = At(source, c, h, 0);
      uint8_t* const to = At(target, c, h, 0);
      if (source.column == 1) {
        std::copy_n(from, size.width, to);
      } else {
        Gather(size.width, from, source.column, to);
      }
    }
  }
}

template <typename Pixel, typename Dtype>
void NormalizeImage(const ImageSize& size, const ImageView<const Pixel>& source,
                    const ImageView<const Dtype>& mean, Dtype scale,
                    const ImageView<Dtype>& target) {
  Pixel pixels[kChunk];
  Dtype means[kChunk];
  Dtype results[kChunk];
  const auto normalize_chunk = [&](int c, int h, int w) {
    const int n = std::min(kChunk, size.width - w);
    const Pixel* s = At(source, c, h, w);
    const Dtype* m = At(mean, c, h, w);
    Dtype* const t = At(target, c, h, w);
    const bool direct = target.column == 1;
    const bool constant = mean.column == 0;
    if (source.column != 1) {
      Gather(n, s, source.column, pixels);
      s = pixels;
    }
    if (!constant && mean.column != 1) {
      Gather(n, m, mean.column, means);
      m = means;
    }
    Normalize(n, s, m, constant, scale, direct ? t : results);
    if (!direct) Scatter(n, results, target.column, t);
  };
  for (int c = 0; c < size.channels; ++c) {
    for (int h = 0; h < size.height; ++h) {
      for (int w = 0; w < size.width; w += kChunk) normalize_chunk(c, h, w);
    }
  }
}

template void NormalizeImage(const ImageSize&, const ImageView<const uint8_t>&,
                             const ImageView<const float>&, float,
                             const ImageView<float>&);
template void NormalizeImage(const ImageSize&, const ImageView<const uint8_t>&,
                             const ImageView<const double>&, double,
                             const ImageView<double>&);
template void NormalizeImage(const ImageSize&, const ImageView<const float>&,
                             const ImageView<const float>&, float,
                             const ImageView<float>&);
template void NormalizeImage(const ImageSize&, const ImageView<const float>&,
                             const ImageView<const double>&, double,
                             const ImageView<double>&);
template void NormalizeImage(const ImageSize&, const ImageView<const double>&,
                             const ImageView<const double>&, double,
                             const ImageView<double>&);

}  // namespace caffe::cpu
