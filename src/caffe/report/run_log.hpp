#ifndef CAFFE_SRC_REPORT_RUN_LOG_HPP_
#define CAFFE_SRC_REPORT_RUN_LOG_HPP_

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "caffe/solver.hpp"
#include "layer_hook.hpp"
#include "report/json.hpp"
#include "report/memory_timeline.hpp"
#include "report/run_log_format.hpp"
#include "report/sparse_details.hpp"

namespace caffe {

// Writes down what a solver finds out, one JSON object a line, for `caffe
// report`; docs/run_log.md tells what is in them. A folder that has a log
// already gets more lines. Belongs to the solver's thread, and must live as
// long as that trains.
class RunLog : public SolverObserver {
 public:
  // Makes the folder, and writes that a run, of that command line, begins or
  // goes on. Throws Error when the log cannot be written.
  RunLog(const std::string& folder, const std::string& command,
         Solver<float>* solver);
  ~RunLog() override;

  // How the run ended: "done", "stopped", or "failed", for what reason.
  void WriteEnd(const std::string& outcome, const std::string& reason);

  void OnIterationStart() override;
  void OnIterationEnd() override;
  void OnDisplay(const DisplayReport& display) override;
  void OnTest(const TestReport& test) override;
  void OnCompression(const CompressionProgress& progress) override;
  void OnBatchSize(const BatchSizeChange& change) override;
  void OnAlarm(int iteration, const std::string& what) override;
  void OnSnapshot(int iteration, const std::string& model) override;

 private:
  // When a layer began, in an iteration whose memory is noted.
  struct Span {
    double seconds = 0;
    bool is_backward = false;
    int layer = 0;
    size_t resident = 0;
  };

  void OpenFile();
  // The first members of all events.
  JsonObject Event(const char* name, int iteration) const;
  void Write(const JsonObject& event);
  void WriteStart(const std::string& command);
  void WriteMemory();
  void BeforeLayer(int layer, bool is_backward);

  const std::string filename_;
  Solver<float>* const solver_;
  std::ofstream file_;
  const std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
  SparseDetails details_;
  std::vector<shared_ptr<LayerHook<float>>> hooks_;
  // Iterations of this process, or since the batch size has changed; the memory
  // of the second, fourth, eighth... is noted.
  int64_t iterations_ = 0;
  std::unique_ptr<MemoryTimeline> timeline_;
  std::vector<Span> spans_;
};

// Copies of what is trained, and how, for the folder of a run:
// used_solver.prototxt, and the nets that the solver takes from files.
void CopyPrototxts(const SolverParameter& param, const std::string& folder);

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_RUN_LOG_HPP_
