#ifndef CAFFE_SRC_REPORT_MEMORY_TIMELINE_HPP_
#define CAFFE_SRC_REPORT_MEMORY_TIMELINE_HPP_

#include <chrono>
#include <mutex>
#include <vector>

#include "caffe/memory/ledger_watcher.hpp"

namespace caffe {

// Notes how much memory of every kind is in use, from when it is made until it
// goes. However many changes there are, it keeps some thousand of them: the
// largest totals of short spans.
class MemoryTimeline : public memory::LedgerWatcher {
 public:
  struct Sample {
    double seconds = 0;
    memory::Sums bytes = {};
  };

  explicit MemoryTimeline(size_t most_samples = 2048);
  ~MemoryTimeline() override;

  void OnChange(const memory::Sums& live) override;

  double Seconds() const;
  // In the order of time, the first at zero.
  std::vector<Sample> Samples() const;

 private:
  void Halve();

  const std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
  const size_t most_;
  mutable std::mutex mutex_;
  std::vector<Sample> samples_;
  // Changes that go into one sample, and those in the last one so far.
  int changes_a_sample_ = 1;
  int changes_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_MEMORY_TIMELINE_HPP_
