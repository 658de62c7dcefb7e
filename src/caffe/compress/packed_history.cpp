#include "caffe/compress/packed_history.hpp"

#include <algorithm>
#include <set>

#include "caffe/param_slice.hpp"
#include "cpu/parallel.hpp"
#include "cpu/shared_exponent.hpp"

namespace caffe {

namespace {

// Less is not worth the rounding.
constexpr size_t kLeastBytes = 1 << 20;
// Values that a thread unpacks at a time; they stay in its cache.
constexpr int kBlock = 4096;
static_assert(kBlock % cpu::kExponentGroup == 0);
static_assert(ParamSlice<float>::kAlignment % cpu::kExponentGroup == 0);

int64_t GroupsOf(int64_t count) {
  return (count + cpu::kExponentGroup - 1) / cpu::kExponentGroup;
}

// Calls work(first, count) for blocks of values, on all threads.
template <typename Work>
void ForBlocks(int first, int count, const Work& work) {
  const int64_t blocks = (int64_t{count} + kBlock - 1) / kBlock;
  cpu::ParallelFor(blocks, cpu::kElementwiseGrain / kBlock,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       const int offset = static_cast<int>(i * kBlock);
                       work(first + offset, std::min(kBlock, count - offset));
                     }
                   });
}

// Keeps nothing, for blobs that outlive their solver.
class GoneForGood : public MemoryKeeper {
 public:
  void Restore(SyncedMemory* memory) override {
    Fail("the history of parameter ", memory->label().name,
         " is gone together with its solver");
  }
};
GoneForGood gone_for_good;

bool IsExact(const std::string& codec) {
  static const std::set<std::string> exact = {"raw", "lossless", "zvc", "csr"};
  return exact.count(codec) > 0;
}

}  // namespace

bool PacksHistory(const SolverParameter& param,
                  const std::string& solver_type) {
  // Squares of gradients would not do: small ones, by whose roots updates are
  // divided, become zero beside large ones.
  const bool is_momentum = solver_type == "SGD" || solver_type == "Nesterov";
  const CompressionParameter& compression = param.compression();
  if (!is_momentum || !param.has_compression()) return false;
  if (compression.codec() == "none") return false;
  // Who chooses a codec without errors wants every bit as it would be.
  if (!compression.has_history_bits() && IsExact(compression.codec())) {
    return false;
  }
  return compression.history_bits() == 8;
}

template <typename Dtype>
PackedHistory<Dtype>::PackedHistory(shared_ptr<Blob<Dtype>> blob)
    : blob_(std::move(blob)),
      packed_(std::make_unique<SyncedMemory>(BytesOf(blob_->count()))) {
  packed_->set_label(blob_->data()->label());
}

template <typename Dtype>
PackedHistory<Dtype>::~PackedHistory() {
  if (blob_->data()->is_evicted()) blob_->data()->Evict(&gone_for_good);
}

template <typename Dtype>
bool PackedHistory<Dtype>::IsWorthIt(int64_t count) {
  return count * sizeof(Dtype) >= kLeastBytes;
}

template <typename Dtype>
size_t PackedHistory<Dtype>::BytesOf(int64_t count) {
  return count + GroupsOf(count);
}

template <typename Dtype>
int8_t* PackedHistory<Dtype>::levels() {
  return static_cast<int8_t*>(packed_->mutable_cpu_data());
}

template <typename Dtype>
uint8_t* PackedHistory<Dtype>::exponents() {
  return static_cast<uint8_t*>(packed_->mutable_cpu_data()) + blob_->count();
}

template <typename Dtype>
void PackedHistory<Dtype>::TakeOver() {
  SyncedMemory& memory = *blob_->data();
  if (memory.is_evicted()) return;
  // Zeros, which take no memory yet, are zeros when they are packed, too.
  if (memory.head() != SyncedMemory::UNINITIALIZED) {
    const Dtype* const values = blob_->cpu_data();
    int8_t* const to = levels();
    uint8_t* const groups = exponents();
    ForBlocks(0, blob_->count(), [&](int first, int count) {
      const int group = first / cpu::kExponentGroup;
      cpu::PackSharedExponent(count, values + first, 0, group, to + first,
                              groups + group);
    });
  }
  memory.Evict(this);
}

template <typename Dtype>
void PackedHistory<Dtype>::Update(int first, int count, uint32_t seed,
                                  const Work& update) {
  CHECK_EQ(first % cpu::kExponentGroup, 0);
  int8_t* const from = levels();
  uint8_t* const groups = exponents();
  ForBlocks(first, count, [&](int at, int some) {
    Dtype values[kBlock];
    const int group = at / cpu::kExponentGroup;
    cpu::UnpackSharedExponent(some, from + at, groups + group, values);
    update(at, some, values);
    cpu::PackSharedExponent(some, values, seed, group, from + at,
                            groups + group);
  });
}

template <typename Dtype>
double PackedHistory<Dtype>::AbsoluteSum() const {
  const auto* const from = static_cast<const int8_t*>(packed_->cpu_data());
  return cpu::AbsoluteSumOfPacked(
      blob_->count(), from,
      reinterpret_cast<const uint8_t*>(from + blob_->count()));
}

template <typename Dtype>
void PackedHistory<Dtype>::Restore(SyncedMemory* memory) {
  memory->Forget();
  auto* const values = static_cast<Dtype*>(memory->mutable_cpu_data());
  const int8_t* const from = levels();
  const uint8_t* const groups = exponents();
  ForBlocks(0, blob_->count(), [&](int first, int count) {
    cpu::UnpackSharedExponent(count, from + first,
                              groups + first / cpu::kExponentGroup,
                              values + first);
  });
}

template class PackedHistory<float>;
template class PackedHistory<double>;

}  // namespace caffe
