#include "report/memory_timeline.hpp"

#include <algorithm>

namespace caffe {

MemoryTimeline::MemoryTimeline(size_t most_samples)
    : most_(std::max<size_t>(most_samples, 4)) {
  samples_.reserve(most_);
  samples_.push_back({0, memory::Ledger::Get().live()});
  memory::SetLedgerWatcher(this);
}

MemoryTimeline::~MemoryTimeline() { memory::SetLedgerWatcher(nullptr); }

double MemoryTimeline::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                       start_)
      .count();
}

void MemoryTimeline::OnChange(const memory::Sums& live) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Sample sample = {Seconds(), live};
  if (changes_ == 0) {
    if (samples_.size() == most_) Halve();
    samples_.push_back(sample);
  } else if (memory::TotalOf(live) >= memory::TotalOf(samples_.back().bytes)) {
    samples_.back() = sample;
  }
  changes_ = (changes_ + 1) % changes_a_sample_;
}

// Leaves the larger one of every two.
void MemoryTimeline::Halve() {
  size_t kept = 1;
  for (size_t i = 1; i + 1 < samples_.size(); i += 2) {
    const bool is_second_larger = memory::TotalOf(samples_[i + 1].bytes) >
                                  memory::TotalOf(samples_[i].bytes);
    samples_[kept++] = samples_[is_second_larger ? i + 1 : i];
  }
  if (samples_.size() % 2 == 0) samples_[kept++] = samples_.back();
  samples_.resize(kept);
  changes_a_sample_ *= 2;
}

std::vector<MemoryTimeline::Sample> MemoryTimeline::Samples() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return samples_;
}

}  // namespace caffe
