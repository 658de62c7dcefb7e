#include "caffe/compress/stretches.hpp"

#include <algorithm>
#include <cstdint>

#include "caffe/net.hpp"

namespace caffe {

namespace {

// Small beside what nets with such tensors take, and large enough that a layer
// is busy with a part of the batch for a while.
constexpr size_t kLargestTensor = 16 << 20;
// So many times as large a tensor must be at least to be restored twice.
constexpr size_t kWorthRestoringTwice = 7;
// A layer whose tensors are so many times smaller than the largest of a stretch
// would run over too few images at a time there to be fast.
constexpr size_t kMuchSmaller = 4;

// What a layer reads and writes.
template <typename Dtype>
std::vector<int> BlobsOf(const Net<Dtype>& net, int layer) {
  std::vector<int> blobs = net.bottom_ids(layer);
  const vector<int>& tops = net.top_ids(layer);
  blobs.insert(blobs.end(), tops.begin(), tops.end());
  return blobs;
}

template <typename Dtype>
bool IsInPlace(const Net<Dtype>& net, int layer) {
  return net.bottom_ids(layer) == net.top_ids(layer);
}

// Images in the batch of a layer that could run over some of them, perhaps once
// it has gathered sums over all; 0 for other layers.
template <typename Dtype>
int ImagesOf(const Net<Dtype>& net, int layer) {
  const Layer<Dtype>& it = *net.layers()[layer];
  if (!it.works_per_image() && !it.gathers_first()) return 0;
  if (!it.backward_reads().is_declared) return 0;
  if (net.bottom_ids(layer).empty()) return 0;
  int images = -1;
  for (const int id : BlobsOf(net, layer)) {
    const Blob<Dtype>& blob = *net.blobs()[id];
    if (blob.num_axes() == 0 || net.blob_loss_weights()[id] != 0) return 0;
    if (images >= 0 && blob.shape(0) != images) return 0;
    images = blob.shape(0);
  }
  return images;
}

template <typename Dtype>
size_t LargestOf(const Net<Dtype>& net, int layer) {
  size_t largest = 0;
  for (const int id : BlobsOf(net, layer)) {
    largest = std::max(largest, net.blobs()[id]->count() * sizeof(Dtype));
  }
  return largest;
}

// Whether a stretch may begin with a layer that has tensors of so many bytes.
template <typename Dtype>
bool CanBegin(const Net<Dtype>& net, int layer, size_t bytes, size_t most) {
  const Layer<Dtype>& it = *net.layers()[layer];
  if (bytes <= most) return false;
  // In Backward it goes over the parts twice, for which the gradient must be
  // there as a whole, and what is packed is restored twice.
  if (it.gathers_first()) {
    return IsInPlace(net, layer) && bytes > kWorthRestoringTwice * most;
  }
  // The copy that it keeps may be that of the layer before.
  return !IsInPlace(net, layer) || it.backward_reads().buffers.empty();
}

// The smallest number of equal parts of which none is larger.
int PartsFor(int images, size_t bytes, size_t most) {
  for (int parts = 1; parts < images; ++parts) {
    if (images % parts == 0 && bytes / parts <= most) return parts;
  }
  return images;
}

}  // namespace

template <typename Dtype>
std::vector<Stretch> FindStretches(const Net<Dtype>& net, size_t most) {
  std::vector<Stretch> stretches;
  const int layers = static_cast<int>(net.layers().size());
  for (int first = 0; first < layers; ++first) {
    const int images = ImagesOf(net, first);
    if (images < 2 || !CanBegin(net, first, LargestOf(net, first), most)) {
      continue;
    }
    size_t largest = 0;
    int last = first;
    for (int i = first; i < layers && ImagesOf(net, i) == images; ++i) {
      if (i > first && net.layers()[i]->gathers_first()) break;
      const size_t bytes = LargestOf(net, i);
      if (kMuchSmaller * bytes <= largest) break;
      largest = std::max(largest, bytes);
      if (bytes > most) last = i;
    }
    stretches.push_back({first, last, PartsFor(images, largest, most)});
    first = last;
  }
  return stretches;
}

size_t LargestTensor(const MemoryParameter& param, bool compresses) {
  const bool in_parts = param.has_parts() ? param.parts() : compresses;
  return in_parts ? kLargestTensor : SIZE_MAX;
}

template std::vector<Stretch> FindStretches(const Net<float>& net, size_t most);
template std::vector<Stretch> FindStretches(const Net<double>& net,
                                            size_t most);

}  // namespace caffe
