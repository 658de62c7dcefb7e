#ifndef CAFFE_KEPT_VALUES_HPP_
#define CAFFE_KEPT_VALUES_HPP_

#include <cstdint>

#include "caffe/backward_reads.hpp"
#include "caffe/blob.hpp"
#include "caffe/syncedmem.hpp"
#include "caffe/util/math_functions.hpp"

// What layers keep of their bottom from Forward to Backward. Each belongs to
// one layer and its thread.
namespace caffe {

// Makes `memory` anew unless it has just so many bytes.
inline void FitMemory(size_t bytes, shared_ptr<SyncedMemory>* memory) {
  if (*memory != nullptr && (*memory)->size() == bytes) return;
  *memory = boost::make_shared<SyncedMemory>(bytes);
}

// One bit for every value of the bottom (cpu/mask.hpp).
class KeptMask {
 public:
  void Reshape(int64_t words) {
    FitMemory(words * sizeof(unsigned int), &memory_);
  }
  const unsigned int* bits() const {
    return static_cast<const unsigned int*>(memory_->cpu_data());
  }
  unsigned int* mutable_bits() {
    return static_cast<unsigned int*>(memory_->mutable_cpu_data());
  }
  void AddTo(BackwardReads* reads) const {
    reads->buffers.push_back({"mask", memory_, BackwardRead::kExact});
  }

 private:
  shared_ptr<SyncedMemory> memory_;
};

// The values of the first bottom, for layers that may write over them: in
// place there is a copy of them, perhaps that of another layer which keeps them
// as well.
template <typename Dtype>
class KeptBottom {
 public:
  // To be told in Reshape.
  void set_in_place(bool in_place) { in_place_ = in_place; }

  // In Forward, before the top is written: where Forward must copy the values
  // to, or nullptr.
  Dtype* PlaceForCopy(const Blob<Dtype>& bottom) {
    Drop();
    if (!in_place_) return nullptr;
    copy_ = bottom.data()->twin();
    if (copy_ != nullptr) return nullptr;
    FitMemory(bottom.count() * sizeof(Dtype), &own_copy_);
    copy_ = own_copy_;
    return static_cast<Dtype*>(copy_->mutable_cpu_data());
  }
  // In Forward, before the top is written: makes the copy, if there must be
  // one.
  void Keep(const Blob<Dtype>& bottom) {
    Dtype* const copy = PlaceForCopy(bottom);
    if (copy != nullptr) caffe_copy(bottom.count(), bottom.cpu_data(), copy);
  }
  // In Forward, when Backward will not read the values.
  void Drop() { copy_.reset(); }

  // In Backward.
  const Dtype* values(const Blob<Dtype>& bottom) const {
    if (copy_ == nullptr) return bottom.cpu_data();
    return static_cast<const Dtype*>(copy_->cpu_data());
  }

  // Says that Backward reads the values.
  void AddTo(BackwardReads* reads, BackwardRead read) const {
    if (!in_place_) {
      reads->bottoms[0] = read;
    } else {
      // Before the first Forward there is none yet.
      reads->buffers.push_back({"kept_bottom", copy_, read});
    }
  }

 private:
  bool in_place_ = false;
  shared_ptr<SyncedMemory> copy_;
  shared_ptr<SyncedMemory> own_copy_;
};

}  // namespace caffe

#endif  // CAFFE_KEPT_VALUES_HPP_
