#ifndef CAFFE_TEST_LOG_RECORDER_HPP_
#define CAFFE_TEST_LOG_RECORDER_HPP_

#include <glog/logging.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace caffe {

// Keeps the messages that are logged while it lives.
class LogRecorder : public google::LogSink {
 public:
  LogRecorder() { google::AddLogSink(this); }
  ~LogRecorder() override { google::RemoveLogSink(this); }

  const std::vector<std::string>& messages() const { return messages_; }
  // The messages since the last time.
  std::vector<std::string> Take() { return std::exchange(messages_, {}); }

  bool Has(const std::string& message) const { return Count(message) > 0; }
  int Count(const std::string& message) const {
    return static_cast<int>(
        std::count(messages_.begin(), messages_.end(), message));
  }

 private:
  void send(google::LogSeverity /*severity*/, const char* /*file*/,
            const char* /*base_file*/, int /*line*/, const std::tm* /*time*/,
            const char* message, size_t length) override {
    messages_.emplace_back(message, length);
  }

  std::vector<std::string> messages_;
};

}  // namespace caffe

#endif  // CAFFE_TEST_LOG_RECORDER_HPP_
