#ifndef CAFFE_COMPRESS_ACTIVATION_STORE_HPP_
#define CAFFE_COMPRESS_ACTIVATION_STORE_HPP_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "caffe/compress/blob_uses.hpp"
#include "caffe/compress/gradient_slots.hpp"
#include "caffe/compress/kept_tensor.hpp"
#include "caffe/compress/policy.hpp"
#include "caffe/net.hpp"

namespace caffe {

// Gives the activations of a net memory only while they are in use. After the
// last layer that reads them in Forward they are dropped, packed, reduced to a
// mask, or kept, as the layers' backward_reads() allow and the policy says;
// before the first layer that reads them in Backward they are restored.
// Gradients live from the layer that writes them to the one that reads them.
//
// Whoever else reads packed values gets them restored; reading what has been
// dropped throws Error. What is kept is the memory (SyncedMemory), not the
// blob: blobs that share it share its fate. Pinned memory is left where it is.
//
// Layers whose tensors are large may run over parts of the batch: what only
// they read then has memory for one part at a time.
//
// It sees the net through the callbacks around every layer and lives as long as
// the net. Runs on the net's thread.
template <typename Dtype>
class ActivationStore : public MemoryKeeper {
 public:
  struct Options {
    Passes passes = Passes::kForwardAndBackward;
    // Bytes of a tensor above which layers run over parts of the batch.
    size_t largest_tensor = SIZE_MAX;
  };
  // Takes over the net's activations. Without a policy none are packed.
  static shared_ptr<ActivationStore> Attach(Net<Dtype>* net,
                                            shared_ptr<ActivationMemory> memory,
                                            shared_ptr<PackingPolicy> policy,
                                            const Options& options);
  static shared_ptr<ActivationStore> Attach(Net<Dtype>* net,
                                            shared_ptr<ActivationMemory> memory,
                                            shared_ptr<PackingPolicy> policy) {
    return Attach(net, std::move(memory), std::move(policy), Options());
  }
  ~ActivationStore() override;

  void Restore(SyncedMemory* memory) override;
  void CopyTo(SyncedMemory* memory, void* values) override;

  // In the order in which the tensors were first put away.
  std::vector<ActivationReport> Reports() const;

  // Shows the values of an activation, unpacking them for the time being. Does
  // nothing when they have been dropped.
  void Look(SyncedMemory* memory,
            const std::function<void(const void* values)>& look);

  // While on, Backward reads exact values where they have been kept, too, and
  // another Backward of the same Forward may follow.
  void set_rehearsal(bool on) { is_rehearsal_ = on; }

  const ActivationMemory& memory() const { return *memory_; }

 private:
  using Tensor = KeptTensor<Dtype>;
  class Hook;

  // How a blob that layers of a stretch use gets memory in there.
  enum class Role {
    // Memory for a part, of its own: made and used up in the stretch.
    kOwn,
    // The part's images of the whole; in Backward, memory for a part. Comes
    // from before the stretch and is used up in there.
    kPieces,
    // The part's images of the whole.
    kView,
  };

  ActivationStore(Net<Dtype>* net, shared_ptr<ActivationMemory> memory,
                  shared_ptr<PackingPolicy> policy, const Options& options);

  void BeforeForward(int layer);
  void AfterForward(int layer);
  void BeforeBackward(int layer);
  void AfterBackward(int layer);

  // Forgets what the last forward pass has left.
  void StartPass();

  // What a layer works on, and which part of the batch it is.
  int part() const { return net_->parts() != nullptr ? net_->part() : 0; }
  int parts() const;
  Blob<Dtype>& WorkingBlob(int blob) const;
  Role RoleOf(int blob) const;
  bool IsPartial(int blob) const;

  // Whether the memory of the blob's data, or diff, is only that of blobs that
  // are managed.
  using MemoryOf = const shared_ptr<SyncedMemory>& (Blob<Dtype>::*)() const;
  bool IsManaged(int blob, MemoryOf memory_of) const;
  Tensor& TensorOf(const shared_ptr<SyncedMemory>& memory,
                   const std::string& name);
  Tensor* Find(const SyncedMemory* memory) const;
  std::string BufferName(int layer, const BackwardReads::Buffer& buffer) const;

  void PlaceTop(int blob);
  // Points the stand-in to its images of the whole data, or diff.
  void View(int blob, MemoryOf memory_of);
  void FindForeign(int layer);
  void PutAwayIfDone(int layer, int blob);
  void PutAwayBuffers(int layer);
  // Adds the readers of all blobs with that memory. False while one of them is
  // still needed in Forward.
  bool CollectReaders(int layer, const SyncedMemory* memory, Tensor* tensor,
                      Demand* demand) const;
  void MakeReadable(int blob, BackwardRead read);
  void MakeReadable(const SyncedMemory* memory, BackwardRead read);
  void PlaceGradient(int blob, bool zero);
  void DropGradients(int layer);

  Net<Dtype>* const net_;
  const shared_ptr<ActivationMemory> memory_;
  const shared_ptr<PackingPolicy> policy_;
  const Options options_;
  const std::vector<BlobUse> uses_;
  std::vector<std::unique_ptr<Hook>> hooks_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
  std::unordered_map<const SyncedMemory*, Tensor*> tensor_of_;
  GradientSlots gradients_;
  int64_t pass_ = 0;
  bool is_rehearsal_ = false;
};

}  // namespace caffe

#endif  // CAFFE_COMPRESS_ACTIVATION_STORE_HPP_
