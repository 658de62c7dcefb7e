#ifndef CAFFE_SRC_REPORT_RUN_LOG_FORMAT_HPP_
#define CAFFE_SRC_REPORT_RUN_LOG_FORMAT_HPP_

namespace caffe {

// The version of a run's events, and their file in the folder of the run.
constexpr int kRunLogVersion = 1;
constexpr char kRunLogName[] = "events.jsonl";

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_RUN_LOG_FORMAT_HPP_
