#ifndef CAFFE_COMPRESS_ACTIVATION_STORE_HPP_
#define CAFFE_COMPRESS_ACTIVATION_STORE_HPP_

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe/compress/blob_uses.hpp"
#include "caffe/compress/compressed_blob.hpp"
#include "caffe/compress/policy.hpp"
#include "caffe/memory/arena.hpp"
#include "caffe/net.hpp"

namespace caffe {

// Memory for the activations and their gradients, shared by nets that run one
// after the other.
struct ActivationMemory {
  memory::Arena raw;
  PackingRoom packing;
};

// What became of one tensor, added up over all passes.
struct ActivationReport {
  std::string name;
  // "packed", "mask", "raw" or "dropped", and with which codec and bound.
  std::string kept;
  std::string codec;
  double bound = 0;
  // The largest error over its bound, of all that were measured. Less than zero
  // while none was.
  double worst = -1;
  // Layers whose Backward reads it.
  std::vector<int> readers;
  int64_t times = 0;
  size_t raw_bytes = 0;
  size_t kept_bytes = 0;
  double pack_seconds = 0;
  double unpack_seconds = 0;
};

// Gives the activations of a net memory only while they are in use. After the
// last layer that reads them in Forward they are dropped, packed, reduced to a
// mask, or kept, as the layers' backward_reads() allow and the policy says;
// before the first layer that reads them in Backward they are restored.
// Gradients live from the layer that writes them to the one that reads them.
//
// Whoever else reads packed values gets them restored; reading what has been
// dropped throws Error. What is kept is the memory (SyncedMemory), not the
// blob: blobs that share it share its fate.
//
// It sees the net through the callbacks around every layer and lives as long as
// the net. Runs on the net's thread.
template <typename Dtype>
class ActivationStore : public MemoryKeeper {
 public:
  // Takes over the net's activations. Without a policy none are packed.
  static std::shared_ptr<ActivationStore> Attach(
      Net<Dtype>* net, std::shared_ptr<ActivationMemory> memory,
      std::shared_ptr<PackingPolicy> policy,
      Passes passes = Passes::kForwardAndBackward);
  ~ActivationStore() override;

  void Restore(SyncedMemory* memory) override;

  // In the order in which the tensors were first put away.
  std::vector<ActivationReport> Reports() const;

  // While on, Backward reads exact values where they have been kept, too, and
  // another Backward of the same Forward may follow.
  void set_rehearsal(bool on) { is_rehearsal_ = on; }

  const ActivationMemory& memory() const { return *memory_; }

 private:
  // What the bytes of a tensor's raw memory are.
  enum class Content { kNone, kOriginal, kUnpacked, kMask };

  struct Tensor {
    Tensor(std::string n, std::shared_ptr<SyncedMemory> m, PackingRoom* room)
        : name(std::move(n)),
          memory(std::move(m)),
          packed(room, name),
          mask(room, name),
          exact(room, name) {}

    std::string name;
    std::shared_ptr<SyncedMemory> memory;
    // Raw memory from the arena, or null: it may have its own, too.
    void* block = nullptr;
    Content content = Content::kNone;
    CompressedBlob packed;
    CompressedBlob mask;
    CompressedBlob exact;
    // The forward pass that gave it its values.
    int64_t pass = -1;
    bool is_put_away = false;
    // Whether its layer points it to memory that the layer has, as data layers
    // do.
    bool is_foreign = false;
    std::vector<int> value_readers;
    // The layer with the lowest index whose Backward reads it, or -1.
    int last_reader = -1;
    ActivationReport report;
  };
  // Which forms of a tensor Backward reads.
  struct Demand {
    bool non_zero = false;
    bool sign = false;
    bool values = false;
    bool exact = false;
    void Add(BackwardRead read);
  };
  class Hook;

  ActivationStore(Net<Dtype>* net, std::shared_ptr<ActivationMemory> memory,
                  std::shared_ptr<PackingPolicy> policy, Passes passes);

  void BeforeForward(int layer);
  void AfterForward(int layer);
  void BeforeBackward(int layer);
  void AfterBackward(int layer);

  // Whether the memory of the blob's data, or diff, is only that of blobs that
  // are managed.
  using MemoryOf =
      const std::shared_ptr<SyncedMemory>& (Blob<Dtype>::*)() const;
  bool IsManaged(int blob, MemoryOf memory_of) const;
  // Forgets what the last forward pass has left.
  void StartPass();
  Tensor& TensorOf(const std::shared_ptr<SyncedMemory>& memory,
                   const std::string& name);
  void PlaceIfNew(Tensor* tensor);
  void FindForeign(int layer);
  void PutAwayIfDone(int layer, int blob);
  void PutAwayBuffers(int layer);
  void PutAway(const Demand& demand, const codec::Shape& shape, Tensor* tensor);
  // False when the tensor has to stay as it is.
  bool Pack(const Demand& demand, const codec::Shape& shape, Tensor* tensor);
  void MakeReadable(BackwardRead read, Tensor* tensor);
  void Unpack(const CompressedBlob& from, Content content, Tensor* tensor);
  // Measures errors and keeps exact values, as the packing says.
  void Examine(const Packing& packing, const codec::ConstTensor& values,
               Tensor* tensor);
  void FreeRaw(Tensor* tensor);
  void Drop(Tensor* tensor);
  void PlaceGradient(int blob, bool zero);
  void DropGradients(int layer);

  std::string BufferName(int layer, const BackwardReads::Buffer& buffer) const;

  Net<Dtype>* const net_;
  const std::shared_ptr<ActivationMemory> memory_;
  const std::shared_ptr<PackingPolicy> policy_;
  const Passes passes_;
  const std::vector<BlobUse> uses_;
  std::vector<std::unique_ptr<Hook>> hooks_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
  std::unordered_map<const SyncedMemory*, Tensor*> tensor_of_;
  // Gradients that have memory now, and whose they are.
  struct Gradient {
    std::shared_ptr<SyncedMemory> memory;
    void* block = nullptr;
    std::string name;
  };
  std::unordered_map<const SyncedMemory*, Gradient> gradients_;
  int64_t pass_ = 0;
  bool is_rehearsal_ = false;
};

}  // namespace caffe

#endif  // CAFFE_COMPRESS_ACTIVATION_STORE_HPP_
