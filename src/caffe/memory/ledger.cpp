#include "caffe/memory/ledger.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iomanip>
#include <numeric>
#include <sstream>

#include "caffe/memory/ledger_watcher.hpp"

namespace caffe::memory {

namespace {

// Guarded by a mutex of its own: the ledger's belongs to the ledger.
std::mutex watcher_mutex;
LedgerWatcher* watcher = nullptr;
// Spares others the mutex.
std::atomic<bool> is_watched = false;

void TellWatcher(const Sums& live) {
  if (!is_watched) return;
  const std::lock_guard<std::mutex> lock(watcher_mutex);
  if (watcher != nullptr) watcher->OnChange(live);
}

}  // namespace

void SetLedgerWatcher(LedgerWatcher* new_watcher) {
  const std::lock_guard<std::mutex> lock(watcher_mutex);
  watcher = new_watcher;
  is_watched = new_watcher != nullptr;
}

std::string_view NameOf(Kind kind) {
  static constexpr std::array<std::string_view, kKinds> kNames = {
      "activations",
      "packed",
      "gradients",
      "parameters",
      "parameter gradients",
      "optimizer",
      "workspace",
      "data",
      "idle",
      "other"};
  return kNames[static_cast<size_t>(kind)];
}

size_t TotalOf(const Sums& sums) {
  return std::accumulate(sums.begin(), sums.end(), size_t{0});
}

Ledger& Ledger::Get() {
  // Never destroyed: memory is freed until the very end of the process.
  static Ledger* const ledger = new Ledger;
  return *ledger;
}

void Ledger::Add(const void* buffer, size_t bytes, const Label& label) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Entry& entry = entries_[buffer];
  live_[static_cast<size_t>(entry.label.kind)] -= entry.bytes;
  live_total_ -= entry.bytes;
  entry = {label, bytes};
  live_[static_cast<size_t>(label.kind)] += bytes;
  live_total_ += bytes;
  if (live_total_ > peak_total_) {
    peak_total_ = live_total_;
    peak_ = live_;
  }
  TellWatcher(live_);
}

void Ledger::Remove(const void* buffer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(buffer);
  if (found == entries_.end()) return;
  live_[static_cast<size_t>(found->second.label.kind)] -= found->second.bytes;
  live_total_ -= found->second.bytes;
  entries_.erase(found);
  TellWatcher(live_);
}

std::vector<Ledger::Entry> Ledger::Entries() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Entry> entries;
  entries.reserve(entries_.size());
  for (const auto& [buffer, entry] : entries_) entries.push_back(entry);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.label.name < b.label.name;
  });
  return entries;
}

Sums Ledger::live() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return live_;
}

Sums Ledger::peak() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return peak_;
}

void Ledger::ResetPeak() {
  const std::lock_guard<std::mutex> lock(mutex_);
  peak_total_ = live_total_;
  peak_ = live_;
}

std::string Describe(const Sums& sums) {
  constexpr double kMegabyte = 1e6;
  std::array<size_t, kKinds> order;
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sums[a] > sums[b]; });
  std::ostringstream text;
  text << std::fixed << std::setprecision(1)
       << static_cast<double>(TotalOf(sums)) / kMegabyte << " MB";
  const char* separator = ": ";
  for (const size_t kind : order) {
    if (sums[kind] == 0) break;
    text << separator << NameOf(static_cast<Kind>(kind)) << " "
         << static_cast<double>(sums[kind]) / kMegabyte;
    separator = ", ";
  }
  return text.str();
}

size_t PeakOfProcess() {
  rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss * size_t{1024}
                                             : 0;
}

size_t ResidentInProcess() {
  std::ifstream statm("/proc/self/statm");
  size_t addresses = 0;
  size_t resident = 0;
  statm >> addresses >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace caffe::memory
