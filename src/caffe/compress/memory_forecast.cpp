#include "caffe/compress/memory_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "caffe/compress/stretches.hpp"
#include "caffe/layers/base_data_layer.hpp"
#include "caffe/layers/memory_data_layer.hpp"
#include "caffe/layers/recurrent_layer.hpp"
#include "caffe/memory/offset_allocator.hpp"
#include "solvers/backward_updates.hpp"

namespace caffe {

namespace {

// What the store does not pack, either.
constexpr size_t kSmallTensor = 16 << 10;
// A bit a value, of floats.
constexpr double kMaskRatio = 32;

// The batches that a data layer reads ahead; none for a layer that reads none.
template <typename Dtype>
int BatchesAhead(const Layer<Dtype>& layer) {
  const bool has_own = dynamic_cast<const MemoryDataLayer<Dtype>*>(&layer);
  return has_own
             ? 0
             : static_cast<int>(layer.layer_param().data_param().prefetch());
}

// Null for layers that are none.
template <typename Dtype>
const BaseDataLayer<Dtype>* DataLayerOf(const Layer<Dtype>& layer) {
  return dynamic_cast<const BaseDataLayer<Dtype>*>(&layer);
}

// What a layer keeps without telling, because it is small.
template <typename Dtype>
size_t OwnBytes(const Net<Dtype>& net, int layer) {
  const vector<Blob<Dtype>*>& tops = net.top_vecs()[layer];
  const vector<Blob<Dtype>*>& bottoms = net.bottom_vecs()[layer];
  const string type = net.layers()[layer]->type();
  if (tops.empty() || bottoms.empty()) return 0;
  if (type == "Dropout") return tops[0]->count() / 8;
  // Probabilities, or differences.
  const bool keeps_like_bottom =
      type == "SoftmaxWithLoss" || type == "InfogainLoss" ||
      type == "EuclideanLoss" || type == "ContrastiveLoss";
  return keeps_like_bottom ? bottoms[0]->count() * sizeof(Dtype) : 0;
}

template <typename Dtype>
size_t BytesOf(const Blob<Dtype>& blob) {
  return blob.count() * sizeof(Dtype);
}

// The net inside a recurrent layer; null for others.
template <typename Dtype>
const Net<Dtype>* NetInside(const Layer<Dtype>& layer) {
  const auto* const it = dynamic_cast<const RecurrentLayer<Dtype>*>(&layer);
  return it == nullptr ? nullptr : &it->unrolled_net();
}

// What a buffer of a layer holds, by the shapes there are now: its memory may
// have been larger once. All that layers have are copies of bottoms, and the
// blobs of nets inside.
template <typename Dtype>
size_t BufferBytes(const Net<Dtype>& net, int layer,
                   const SyncedMemory& buffer) {
  size_t most = BytesOf(*net.bottom_vecs()[layer][0]);
  if (const Net<Dtype>* const inside = NetInside(*net.layers()[layer])) {
    most = 0;
    for (const auto& blob : inside->blobs()) {
      if (blob->data().get() == &buffer) most = std::max(most, BytesOf(*blob));
    }
  }
  return std::min(buffer.size(), most);
}

// The blobs whose gradients a layer reads or writes.
template <typename Dtype>
vector<const Blob<Dtype>*> GradientsOf(const Net<Dtype>& net, int layer) {
  vector<const Blob<Dtype>*> blobs;
  if (!net.layer_need_backward()[layer]) return blobs;
  for (const Blob<Dtype>* top : net.top_vecs()[layer]) blobs.push_back(top);
  for (size_t k = 0; k < net.bottom_vecs()[layer].size(); ++k) {
    if (net.bottom_need_backward()[layer][k]) {
      blobs.push_back(net.bottom_vecs()[layer][k]);
    }
  }
  return blobs;
}

// The gradients inside a layer, which it has during its Backward.
template <typename Dtype>
size_t BytesOfGradientsInside(const Net<Dtype>& net, int layer) {
  const Net<Dtype>* const inside = NetInside(*net.layers()[layer]);
  if (inside == nullptr || !net.layer_need_backward()[layer]) return 0;
  std::set<const SyncedMemory*> known;
  for (const auto* blob : net.top_vecs()[layer]) {
    known.insert(blob->diff().get());
  }
  for (const auto* blob : net.bottom_vecs()[layer]) {
    known.insert(blob->diff().get());
  }
  size_t bytes = 0;
  for (int i = 0; i < static_cast<int>(inside->layers().size()); ++i) {
    for (const Blob<Dtype>* blob : GradientsOf(*inside, i)) {
      if (known.insert(blob->diff().get()).second) bytes += BytesOf(*blob);
    }
  }
  return bytes;
}

// Goes through one forward and one backward pass as ActivationStore does, but
// over offsets instead of memory.
template <typename Dtype>
class Walk {
 public:
  Walk(const Net<Dtype>& net, const ForecastSettings& settings)
      : net_(net),
        settings_(settings),
        uses_(FindBlobUses(net, settings.passes)) {
    if (settings.use != MemoryUse::kEverything) {
      const bool compresses = settings.use == MemoryUse::kCompressed;
      stretches_ =
          FindStretches(net, LargestTensor(net.memory_param(), compresses));
    }
    FindTensors();
  }

