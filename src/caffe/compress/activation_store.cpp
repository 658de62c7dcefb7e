#include "caffe/compress/activation_store.hpp"

#include <algorithm>

#include "caffe/compress/stretches.hpp"

namespace caffe {

namespace {

// Keeps what the store has left behind: nothing.
class GoneForGood : public MemoryKeeper {
 public:
  void Restore(SyncedMemory* /*memory*/) override {
    Fail("the values are gone together with the net they belonged to");
  }
};
GoneForGood gone_for_good;

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
  bool sees_parts() const override { return true; }

 private:
  ActivationStore* const store_;
  const Method method_;
};

template <typename Dtype>
shared_ptr<ActivationStore<Dtype>> ActivationStore<Dtype>::Attach(
    Net<Dtype>* net, shared_ptr<ActivationMemory> memory,
    shared_ptr<PackingPolicy> policy, const Options& options) {
  shared_ptr<ActivationStore> store(
      new ActivationStore(net, std::move(memory), std::move(policy), options));
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
ActivationStore<Dtype>::ActivationStore(Net<Dtype>* net,
                                        shared_ptr<ActivationMemory> memory,
                                        shared_ptr<PackingPolicy> policy,
                                        const Options& options)
    : net_(net),
      memory_(std::move(memory)),
      policy_(std::move(policy)),
      options_(options),
      uses_(FindBlobUses(*net, options.passes)),
      gradients_(&memory_->raw, this) {}

template <typename Dtype>
ActivationStore<Dtype>::~ActivationStore() {
  for (const auto& tensor : tensors_) tensor->Abandon(&gone_for_good);
  gradients_.Abandon(&gone_for_good);
}

template <typename Dtype>
KeptTensor<Dtype>& ActivationStore<Dtype>::TensorOf(
    const shared_ptr<SyncedMemory>& memory, const std::string& name) {
  Tensor*& tensor = tensor_of_[memory.get()];
  if (tensor == nullptr) {
    tensors_.push_back(
        std::make_unique<Tensor>(name, memory, memory_.get(), this));
    tensor = tensors_.back().get();
  }
  return *tensor;
}

template <typename Dtype>
KeptTensor<Dtype>* ActivationStore<Dtype>::Find(
    const SyncedMemory* memory) const {
  const auto found = tensor_of_.find(memory);
  return found == tensor_of_.end() ? nullptr : found->second;
}

template <typename Dtype>
void ActivationStore<Dtype>::StartPass() {
  ++pass_;
  net_->RunInParts(FindStretches(*net_, options_.largest_tensor));
  for (auto& tensor : tensors_) {
    tensor->Drop();
    // A blob that has grown since has other memory.
    if (tensor->memory().use_count() == 1) {
      tensor_of_.erase(tensor->memory().get());
      tensor.reset();
    }
  }
  std::erase(tensors_, nullptr);
  gradients_.Clear();
}

template <typename Dtype>
int ActivationStore<Dtype>::parts() const {
  return net_->parts() != nullptr ? net_->parts()->stretch().parts : 1;
}

template <typename Dtype>
Blob<Dtype>& ActivationStore<Dtype>::WorkingBlob(int blob) const {
  return net_->parts() != nullptr ? *net_->parts()->blob(blob)
                                  : *net_->blobs()[blob];
}

template <typename Dtype>
typename ActivationStore<Dtype>::Role ActivationStore<Dtype>::RoleOf(
    int blob) const {
  const Stretch& stretch = net_->parts()->stretch();
  const SyncedMemory* const memory = net_->blobs()[blob]->data().get();
  if (memory->is_pinned() || net_->blobs()[blob]->diff()->is_pinned()) {
    return Role::kView;
  }
  for (size_t other = 0; other < uses_.size(); ++other) {
    if (net_->blobs()[other]->data().get() != memory) continue;
    if (!uses_[other].is_managed) return Role::kView;
    if (uses_[other].last_forward > stretch.last) return Role::kView;
  }
  return uses_[blob].first_forward >= stretch.first ? Role::kOwn
                                                    : Role::kPieces;
}

template <typename Dtype>
bool ActivationStore<Dtype>::IsPartial(int blob) const {
  return net_->parts() != nullptr && RoleOf(blob) != Role::kView;
}

template <typename Dtype>
bool ActivationStore<Dtype>::IsManaged(int blob, MemoryOf memory_of) const {
  const vector<shared_ptr<Blob<Dtype>>>& blobs = net_->blobs();
  const shared_ptr<SyncedMemory>& memory = ((*blobs[blob]).*memory_of)();
  if (memory->is_pinned()) return false;
  for (size_t other = 0; other < blobs.size(); ++other) {
    if (!uses_[other].is_managed && ((*blobs[other]).*memory_of)() == memory) {
      return false;
    }
  }
  return true;
}

template <typename Dtype>
void ActivationStore<Dtype>::View(int blob, MemoryOf memory_of) {
  Blob<Dtype>& stand_in = WorkingBlob(blob);
  SyncedMemory& part_memory = *(stand_in.*memory_of)();
  SyncedMemory& whole = *((*net_->blobs()[blob]).*memory_of)();
  if (whole.is_evicted()) {
    part_memory.Evict(this);
    return;
  }
  const auto offset = static_cast<size_t>(part()) * stand_in.count();
  Dtype* const values =
      static_cast<Dtype*>(const_cast<void*>(whole.cpu_data())) + offset;
  // Pointing it there again would make it forget its twin.
  const bool is_there = !part_memory.is_evicted() &&
                        part_memory.head() != SyncedMemory::UNINITIALIZED &&
                        part_memory.cpu_data() == values;
  if (!is_there) part_memory.set_cpu_data(values);
}

template <typename Dtype>
void ActivationStore<Dtype>::PlaceTop(int blob) {
  const std::string& name = net_->blob_names()[blob];
  if (net_->parts() != nullptr && RoleOf(blob) == Role::kOwn) {
    TensorOf(WorkingBlob(blob).data(), name).Place(pass_, part(), parts());
    return;
  }
  if (IsManaged(blob, &Blob<Dtype>::data)) {
    TensorOf(net_->blobs()[blob]->data(), name).Place(pass_, 0, 1);
  }
  if (net_->parts() != nullptr) View(blob, &Blob<Dtype>::data);
}

template <typename Dtype>
void ActivationStore<Dtype>::FindForeign(int layer) {
  for (const Blob<Dtype>* top : net_->top_vecs()[layer]) {
    Tensor* const tensor = Find(top->data().get());
    if (tensor == nullptr || tensor->block() == nullptr) continue;
    if (top->cpu_data() != tensor->block()) tensor->SetForeign();
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
  if (net_->parts() != nullptr) {
    for (const int blob : net_->bottom_ids(layer)) {
      if (RoleOf(blob) != Role::kOwn) View(blob, &Blob<Dtype>::data);
    }
  }
  for (const int blob : net_->top_ids(layer)) PlaceTop(blob);
  for (const auto& buffer : net_->layers()[layer]->backward_reads().buffers) {
    if (buffer.memory == nullptr || buffer.memory->size() == 0) continue;
    TensorOf(buffer.memory, BufferName(layer, buffer))
        .Place(pass_, part(), parts());
  }
}

template <typename Dtype>
void ActivationStore<Dtype>::AfterForward(int layer) {
  if (net_->parts() == nullptr) FindForeign(layer);
  PutAwayBuffers(layer);
  for (const int blob : net_->bottom_ids(layer)) PutAwayIfDone(layer, blob);
  for (const int blob : net_->top_ids(layer)) PutAwayIfDone(layer, blob);
}

template <typename Dtype>
void ActivationStore<Dtype>::PutAwayBuffers(int layer) {
  const bool goes_backward = options_.passes == Passes::kForwardAndBackward;
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
    if (tensor.IsPutAway(pass_, part())) {
      if (is_read) tensor.last_reader = std::min(tensor.last_reader, layer);
      continue;
    }
    tensor.Claim(pass_, part(), parts());
    tensor.last_reader = is_read ? layer : -1;
    // Memory is rounded up to more than a value.
    const auto count = static_cast<int64_t>(
        (buffer.memory->size() + sizeof(Dtype) - 1) / sizeof(Dtype));
    const vector<Blob<Dtype>*>& bottoms = net_->working_bottoms(layer);
    const bool is_like_bottom =
        !bottoms.empty() && bottoms[0]->count() == count;
    tensor.PutAway(
        demand,
        is_like_bottom ? ShapeOf(bottoms[0]->shape()) : codec::Shape({count}),
        policy_.get());
  }
}

template <typename Dtype>
bool ActivationStore<Dtype>::CollectReaders(int layer,
                                            const SyncedMemory* memory,
                                            Tensor* tensor,
                                            Demand* demand) const {
  tensor->value_readers.clear();
  tensor->last_reader = -1;
  for (size_t other = 0; other < uses_.size(); ++other) {
    if (net_->blobs()[other]->data().get() != memory) continue;
    const BlobUse& use = uses_[other];
    if (!use.is_managed || use.last_forward > layer) return false;
    for (const BlobUse::Reader& reader : use.readers) {
      demand->Add(reader.read);
      if (reader.read >= BackwardRead::kValues) {
        tensor->value_readers.push_back(reader.layer);
      }
      tensor->last_reader = tensor->last_reader < 0
                                ? reader.layer
                                : std::min(tensor->last_reader, reader.layer);
    }
  }
  return true;
}

template <typename Dtype>
void ActivationStore<Dtype>::PutAwayIfDone(int layer, int blob) {
  if (!uses_[blob].is_managed || uses_[blob].last_forward != layer) return;
  const bool is_partial = IsPartial(blob);
  // A view of what others will read, too.
  if (net_->parts() != nullptr && !is_partial) return;
  const shared_ptr<SyncedMemory>& whole = net_->blobs()[blob]->data();
  if (whole->is_pinned()) return;
  const Blob<Dtype>& working = WorkingBlob(blob);
  const std::string& name = net_->blob_names()[blob];
  Tensor& tensor = TensorOf(working.data(), name);
  if (tensor.IsPutAway(pass_, part())) return;
  Demand demand;
  if (!CollectReaders(layer, whole.get(), &tensor, &demand)) return;
  // Memory that came into being in this pass, when the blob had to grow, is its
  // own.
  tensor.Claim(pass_, part(), parts());
  tensor.PutAway(demand, ShapeOf(working.shape()), policy_.get());
  if (is_partial && net_->is_at_last_part())
    tensor.StandInFor(&TensorOf(whole, name));
}

template <typename Dtype>
void ActivationStore<Dtype>::Restore(SyncedMemory* memory) {
  if (Tensor* const tensor = Find(memory)) {
    tensor->Restore();
    return;
  }
  const std::string name = gradients_.NameOf(memory);
  Fail("the gradient of blob ", name.empty() ? "(unknown)" : name,
       " was dropped after its last use; memory { plan: false } in the net "
       "keeps it");
}

template <typename Dtype>
void ActivationStore<Dtype>::CopyTo(SyncedMemory* memory, void* values) {
  MemoryKeeper::CopyTo(memory, values);
  // Backward may want them in another form.
  Find(memory)->Release();
}

template <typename Dtype>
void ActivationStore<Dtype>::MakeReadable(const SyncedMemory* memory,
                                          BackwardRead read) {
  // What somebody looks at stays as it is.
  if (memory->is_pinned()) return;
  Tensor* const tensor = Find(memory);
  if (tensor == nullptr || tensor->pass() != pass_) return;
  tensor->MakeReadable(read, tensor->has_parts() ? part() : 0, is_rehearsal_);
}

template <typename Dtype>
void ActivationStore<Dtype>::MakeReadable(int blob, BackwardRead read) {
  if (IsPartial(blob)) {
    const SyncedMemory* const memory = WorkingBlob(blob).data().get();
    const Tensor* const tensor = Find(memory);
    CHECK(read == BackwardRead::kNothing ||
          (tensor != nullptr && tensor->pass() == pass_))
        << "no part of " << net_->blob_names()[blob] << " was kept";
    MakeReadable(memory, read);
    return;
  }
  MakeReadable(net_->blobs()[blob]->data().get(), read);
  if (net_->parts() != nullptr) View(blob, &Blob<Dtype>::data);
}

template <typename Dtype>
void ActivationStore<Dtype>::Look(
    SyncedMemory* memory, const std::function<void(const void* values)>& look) {
  const bool is_evicted = memory->is_evicted();
  Tensor* const tensor = Find(memory);
  const bool is_there = is_evicted
                            ? tensor != nullptr && tensor->is_restorable()
                            : memory->head() != SyncedMemory::UNINITIALIZED;
  if (!is_there) return;
  look(memory->cpu_data());
  if (is_evicted) tensor->Release();
}

template <typename Dtype>
void ActivationStore<Dtype>::PlaceGradient(int blob, bool zero) {
  const std::string& name = net_->blob_names()[blob];
  if (net_->parts() != nullptr && RoleOf(blob) == Role::kOwn) {
    gradients_.Place(WorkingBlob(blob).diff(), name, zero);
    return;
  }
  if (IsManaged(blob, &Blob<Dtype>::diff)) {
    gradients_.Place(net_->blobs()[blob]->diff(), name, zero);
  }
  if (net_->parts() != nullptr) View(blob, &Blob<Dtype>::diff);
}

template <typename Dtype>
void ActivationStore<Dtype>::BeforeBackward(int layer) {
  if (!net_->layer_need_backward()[layer]) return;
  const BackwardReads reads = net_->layers()[layer]->backward_reads();
  const vector<int>& bottoms = net_->bottom_ids(layer);
  const vector<int>& tops = net_->top_ids(layer);
  for (size_t k = 0; k < bottoms.size(); ++k) {
    MakeReadable(bottoms[k], reads.OfBottom(k));
  }
  for (size_t k = 0; k < tops.size(); ++k) {
    MakeReadable(tops[k], reads.OfTop(k));
  }
  for (const auto& buffer : reads.buffers) {
    if (buffer.memory != nullptr) {
      MakeReadable(buffer.memory.get(), buffer.read);
    }
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
  const vector<int>& bottoms = net_->bottom_ids(layer);
  for (const int top : net_->top_ids(layer)) {
    const SyncedMemory* const whole = net_->blobs()[top]->diff().get();
    const bool goes_on =
        std::any_of(bottoms.begin(), bottoms.end(), [&](int bottom) {
          return net_->blobs()[bottom]->diff().get() == whole;
        });
    if (goes_on) continue;
    if (net_->parts() != nullptr && RoleOf(top) == Role::kOwn) {
      gradients_.Drop(WorkingBlob(top).diff().get());
    } else if (net_->is_at_last_part()) {
      gradients_.Drop(whole);
    }
  }
}

template <typename Dtype>
void ActivationStore<Dtype>::AfterBackward(int layer) {
  DropGradients(layer);
  for (const auto& tensor : tensors_) {
    if (tensor->pass() != pass_) continue;
    const int its_part = tensor->has_parts() ? part() : 0;
    // The other parts need what they all have a view of.
    const bool is_done = tensor->last_reader == layer &&
                         tensor->IsPutAway(pass_, its_part) &&
                         (tensor->has_parts() || net_->is_at_last_part());
    if (is_done) {
      tensor->Finish(its_part, is_rehearsal_);
    } else if (tensor->has_parts() && net_->parts() != nullptr &&
               layer == net_->parts()->stretch().first) {
      tensor->Release();
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
