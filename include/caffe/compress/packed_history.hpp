#ifndef CAFFE_COMPRESS_PACKED_HISTORY_HPP_
#define CAFFE_COMPRESS_PACKED_HISTORY_HPP_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "caffe/blob.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

// Whether solvers of that type keep the histories of large parameters packed.
bool PacksHistory(const SolverParameter& param, const std::string& solver_type);

// What a solver keeps of a parameter between updates, its momentum, in about a
// byte a value (cpu/shared_exponent.hpp says how) instead of in its blob. The
// blob has no memory then; whoever reads it gets the values unpacked. Runs on
// the solver's thread.
template <typename Dtype>
class PackedHistory : public MemoryKeeper {
 public:
  explicit PackedHistory(shared_ptr<Blob<Dtype>> blob);
  ~PackedHistory() override;
  PackedHistory(const PackedHistory&) = delete;
  PackedHistory& operator=(const PackedHistory&) = delete;

  // Whether so many values are enough to be packed, and what they take then.
  static bool IsWorthIt(int64_t count);
  static size_t BytesOf(int64_t count);

  // Packs what is in the blob, when somebody has read or written it, and takes
  // its memory away. Values that were only read do not change.
  void TakeOver();

  // Unpacks `count` values from `first` on, some at a time, lets `update`
  // change them, on several threads, and packs them again.
  // REQUIRES: `first` is a multiple of ParamSlice's alignment.
  using Work = std::function<void(int first, int count, Dtype* values)>;
  void Update(int first, int count, uint32_t seed, const Work& update);

  double AbsoluteSum() const;

  void Restore(SyncedMemory* memory) override;

 private:
  int8_t* levels();
  uint8_t* exponents();

  const shared_ptr<Blob<Dtype>> blob_;
  // First the levels, then the exponents.
  const std::unique_ptr<SyncedMemory> packed_;
};

}  // namespace caffe

#endif  // CAFFE_COMPRESS_PACKED_HISTORY_HPP_