  ActivationForecast Run() {
    FindParams();
    for (int i = 0; i < layers(); ++i) Forward(i);
    if (settings_.passes == Passes::kForwardAndBackward) {
      for (int i = layers() - 1; i >= 0; --i) Backward(i);
    }
    forecast_.raw = unmanaged_ + raw_.peak();
    forecast_.packed = packed_.peak();
    for (const Tensor& tensor : tensors_) {
      forecast_.tensors.push_back(tensor.forecast);
    }
    return forecast_;
  }

  // Without a plan.
  ActivationForecast AddUp() {
    for (const Tensor& tensor : tensors_) {
      forecast_.tensors.push_back(tensor.forecast);
      if (!tensor.is_foreign) forecast_.raw += tensor.bytes;
    }
    if (settings_.passes == Passes::kForwardOnly) return forecast_;
    for (const Blob<Dtype>* param : net_.learnable_params()) {
      forecast_.parameter_gradients += BytesOf(*param);
    }
    std::set<const SyncedMemory*> gradients;
    size_t inside = 0;
    for (int i = 0; i < layers(); ++i) {
      for (const Blob<Dtype>* blob : GradientsOf(net_, i)) {
        if (!gradients.insert(blob->diff().get()).second) continue;
        forecast_.raw += BytesOf(*blob);
      }
      inside = std::max(inside, BytesOfGradientsInside(net_, i));
    }
    forecast_.raw += inside;
    return forecast_;
  }

 private:
  struct Tensor {
    bool is_managed = true;
    // In memory that its layer has.
    bool is_foreign = false;
    size_t bytes = 0;
    // It has memory for one of so many parts at a time: when it is computed,
    // and when it is restored.
    size_t made_in_parts = 1;
    size_t read_in_parts = 1;
    int first_forward = 0;
    int last_forward = 0;
    // The layers whose Backward reads it, and those that read values.
    std::set<int> readers;
    vector<int> value_readers;
    BackwardRead read = BackwardRead::kNothing;
    TensorForecast forecast;
    std::optional<size_t> raw;
    std::optional<size_t> frame;
  };

  int layers() const { return static_cast<int>(net_.layers().size()); }

  Tensor& TensorOf(const SyncedMemory* memory, const string& name, int layer) {
    const auto [found, is_new] = index_.emplace(memory, tensors_.size());
    if (is_new) {
      tensors_.emplace_back();
      tensors_.back().forecast.name = name;
      tensors_.back().first_forward = layer;
    }
    return tensors_[found->second];
  }

  void AddRead(int layer, BackwardRead read, Tensor* tensor) const {
    if (read == BackwardRead::kNothing) return;
    tensor->readers.insert(layer);
    tensor->read = std::max(tensor->read, read);
    if (read >= BackwardRead::kValues) tensor->value_readers.push_back(layer);
  }

