#ifndef CAFFE_COMPRESS_KEPT_TENSOR_HPP_
#define CAFFE_COMPRESS_KEPT_TENSOR_HPP_

#include <memory>
#include <string>
#include <vector>

#include "caffe/backward_reads.hpp"
#include "caffe/compress/compressed_blob.hpp"
#include "caffe/compress/policy.hpp"
#include "caffe/memory/arena.hpp"

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

// The forms of a tensor that Backward reads.
struct Demand {
  bool non_zero = false;
  bool sign = false;
  bool values = false;
  bool exact = false;

  void Add(BackwardRead read);
  bool any() const { return non_zero || sign || values || exact; }
};

// Values that Forward leaves for Backward, and the forms they take in between:
// raw in a block of the arena (or in memory that a data layer has), packed, a
// mask, or nothing. It stands behind one SyncedMemory, whose keeper is asked
// when somebody reads it while it is put away.
//
// Where layers run over parts of the batch the memory holds one part at a time,
// and every part is put away by itself. `whole` memory then stands for all of
// them together, and is assembled when somebody reads it.
template <typename Dtype>
class KeptTensor {
 public:
  KeptTensor(std::string name, shared_ptr<SyncedMemory> memory,
             ActivationMemory* room, MemoryKeeper* keeper);
  ~KeptTensor() { FreeBlock(); }
  KeptTensor(const KeptTensor&) = delete;
  KeptTensor& operator=(const KeptTensor&) = delete;

  // Before Forward writes it: gives it memory of no particular values, unless
  // it has some of this pass and part already.
  void Place(int64_t pass, int part, int parts);
  // The values that Forward has left are those of this pass and part.
  void Claim(int64_t pass, int part, int parts);
  // The memory turned out to be the layer's own.
  void SetForeign();
  // Whether this part of this pass has been put away.
  bool IsPutAway(int64_t pass, int part) const;

  // After the last layer that reads it in Forward. The policy may be null.
  void PutAway(const Demand& demand, const codec::Shape& shape,
               PackingPolicy* policy);
  // Makes other memory stand for all parts together.
  void StandInFor(KeptTensor* whole);

  // Gives the values, in the form that was asked for, back to the memory: the
  // exact ones in a rehearsal, where they have been kept. Throws Error when
  // they are gone.
  void MakeReadable(BackwardRead read, int part, bool is_rehearsal);
  // For whoever reads the memory unasked.
  void Restore();
  // Whether it has what Restore needs.
  bool is_restorable() const;
  // After the last layer that reads it in Backward, unless that was a
  // rehearsal.
  void Finish(int part, bool is_rehearsal);
  // Lets go of what is not packed.
  void Release();
  // Forgets all of it.
  void Drop();
  // For good: from now on another keeper is asked.
  void Abandon(MemoryKeeper* keeper);

  const std::string& name() const { return name_; }
  const shared_ptr<SyncedMemory>& memory() const { return memory_; }
  const void* block() const { return block_; }
  int64_t pass() const { return pass_; }
  bool has_parts() const { return pieces_.size() > 1; }

  // Layers whose Backward reads the values.
  std::vector<int> value_readers;
  // The layer with the lowest index whose Backward reads any of it, or -1.
  int last_reader = -1;
  ActivationReport report;

 private:
  // What the bytes of the raw memory are.
  enum class Content { kNone, kOriginal, kUnpacked, kMask };
  struct Piece {
    Piece(PackingRoom* room, const std::string& name)
        : packed(room, name), mask(room, name), exact(room, name) {}
    void Clear();
    bool is_empty() const { return packed.empty() && mask.empty(); }

    CompressedBlob packed;
    CompressedBlob mask;
    // For rehearsals.
    CompressedBlob exact;
    bool is_put_away = false;
  };

  Piece& piece() { return *pieces_[part_]; }
  void TakeBlock();
  void FreeBlock();
  void Start(int64_t pass, int part, int parts);
  void SelectPart(int part);
  // False when the policy does not want it packed, or it cannot be.
  bool Pack(const Demand& demand, const codec::ConstTensor& values,
            PackingPolicy* policy);
  // Measures errors and keeps exact values, as the packing says.
  void Examine(const Packing& packing, const codec::ConstTensor& values);
  // Which of its forms Backward gets.
  struct Source {
    const CompressedBlob* packed;
    Content content;
  };
  Source SourceFor(BackwardRead read, bool is_rehearsal, const Piece& from);
  // Puts all parts of the tensor that has them together.
  void Assemble(BackwardRead read, bool is_rehearsal);

  const std::string name_;
  const shared_ptr<SyncedMemory> memory_;
  ActivationMemory* const room_;
  MemoryKeeper* const keeper_;
  void* block_ = nullptr;
  Content content_ = Content::kNone;
  int64_t pass_ = -1;
  int part_ = 0;
  std::vector<std::unique_ptr<Piece>> pieces_;
  // The tensor whose parts this one stands for.
  KeptTensor* source_ = nullptr;
  bool is_foreign_ = false;
};

}  // namespace caffe

#endif  // CAFFE_COMPRESS_KEPT_TENSOR_HPP_
