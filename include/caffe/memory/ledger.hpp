#ifndef CAFFE_MEMORY_LEDGER_HPP_
#define CAFFE_MEMORY_LEDGER_HPP_

#include <array>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace caffe::memory {

// What memory is for.
enum class Kind {
  kActivations,
  kPacked,
  // Of activations.
  kGradients,
  kParameters,
  kParameterGradients,
  kOptimizer,
  kWorkspace,
  kData,
  // In arenas: pages that have been used and will be again.
  kIdle,
  kOther,
};
constexpr size_t kKinds = 10;
std::string_view NameOf(Kind kind);

struct Label {
  Kind kind = Kind::kOther;
  std::string name;
};

// Bytes of every kind.
using Sums = std::array<size_t, kKinds>;
size_t TotalOf(const Sums& sums);

// Knows every large buffer of the process, what it is for and whose it is, and
// the most that all of them ever took together. Whoever allocates memory enters
// it here. Thread-safe.
class Ledger {
 public:
  static Ledger& Get();

  void Add(const void* buffer, size_t bytes, const Label& label);
  // A buffer that was not added is none of the ledger's business.
  void Remove(const void* buffer);

  struct Entry {
    Label label;
    size_t bytes = 0;
  };
  // The largest first.
  std::vector<Entry> Entries() const;

  // Now, and when the total was largest.
  Sums live() const;
  Sums peak() const;
  // Looks for the largest total from now on.
  void ResetPeak();

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, Entry> entries_;
  Sums live_ = {};
  Sums peak_ = {};
  size_t live_total_ = 0;
  size_t peak_total_ = 0;
};

// For example "689.3 MB: activations 445.3, parameters 244.0", the largest kind
// first.
std::string Describe(const Sums& sums);

// The most physical memory the process has ever had, in bytes, and what it has
// now; 0 where the system does not tell.
size_t PeakOfProcess();
size_t ResidentInProcess();

}  // namespace caffe::memory

#endif  // CAFFE_MEMORY_LEDGER_HPP_