  void FindTensors() {
    for (int i = 0; i < layers(); ++i) {
      const BaseDataLayer<Dtype>* const data = DataLayerOf(*net_.layers()[i]);
      forecast_.layers += OwnBytes(net_, i);
      for (const int id : net_.top_ids(i)) {
        const Blob<Dtype>& blob = *net_.blobs()[id];
        Tensor& tensor = TensorOf(blob.data().get(), net_.blob_names()[id], i);
        tensor.bytes = std::max(tensor.bytes, BytesOf(blob));
        if (data == nullptr) continue;
        tensor.is_foreign = !data->waits_as_bytes();
        forecast_.data += (tensor.is_foreign ? BytesOf(blob) : blob.count()) *
                          BatchesAhead(*net_.layers()[i]);
      }
      AddBuffers(i);
    }
    for (size_t id = 0; id < uses_.size(); ++id) {
      const auto& blob = *net_.blobs()[id];
      Tensor& tensor = tensors_[index_.at(blob.data().get())];
      tensor.is_managed = tensor.is_managed && uses_[id].is_managed;
      tensor.last_forward =
          std::max(tensor.last_forward, uses_[id].last_forward);
      for (const BlobUse::Reader& reader : uses_[id].readers) {
        AddRead(reader.layer, reader.read, &tensor);
      }
    }
    for (Tensor& tensor : tensors_) {
      FindParts(&tensor);
      Decide(&tensor);
    }
  }

  // Only what nobody needs after a stretch of layers is there in parts.
  void FindParts(Tensor* tensor) const {
    if (!tensor->is_managed) return;
    for (const Stretch& stretch : stretches_) {
      const int last = tensor->last_forward;
      if (last < stretch.first || last > stretch.last) continue;
      tensor->read_in_parts = stretch.parts;
      if (tensor->first_forward >= stretch.first) {
        tensor->made_in_parts = stretch.parts;
      }
    }
  }

  void AddBuffers(int layer) {
    for (const auto& buffer : net_.layers()[layer]->backward_reads().buffers) {
      if (buffer.memory == nullptr || buffer.memory->size() == 0) continue;
      Tensor& tensor =
          TensorOf(buffer.memory.get(),
                   Concat(net_.layer_names()[layer], ".", buffer.name), layer);
      tensor.bytes =
          std::max(tensor.bytes, BufferBytes(net_, layer, *buffer.memory));
      tensor.last_forward = std::max(tensor.last_forward, layer);
      const bool goes_backward =
          settings_.passes == Passes::kForwardAndBackward;
      if (goes_backward && net_.layer_need_backward()[layer]) {
        AddRead(layer, buffer.read, &tensor);
      }
    }
  }

  // What is kept of it after its last use in Forward.
  void Decide(Tensor* tensor) const {
    TensorForecast& forecast = tensor->forecast;
    forecast.raw_bytes = forecast.kept_bytes = tensor->bytes;
    forecast.kept = "raw";
    if (settings_.use == MemoryUse::kEverything || !tensor->is_managed) return;
    if (tensor->readers.empty()) {
      forecast.kept = "dropped";
      forecast.kept_bytes = 0;
      return;
    }
    if (tensor->read == BackwardRead::kExact || tensor->bytes < kSmallTensor) {
      return;
    }
    const bool is_mask = tensor->read < BackwardRead::kValues;
    if (!is_mask && settings_.use != MemoryUse::kCompressed) return;
    const double ratio =
        is_mask ? kMaskRatio * sizeof(Dtype) / sizeof(float)
                : settings_.ratio(forecast.name, tensor->value_readers);
    if (ratio <= 1) return;
    forecast.kept = is_mask ? "mask" : "packed";
    forecast.kept_bytes = static_cast<size_t>(
        std::ceil(static_cast<double>(tensor->bytes) / ratio));
  }

  void Forward(int layer) {
    for (Tensor& tensor : tensors_) {
      if (tensor.first_forward != layer || tensor.is_foreign) continue;
      if (tensor.is_managed) {
        tensor.raw = raw_.Allocate(tensor.bytes / tensor.made_in_parts);
      } else {
        unmanaged_ += tensor.bytes;
      }
    }
    for (Tensor& tensor : tensors_) {
      if (!tensor.is_managed || tensor.last_forward != layer) continue;
      if (tensor.forecast.kept == "raw") {
        // One part after the other has become all of them.
        if (tensor.made_in_parts > 1) {
          FreeRaw(&tensor);
          tensor.raw = raw_.Allocate(tensor.bytes);
        }
        continue;
      }
      if (tensor.forecast.kept_bytes > 0) {
        tensor.frame = packed_.Allocate(tensor.forecast.kept_bytes);
      }
      FreeRaw(&tensor);
    }
  }

  void FreeRaw(Tensor* tensor) {
    if (tensor->raw) raw_.Free(*tensor->raw);
    tensor->raw.reset();
  }

