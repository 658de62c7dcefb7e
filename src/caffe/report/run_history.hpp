#ifndef CAFFE_SRC_REPORT_RUN_HISTORY_HPP_
#define CAFFE_SRC_REPORT_RUN_HISTORY_HPP_

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/json.hpp"
#include "report/series.hpp"

namespace caffe {

// What became of a tensor that a layer reads, and how that changed.
struct InputHistory {
  std::string layer;
  std::string tensor;
  Series bound;
  Series ratio;
  // Of a pass, when it was last told.
  double raw_bytes = 0;
};

// Memory over one iteration.
struct MemoryHistory {
  double iteration = 0;
  double microseconds = 0;
  std::vector<std::string> kinds;
  // When, and bytes of every kind from then on.
  struct Sample {
    double microseconds = 0;
    std::vector<double> bytes;
  };
  std::vector<Sample> samples;
  struct LayerSpan {
    double microseconds = 0;
    bool is_backward = false;
    std::string layer;
    double resident = 0;
  };
  std::vector<LayerSpan> layers;
};

// Something that happened once.
struct Happening {
  double iteration = 0;
  // "resume", "batch_size", "alarm" or "snapshot".
  std::string kind;
  std::string text;
};

// Values that a net outputs, by their names.
struct OutputHistory {
  Series series;
  bool is_loss = false;
};

// All that a log of a run says, as one run: what happened again after a resume
// is there once, as it was the last time.
struct RunHistory {
  // The last event that began the run, or made it go on, and the one that ended
  // it, if there was one since.
  JsonValue start;
  std::optional<JsonValue> end;
  double begin_time = 0;
  double last_time = 0;
  // In training, of all processes together.
  double seconds = 0;
  double last_iteration = 0;
  int64_t events = 0;
  // Lines that could not be read.
  int64_t bad_lines = 0;

  Series loss;
  Series smoothed_loss;
  Series learning_rate;
  Series images_per_second;
  Series batch_size;
  Series ratio;
  Series share_of_time;
  Series worst;
  std::vector<OutputHistory> train_outputs;
  // Of all test nets; the names of outputs of nets but the first have the
  // number of the net before them.
  std::vector<OutputHistory> test_outputs;
  std::vector<InputHistory> inputs;
  // The last that the log has.
  std::optional<MemoryHistory> memory;
  // What was last told of all tensors.
  JsonValue last_inputs;
  std::vector<Happening> happenings;
};

// Reads a log; `name` is for messages. Throws Error when it is none, or of a
// newer version.
RunHistory ReadRunLog(std::istream& log, const std::string& name);

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_RUN_HISTORY_HPP_
