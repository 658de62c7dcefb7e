#include "caffe/compress/kept_tensor.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "caffe/common.hpp"

namespace caffe {

namespace {

// Packing less than this costs more than it saves.
constexpr size_t kSmallTensor = 16 << 10;

// Frames never leave the process.
constexpr codec::Settings kUnchecked = {.checksum = false};

template <typename Work>
double SecondsOf(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

void Demand::Add(BackwardRead read) {
  non_zero |= read == BackwardRead::kNonZero;
  sign |= read == BackwardRead::kSign;
  values |= read == BackwardRead::kValues;
  exact |= read == BackwardRead::kExact;
}

template <typename Dtype>
KeptTensor<Dtype>::KeptTensor(std::string name, shared_ptr<SyncedMemory> memory,
                              ActivationMemory* room, MemoryKeeper* keeper)
    : name_(std::move(name)),
      memory_(std::move(memory)),
      room_(room),
      keeper_(keeper) {
  report.name = name_;
}

template <typename Dtype>
void KeptTensor<Dtype>::Piece::Clear() {
  packed.Clear();
  mask.Clear();
  exact.Clear();
}

template <typename Dtype>
void KeptTensor<Dtype>::Start(int64_t pass, int part, int parts) {
  if (pass_ != pass) {
    source_ = nullptr;
    for (const auto& piece : pieces_) piece->is_put_away = false;
  }
  pass_ = pass;
  while (static_cast<int>(pieces_.size()) < parts) {
    pieces_.push_back(std::make_unique<Piece>(&room_->packing, name_));
  }
  pieces_.resize(parts);
  part_ = part;
  piece().is_put_away = false;
  content_ = Content::kOriginal;
}

template <typename Dtype>
void KeptTensor<Dtype>::TakeBlock() {
  if (block_ == nullptr) {
    block_ = room_->raw.Allocate(memory_->size(),
                                 {memory::Kind::kActivations, name_});
  }
}

template <typename Dtype>
void KeptTensor<Dtype>::Place(int64_t pass, int part, int parts) {
  if (pass_ == pass && part_ == part) return;
  Start(pass, part, parts);
  if (is_foreign_) return;
  TakeBlock();
  memory_->set_cpu_data(block_);
}

template <typename Dtype>
void KeptTensor<Dtype>::Claim(int64_t pass, int part, int parts) {
  Start(pass, part, parts);
}

template <typename Dtype>
void KeptTensor<Dtype>::SetForeign() {
  is_foreign_ = true;
  if (block_ != nullptr) room_->raw.Free(block_);
  block_ = nullptr;
}

template <typename Dtype>
bool KeptTensor<Dtype>::IsPutAway(int64_t pass, int part) const {
  return pass_ == pass && part < static_cast<int>(pieces_.size()) &&
         pieces_[part]->is_put_away;
}

template <typename Dtype>
void KeptTensor<Dtype>::PutAway(const Demand& demand, const codec::Shape& shape,
                                PackingPolicy* policy) {
  piece().is_put_away = true;
  const size_t bytes = shape.count() * sizeof(Dtype);
  report.times += part_ == 0;
  report.raw_bytes += bytes;
  report.readers = value_readers;
  if (!demand.any()) {
    report.kept = "dropped";
    Release();
    return;
  }
  const codec::ConstTensor values(
      static_cast<const Dtype*>(memory_->cpu_data()), shape);
  const bool is_packed =
      !demand.exact && bytes >= kSmallTensor && Pack(demand, values, policy);
  if (!is_packed) {
    report.kept = "raw";
    report.kept_bytes += bytes;
    if (!has_parts()) return;
    // The next part needs the memory.
    piece().packed.Pack(values, codec::FindCodec("raw"), kUnchecked);
  } else {
    report.kept = piece().packed.empty() ? "mask" : "packed";
    report.kept_bytes +=
        piece().packed.packed_bytes() + piece().mask.packed_bytes();
  }
  Release();
}

template <typename Dtype>
bool KeptTensor<Dtype>::Pack(const Demand& demand,
                             const codec::ConstTensor& values,
                             PackingPolicy* policy) {
  bool needs_mask = demand.sign || demand.non_zero;
  Packing packing;
  try {
    report.pack_seconds += SecondsOf([&] {
      if (demand.values) {
        if (policy == nullptr) return;
        packing = policy->Choose({name_, value_readers, values, part_});
        if (packing.codec == nullptr) return;
        report.codec = packing.codec->name();
        report.bound = packing.settings.bound;
        piece().packed.Pack(values, *packing.codec, packing.settings);
        if (!demand.sign && packing.codec->KeepsNonZeros(packing.settings)) {
          needs_mask = false;
        }
      }
      if (needs_mask) {
        piece().mask.Pack(values, codec::FindCodec("bitmask"), kUnchecked);
      }
    });
    Examine(packing, values);
  } catch (const Error& error) {
    LOG(WARNING) << "cannot pack " << name_
                 << ", which stays as it is: " << error.what();
    piece().Clear();
  }
  return !piece().is_empty();
}

template <typename Dtype>
void KeptTensor<Dtype>::Examine(const Packing& packing,
                                const codec::ConstTensor& values) {
  if (packing.codec == nullptr) return;
  if (packing.is_checked) {
    const double error = piece().packed.LargestError(values);
    const double ratio = error > 0 ? error / packing.settings.bound : 0;
    report.worst = std::max(report.worst, ratio);
  }
  if (packing.keeps_exact) {
    piece().exact.Pack(values, codec::FindCodec("raw"), kUnchecked);
  }
}

template <typename Dtype>
void KeptTensor<Dtype>::StandInFor(KeptTensor* whole) {
  whole->FreeBlock();
  whole->Start(pass_, 0, 1);
  whole->content_ = Content::kNone;
  whole->piece().is_put_away = true;
  whole->source_ = this;
  whole->last_reader = last_reader;
  whole->memory_->Evict(keeper_);
}

template <typename Dtype>
void KeptTensor<Dtype>::SelectPart(int part) {
  if (part_ == part) return;
  FreeBlock();
  part_ = part;
}

template <typename Dtype>
typename KeptTensor<Dtype>::Source KeptTensor<Dtype>::SourceFor(
    BackwardRead read, bool is_rehearsal, const Piece& from) {
  if (read < BackwardRead::kValues && !from.mask.empty()) {
    return {&from.mask, Content::kMask};
  }
  const bool wants_exact = is_rehearsal && !from.exact.empty();
  return {wants_exact ? &from.exact : &from.packed, Content::kUnpacked};
}

template <typename Dtype>
void KeptTensor<Dtype>::MakeReadable(BackwardRead read, int part,
                                     bool is_rehearsal) {
  if (source_ != nullptr) return Assemble(read, is_rehearsal);
  SelectPart(part);
  if (read == BackwardRead::kNothing || content_ == Content::kOriginal) return;
  const Source source = SourceFor(read, is_rehearsal, piece());
  if (content_ == source.content) return;
  Require(!source.packed->empty(), "the values of ", name_,
          " are gone; run Forward before every Backward");
  TakeBlock();
  const double seconds =
      SecondsOf([&] { source.packed->Unpack(static_cast<Dtype*>(block_)); });
  if (!is_rehearsal) report.unpack_seconds += seconds;
  memory_->set_cpu_data(block_);
  content_ = source.content;
}

template <typename Dtype>
void KeptTensor<Dtype>::Assemble(BackwardRead read, bool is_rehearsal) {
  if (read == BackwardRead::kNothing) return;
  const Content wanted =
      SourceFor(read, is_rehearsal, *source_->pieces_[0]).content;
  if (content_ == wanted) return;
  for (const auto& piece : source_->pieces_) {
    Require(!SourceFor(read, is_rehearsal, *piece).packed->empty(),
            "the values of ", name_,
            " are gone; run Forward before every Backward");
  }
  TakeBlock();
  auto* values = static_cast<Dtype*>(block_);
  for (const auto& piece : source_->pieces_) {
    const CompressedBlob& packed =
        *SourceFor(read, is_rehearsal, *piece).packed;
    packed.Unpack(values);
    values += packed.raw_bytes() / sizeof(Dtype);
  }
  memory_->set_cpu_data(block_);
  content_ = wanted;
}

template <typename Dtype>
bool KeptTensor<Dtype>::is_restorable() const {
  const KeptTensor& owner = source_ != nullptr ? *source_ : *this;
  return !owner.pieces_.empty() && !owner.pieces_[owner.part_]->packed.empty();
}

template <typename Dtype>
void KeptTensor<Dtype>::Restore() {
  Require(is_restorable(), "the values of blob ", name_,
          " were dropped after their last use; memory { plan: false } in the "
          "net keeps them");
  MakeReadable(BackwardRead::kValues, part_, false);
}

template <typename Dtype>
void KeptTensor<Dtype>::Finish(int part, bool is_rehearsal) {
  Piece& piece = *pieces_[part];
  if (is_rehearsal && piece.is_empty() && source_ == nullptr) return;
  Release();
  if (is_rehearsal) return;
  piece.Clear();
  if (source_ != nullptr) source_->Drop();
}

template <typename Dtype>
void KeptTensor<Dtype>::FreeBlock() {
  if (block_ != nullptr) room_->raw.Free(block_);
  block_ = nullptr;
  content_ = Content::kNone;
}

template <typename Dtype>
void KeptTensor<Dtype>::Release() {
  FreeBlock();
  memory_->Evict(keeper_);
}

template <typename Dtype>
void KeptTensor<Dtype>::Drop() {
  if (pass_ < 0) return;
  for (const auto& piece : pieces_) piece->Clear();
  source_ = nullptr;
  Release();
}

template <typename Dtype>
void KeptTensor<Dtype>::Abandon(MemoryKeeper* keeper) {
  if (block_ == nullptr && !memory_->is_evicted()) return;
  FreeBlock();
  memory_->Evict(keeper);
}

template class KeptTensor<float>;
template class KeptTensor<double>;

}  // namespace caffe