  // Those that keep their memory count as long as there is a Backward at all.
  void FindParams() {
    if (settings_.passes == Passes::kForwardOnly) return;
    params_ = FindParamUses(net_);
    for (size_t id = 0; id < params_.size(); ++id) {
      ParamUse& use = params_[id];
      use.is_managed &= settings_.updates_in_backward;
      if (use.is_managed) continue;
      forecast_.parameter_gradients += BytesOf(*net_.learnable_params()[id]);
    }
  }

  void Backward(int layer) {
    PlaceParamGradients(layer);
    for (Tensor& tensor : tensors_) {
      if (tensor.readers.count(layer) > 0 && tensor.frame && !tensor.raw) {
        tensor.raw = raw_.Allocate(tensor.bytes / tensor.read_in_parts);
      }
    }
    for (const Blob<Dtype>* blob : GradientsOf(net_, layer)) {
      const SyncedMemory* const memory = blob->diff().get();
      if (gradients_.count(memory) > 0) continue;
      const Tensor& tensor = tensors_[index_.at(blob->data().get())];
      gradients_[memory] = raw_.Allocate(BytesOf(*blob) / tensor.made_in_parts);
    }
    raw_.Free(raw_.Allocate(BytesOfGradientsInside(net_, layer)));
    UpdateParams(layer);
    DropGradients(layer);
    for (Tensor& tensor : tensors_) {
      if (tensor.readers.empty() || *tensor.readers.begin() != layer) continue;
      FreeRaw(&tensor);
      if (tensor.frame) packed_.Free(*tensor.frame);
      tensor.frame.reset();
    }
  }

  void PlaceParamGradients(int layer) {
    for (size_t id = 0; id < params_.size(); ++id) {
      const ParamUse& use = params_[id];
      if (!use.is_managed || use.highest_layer != layer) continue;
      if (use.rows_at_a_time > 0) continue;
      const Blob<Dtype>& param = *net_.learnable_params()[id];
      gradients_[param.diff().get()] = raw_.Allocate(BytesOf(param));
    }
  }

  void UpdateParams(int layer) {
    for (size_t id = 0; id < params_.size(); ++id) {
      const ParamUse& use = params_[id];
      if (!use.is_managed || use.lowest_layer != layer) continue;
      if (use.rows_at_a_time > 0) {
        const size_t row = net_.learnable_params()[id]->count(1);
        raw_.Free(raw_.Allocate(use.rows_at_a_time * row * sizeof(Dtype)));
        continue;
      }
      const auto found =
          gradients_.find(net_.learnable_params()[id]->diff().get());
      raw_.Free(found->second);
      gradients_.erase(found);
    }
  }

  void DropGradients(int layer) {
    const vector<Blob<Dtype>*>& bottoms = net_.bottom_vecs()[layer];
    for (const Blob<Dtype>* top : net_.top_vecs()[layer]) {
      const auto found = gradients_.find(top->diff().get());
      if (found == gradients_.end()) continue;
      const bool goes_on = std::any_of(
          bottoms.begin(), bottoms.end(),
          [&](const auto* bottom) { return bottom->diff() == top->diff(); });
      if (goes_on) continue;
      raw_.Free(found->second);
      gradients_.erase(found);
    }
  }

  const Net<Dtype>& net_;
  const ForecastSettings& settings_;
  const std::vector<BlobUse> uses_;
  std::vector<Stretch> stretches_;
  vector<Tensor> tensors_;
  std::map<const SyncedMemory*, size_t> index_;
  // Of activations and of parameters.
  std::map<const SyncedMemory*, size_t> gradients_;
  vector<ParamUse> params_;
  memory::OffsetAllocator raw_;
  memory::OffsetAllocator packed_;
  size_t unmanaged_ = 0;
  ActivationForecast forecast_;
};

}  // namespace

template <typename Dtype>
ActivationForecast ForecastActivations(const Net<Dtype>& net,
                                       const ForecastSettings& settings) {
  Walk<Dtype> walk(net, settings);
  return settings.use == MemoryUse::kEverything ? walk.AddUp() : walk.Run();
}

template ActivationForecast ForecastActivations(
    const Net<float>& net, const ForecastSettings& settings);
template ActivationForecast ForecastActivations(
    const Net<double>& net, const ForecastSettings& settings);

}  // namespace caffe
