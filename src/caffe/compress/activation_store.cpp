#include "caffe/compress/activation_store.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace caffe {

namespace {

// Packing less than this costs more than it saves.
constexpr size_t kSmallTensor = 16 << 10;

// Keeps what the store has left behind: nothing.
class GoneForGood : public MemoryKeeper {
 public:
  void Restore(SyncedMemory* /*memory*/) override {
    Fail("the values are gone together with the net they belonged to");
  }
};
GoneForGood gone_for_good;

template <typename Work>
double SecondsOf(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

// The axes of a blob that codecs know; more of them are taken as one.
codec::Shape ShapeOf(const vector<int>& extents) {
  std::vector<int64_t> axes(extents.begin(), extents.end());
  while (axes.size() > codec::Shape::kMaxAxes) {
    const int64_t last = axes.back();
    axes.pop_back();
    axes.back() *= last;
  }
  return codec::Shape(axes);
}

}  // namespace

template <typename Dtype>
class ActivationStore<Dtype>::Hook : public Net<Dtype>::Callback {
 public:
  using Method = void (ActivationStore::*)(int);
  Hook(ActivationStore* store, Method method)
      : store_(store), method_(method) {}

 protected:
  void run(int layer) override { (store_->*method_)(layer); }

 private:
  ActivationStore* const store_;
  const Method method_;
};

template <typename Dtype>
void ActivationStore<Dtype>::Demand::Add(BackwardRead read) {
  non_zero |= read == BackwardRead::kNonZero;
  sign |= read == BackwardRead::kSign;
  values |= read == BackwardRead::kValues;
  exact |= read == BackwardRead::kExact;
}

template <typename Dtype>
std::shared_ptr<ActivationStore<Dtype>> ActivationStore<Dtype>::Attach(
    Net<Dtype>* net, std::shared_ptr<ActivationMemory> memory,
    std::shared_ptr<PackingPolicy> policy, Passes passes) {
  std::shared_ptr<ActivationStore> store(
      new ActivationStore(net, std::move(memory), std::move(policy), passes));
  const auto hook = [&](typename Hook::Method method) {
    store->hooks_.push_back(std::make_unique<Hook>(store.get(), method));
    return store->hooks_.back().get();
  };
  net->add_before_forward(hook(&ActivationStore::BeforeForward));
  net->add_after_forward(hook(&ActivationStore::AfterForward));
  net->add_before_backward(hook(&ActivationStore::BeforeBackward));
  net->add_after_backward(hook(&ActivationStore::AfterBackward));
  net->KeepAlive(store);
  return store;
}

template <typename Dtype>
ActivationStore<Dtype>::ActivationStore(
    Net<Dtype>* net, std::shared_ptr<ActivationMemory> memory,
    std::shared_ptr<PackingPolicy> policy, Passes passes)
    : net_(net),
      memory_(std::move(memory)),
      policy_(std::move(policy)),
      passes_(passes),
      uses_(FindBlobUses(*net, passes)) {}

template <typename Dtype>
ActivationStore<Dtype>::~ActivationStore() {
  for (const auto& tensor : tensors_) {
    if (tensor->block != nullptr || tensor->memory->is_evicted()) {
      FreeRaw(tensor.get());
      tensor->memory->Evict(&gone_for_good);
    }
  }
  for (auto& [memory, gradient] : gradients_) {
    if (gradient.block != nullptr) memory_->raw.Free(gradient.block);
    gradient.memory->Evict(&gone_for_good);
  }
}

template <typename Dtype>
typename ActivationStore<Dtype>::Tensor& ActivationStore<Dtype>::TensorOf(
    const std::shared_ptr<SyncedMemory>& memory, const std::string& name) {
  Tensor*& tensor = tensor_of_[memory.get()];
  if (tensor == nullptr) {
    tensors_.push_back(
        std::make_unique<Tensor>(name, memory, &memory_->packing));
    tensor = tensors_.back().get();
    tensor->report.name = name;
  }
  return *tensor;
}

template <typename Dtype>
void ActivationStore<Dtype>::StartPass() {
  ++pass_;
  for (auto& tensor : tensors_) {
    Drop(tensor.get());
    // A blob that has grown since has other memory.
    if (tensor->memory.use_count() == 1) {
      tensor_of_.erase(tensor->memory.get());
      tensor.reset();
    }
  }
  std::erase(tensors_, nullptr);
  for (auto gradient = gradients_.begin(); gradient != gradients_.end();) {
    if (gradient->second.block != nullptr) {
      memory_->raw.Free(gradient->second.block);
      gradient->second.block = nullptr;
      gradient->second.memory->Evict(this);
    }
    const bool is_orphan = gradient->second.memory.use_count() == 1;
    gradient = is_orphan ? gradients_.erase(gradient) : std::next(gradient);
  }
}

template <typename Dtype>
bool ActivationStore<Dtype>::IsManaged(int blob, MemoryOf memory_of) const {
  const vector<shared_ptr<Blob<Dtype>>>& blobs = net_->blobs();
  const shared_ptr<SyncedMemory>& memory = ((*blobs[blob]).*memory_of)();
  for (size_t other = 0; other < blobs.size(); ++other) {
    if (!uses_[other].is_managed && ((*blobs[other]).*memory_of)() == memory) {
      return false;
    }
  }
  return true;
}

template <typename Dtype>
void ActivationStore<Dtype>::PlaceIfNew(Tensor* tensor) {
  if (tensor->pass == pass_) return;
  tensor->pass = pass_;
  tensor->is_put_away = false;
  tensor->content = Content::kOriginal;
  if (tensor->is_foreign) return;
  tensor->block = memory_->raw.Allocate(
      tensor->memory->size(), {memory::Kind::kActivations, tensor->name});
  tensor->memory->set_cpu_data(tensor->block);
}

template <typename Dtype>
void ActivationStore<Dtype>::FindForeign(int layer) {
  for (const Blob<Dtype>* top : net_->top_vecs()[layer]) {
    const auto found = tensor_of_.find(top->data().get());
    if (found == tensor_of_.end()) continue;
    Tensor* const tensor = found->second;
    if (tensor->block == nullptr || top->cpu_data() == tensor->block) continue;
    tensor->is_foreign = true;
    memory_->raw.Free(tensor->block);
    tensor->block = nullptr;
  }
}

template <typename Dtype>
std::string ActivationStore<Dtype>::BufferName(
    int layer, const BackwardReads::Buffer& buffer) const {
  return Concat(net_->layer_names()[layer], ".", buffer.name);
}

template <typename Dtype>
void ActivationStore<Dtype>::BeforeForward(int layer) {
  if (layer == 0) StartPass();
  for (const int blob : net_->top_ids(layer)) {
    if (!IsManaged(blob, &Blob<Dtype>::data)) continue;
    PlaceIfNew(
        &TensorOf(net_->blobs()[blob]->data(), net_->blob_names()[blob]));
  }
  for (const auto& buffer : net_->layers()[layer]->backward_reads().buffers) {
    if (buffer.memory == nullptr || buffer.memory->size() == 0) continue;
    PlaceIfNew(&TensorOf(buffer.memory, BufferName(layer, buffer)));
  }
}

template <typename Dtype>
void ActivationStore<Dtype>::AfterForward(int layer) {
  FindForeign(layer);
  PutAwayBuffers(layer);
  for (const int blob : net_->bottom_ids(layer)) PutAwayIfDone(layer, blob);
  for (const int blob : net_->top_ids(layer)) PutAwayIfDone(layer, blob);
}

template <typename Dtype>
void ActivationStore<Dtype>::PutAwayBuffers(int layer) {
  const bool goes_backward = passes_ == Passes::kForwardAndBackward;
  const bool is_read = goes_backward && net_->layer_need_backward()[layer];
  for (const auto& buffer : net_->layers()[layer]->backward_reads().buffers) {
    if (buffer.memory == nullptr || buffer.memory->size() == 0) continue;
    // Not read by this layer, but perhaps by another that keeps the same.
    if (goes_backward && !is_read) continue;
    Tensor& tensor = TensorOf(buffer.memory, BufferName(layer, buffer));
    Demand demand;
    if (is_read) {
      demand.Add(buffer.read);
      if (std::count(tensor.value_readers.begin(), tensor.value_readers.end(),
                     layer) == 0) {
        tensor.value_readers.push_back(layer);
      }
    }
    // Another layer may keep the same.
    if (tensor.pass == pass_ && tensor.is_put_away) {
      if (is_read) tensor.last_reader = std::min(tensor.last_reader, layer);
      continue;
    }
    tensor.pass = pass_;
    tensor.content = Content::kOriginal;
    tensor.last_reader = is_read ? layer : -1;
    const auto count =
        static_cast<int64_t>(buffer.memory->size() / sizeof(Dtype));
    const vector<Blob<Dtype>*>& bottoms = net_->bottom_vecs()[layer];
    const bool is_like_bottom =
        !bottoms.empty() && bottoms[0]->count() == count;
    PutAway(
        demand,
        is_like_bottom ? ShapeOf(bottoms[0]->shape()) : codec::Shape({count}),
        &tensor);
  }
}

template <typename Dtype>
void ActivationStore<Dtype>::PutAwayIfDone(int layer, int blob) {
  if (!uses_[blob].is_managed || uses_[blob].last_forward != layer) return;
  const std::shared_ptr<SyncedMemory>& memory = net_->blobs()[blob]->data();
  Tensor& tensor = TensorOf(memory, net_->blob_names()[blob]);
  if (tensor.pass == pass_ && tensor.is_put_away) return;
  Demand demand;
  tensor.value_readers.clear();
  tensor.last_reader = -1;
  for (size_t other = 0; other < uses_.size(); ++other) {
    if (net_->blobs()[other]->data() != memory) continue;
    const BlobUse& use = uses_[other];
    if (!use.is_managed || use.last_forward > layer) return;
    for (const BlobUse::Reader& reader : use.readers) {
      demand.Add(reader.read);
      if (reader.read >= BackwardRead::kValues) {
        tensor.value_readers.push_back(reader.layer);
      }
      tensor.last_reader = tensor.last_reader < 0
                               ? reader.layer
                               : std::min(tensor.last_reader, reader.layer);
    }
  }
  // Memory that came into being in this pass, when the blob had to grow, is its
  // own.
  tensor.pass = pass_;
  tensor.content = Content::kOriginal;
  PutAway(demand, ShapeOf(net_->blobs()[blob]->shape()), &tensor);
}

template <typename Dtype>
void ActivationStore<Dtype>::PutAway(const Demand& demand,
                                     const codec::Shape& shape,
                                     Tensor* tensor) {
  tensor->is_put_away = true;
  ActivationReport& report = tensor->report;
  const size_t bytes = shape.count() * sizeof(Dtype);
  ++report.times;
  report.raw_bytes += bytes;
  report.readers = tensor->value_readers;
  const bool is_wanted =
      demand.exact || demand.values || demand.sign || demand.non_zero;
  if (!is_wanted) {
    report.kept = "dropped";
    Drop(tensor);
    return;
  }
  if (demand.exact || bytes < kSmallTensor || !Pack(demand, shape, tensor)) {
    report.kept = "raw";
    report.kept_bytes += bytes;
    return;
  }
  report.kept = tensor->packed.empty() ? "mask" : "packed";
  report.kept_bytes +=
      tensor->packed.packed_bytes() + tensor->mask.packed_bytes();
  FreeRaw(tensor);
  tensor->memory->Evict(this);
}

template <typename Dtype>
bool ActivationStore<Dtype>::Pack(const Demand& demand,
                                  const codec::Shape& shape, Tensor* tensor) {
  const codec::ConstTensor values(
      static_cast<const Dtype*>(tensor->memory->cpu_data()), shape);
  bool needs_mask = demand.sign || demand.non_zero;
  ActivationReport& report = tensor->report;
  Packing packing;
  try {
    report.pack_seconds += SecondsOf([&] {
      if (demand.values) {
        if (policy_ == nullptr) return;
        packing =
            policy_->Choose({tensor->name, tensor->value_readers, values});
        if (packing.codec == nullptr) return;
        report.codec = packing.codec->name();
        report.bound = packing.settings.bound;
        tensor->packed.Pack(values, *packing.codec, packing.settings);
        if (!demand.sign && packing.codec->KeepsNonZeros(packing.settings)) {
          needs_mask = false;
        }
      }
      if (needs_mask) {
        tensor->mask.Pack(values, codec::FindCodec("bitmask"), {});
      }
    });
    Examine(packing, values, tensor);
  } catch (const Error& error) {
    LOG(WARNING) << "cannot pack " << tensor->name
                 << ", which stays as it is: " << error.what();
    tensor->packed.Clear();
    tensor->mask.Clear();
    tensor->exact.Clear();
  }
  return !(tensor->packed.empty() && tensor->mask.empty());
}

template <typename Dtype>
void ActivationStore<Dtype>::Examine(const Packing& packing,
                                     const codec::ConstTensor& values,
                                     Tensor* tensor) {
  if (packing.codec == nullptr) return;
  if (packing.is_checked) {
    const double error = tensor->packed.LargestError(values);
    const double ratio = error > 0 ? error / packing.settings.bound : 0;
    tensor->report.worst = std::max(tensor->report.worst, ratio);
  }
  if (packing.keeps_exact) {
    tensor->exact.Pack(values, codec::FindCodec("raw"), {});
  }
}

template <typename Dtype>
void ActivationStore<Dtype>::FreeRaw(Tensor* tensor) {
  if (tensor->block != nullptr) memory_->raw.Free(tensor->block);
  tensor->block = nullptr;
  tensor->content = Content::kNone;
}

template <typename Dtype>
void ActivationStore<Dtype>::Drop(Tensor* tensor) {
  if (tensor->pass < 0) return;
  FreeRaw(tensor);
  tensor->packed.Clear();
  tensor->mask.Clear();
  tensor->exact.Clear();
  tensor->memory->Evict(this);
}

template <typename Dtype>
void ActivationStore<Dtype>::Unpack(const CompressedBlob& from, Content content,
                                    Tensor* tensor) {
  if (tensor->block == nullptr) {
    tensor->block = memory_->raw.Allocate(
        tensor->memory->size(), {memory::Kind::kActivations, tensor->name});
  }
  const double seconds =
      SecondsOf([&] { from.Unpack(static_cast<Dtype*>(tensor->block)); });
  if (!is_rehearsal_) tensor->report.unpack_seconds += seconds;
  tensor->memory->set_cpu_data(tensor->block);
  tensor->content = content;
}

template <typename Dtype>
void ActivationStore<Dtype>::MakeReadable(BackwardRead read, Tensor* tensor) {
  if (read == BackwardRead::kNothing || tensor->content == Content::kOriginal) {
    return;
  }
  const bool wants_mask = read < BackwardRead::kValues && !tensor->mask.empty();
  const Content wanted = wants_mask ? Content::kMask : Content::kUnpacked;
  if (tensor->content == wanted) return;
  const bool wants_exact = is_rehearsal_ && !tensor->exact.empty();
  const CompressedBlob& from = wants_mask    ? tensor->mask
                               : wants_exact ? tensor->exact
                                             : tensor->packed;
  Require(!from.empty(), "the values of ", tensor->name,
          " are gone; run Forward before every Backward");
  Unpack(from, wanted, tensor);
}

template <typename Dtype>
void ActivationStore<Dtype>::Restore(SyncedMemory* memory) {
  const auto found = tensor_of_.find(memory);
  if (found != tensor_of_.end()) {
    Tensor* const tensor = found->second;
    Require(!tensor->packed.empty(), "the values of blob ", tensor->name,
            " were dropped after their last use; memory { plan: false } in "
            "the net keeps them");
    Unpack(tensor->packed, Content::kUnpacked, tensor);
    return;
  }
  const auto gradient = gradients_.find(memory);
  Fail("the gradient of blob ",
       gradient == gradients_.end() ? "(unknown)" : gradient->second.name,
       " was dropped after its last use; memory { plan: false } in the net "
       "keeps it");
}

template <typename Dtype>
void ActivationStore<Dtype>::PlaceGradient(int blob, bool zero) {
  if (!IsManaged(blob, &Blob<Dtype>::diff)) return;
  const std::shared_ptr<SyncedMemory>& memory = net_->blobs()[blob]->diff();
  Gradient& gradient = gradients_[memory.get()];
  if (gradient.block != nullptr) return;
  gradient.memory = memory;
  gradient.name = net_->blob_names()[blob];
  gradient.block = memory_->raw.Allocate(
      memory->size(), {memory::Kind::kGradients, gradient.name});
  memory->set_cpu_data(gradient.block);
  if (zero) std::memset(gradient.block, 0, memory->size());
}

template <typename Dtype>
void ActivationStore<Dtype>::BeforeBackward(int layer) {
  if (!net_->layer_need_backward()[layer]) return;
  const BackwardReads reads = net_->layers()[layer]->backward_reads();
  const auto make_readable = [&](const std::shared_ptr<SyncedMemory>& memory,
                                 BackwardRead read) {
    const auto found = tensor_of_.find(memory.get());
    if (found != tensor_of_.end() && found->second->pass == pass_) {
      MakeReadable(read, found->second);
    }
  };
  const vector<int>& bottoms = net_->bottom_ids(layer);
  const vector<int>& tops = net_->top_ids(layer);
  for (size_t k = 0; k < bottoms.size(); ++k) {
    make_readable(net_->blobs()[bottoms[k]]->data(), reads.OfBottom(k));
  }
  for (size_t k = 0; k < tops.size(); ++k) {
    make_readable(net_->blobs()[tops[k]]->data(), reads.OfTop(k));
  }
  for (const auto& buffer : reads.buffers) {
    if (buffer.memory != nullptr) make_readable(buffer.memory, buffer.read);
  }
  // Where nobody has written a gradient it is zero.
  for (const int blob : tops) PlaceGradient(blob, true);
  for (size_t k = 0; k < bottoms.size(); ++k) {
    if (net_->bottom_need_backward()[layer][k]) {
      PlaceGradient(bottoms[k], false);
    }
  }
}

template <typename Dtype>
void ActivationStore<Dtype>::DropGradients(int layer) {
  const vector<Blob<Dtype>*>& bottoms = net_->bottom_vecs()[layer];
  for (const Blob<Dtype>* top : net_->top_vecs()[layer]) {
    const auto found = gradients_.find(top->diff().get());
    if (found == gradients_.end() || found->second.block == nullptr) continue;
    const bool goes_on = std::any_of(
        bottoms.begin(), bottoms.end(),
        [&](const Blob<Dtype>* b) { return b->diff() == top->diff(); });
    if (goes_on) continue;
    memory_->raw.Free(found->second.block);
    found->second.block = nullptr;
    found->second.memory->Evict(this);
  }
}

template <typename Dtype>
void ActivationStore<Dtype>::AfterBackward(int layer) {
  DropGradients(layer);
  for (const auto& tensor : tensors_) {
    if (tensor->pass != pass_ || !tensor->is_put_away ||
        tensor->last_reader != layer) {
      continue;
    }
    if (!is_rehearsal_) {
      Drop(tensor.get());
    } else if (!tensor->packed.empty() || !tensor->mask.empty()) {
      FreeRaw(tensor.get());
      tensor->memory->Evict(this);
    }
  }
}

template <typename Dtype>
std::vector<ActivationReport> ActivationStore<Dtype>::Reports() const {
  std::vector<ActivationReport> reports;
  for (const auto& tensor : tensors_) {
    if (tensor->report.times > 0) reports.push_back(tensor->report);
  }
  return reports;
}

template class ActivationStore<float>;
template class ActivationStore<double>;

}  // namespace caffe
