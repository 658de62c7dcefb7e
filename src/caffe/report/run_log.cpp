#include "report/run_log.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>

#include "compress/solver_compression.hpp"
#include "report/machine.hpp"

namespace caffe {

namespace {

namespace fs = std::filesystem;

double UnixTime() {
  const std::chrono::duration<double> since_epoch =
      std::chrono::system_clock::now().time_since_epoch();
  return std::round(since_epoch.count() * 1e3) / 1e3;
}

JsonArray Outputs(const std::vector<NetOutput>& outputs) {
  JsonArray array;
  for (const NetOutput& output : outputs) {
    JsonObject object;
    object.Add("name", output.name).Add("value", output.value);
    if (output.loss_weight != 0) object.Add("loss_weight", output.loss_weight);
    array.Add(object);
  }
  return array;
}

JsonArray Inputs(const std::vector<LayerInput>& inputs) {
  JsonArray array;
  for (const LayerInput& input : inputs) {
    JsonObject object;
    object.Add("layer", input.layer)
        .Add("tensor", input.tensor)
        .Add("kept", input.kept);
    if (input.kept == "packed") {
      object.Add("codec", input.codec).Add("bound", input.bound);
      if (input.worst >= 0) object.Add("worst", input.worst);
    }
    if (input.is_counted_before) object.Add("counted_before", true);
    object.Add("passes", input.passes)
        .Add("raw", input.raw_bytes)
        .Add("stored", input.kept_bytes)
        .Add("pack_seconds", static_cast<float>(input.pack_seconds))
        .Add("unpack_seconds", static_cast<float>(input.unpack_seconds));
    if (input.sigma) {
      object.Add("sigma_predicted", static_cast<float>(input.sigma->predicted))
          .Add("sigma_measured", static_cast<float>(input.sigma->measured));
    }
    array.Add(object);
  }
  return array;
}

JsonArray LayersOf(const Net<float>& net) {
  JsonArray layers;
  for (size_t i = 0; i < net.layers().size(); ++i) {
    int64_t parameters = 0;
    for (const auto& blob : net.layers()[i]->blobs()) {
      parameters += blob->count();
    }
    JsonArray tops;
    const vector<int>& top_ids = net.top_ids(static_cast<int>(i));
    for (const int top : top_ids) {
      tops.Add(JsonObject()
                   .Add("name", net.blob_names()[top])
                   .Add("shape", JsonArray(net.blobs()[top]->shape())));
    }
    layers.Add(JsonObject()
                   .Add("name", net.layer_names()[i])
                   .Add("type", net.layers()[i]->type())
                   .Add("parameters", parameters)
                   .Add("tops", tops));
  }
  return layers;
}

JsonObject Kinds(const memory::Sums& sums) {
  JsonObject kinds;
  for (size_t i = 0; i < sums.size(); ++i) {
    kinds.Add(memory::NameOf(static_cast<memory::Kind>(i)), sums[i]);
  }
  return kinds;
}

void MakeFolder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  Require(!error, "cannot make the folder ", folder,
          " of --run_dir: ", error.message());
}

}  // namespace

RunLog::RunLog(const std::string& folder, const std::string& command,
               Solver<float>* solver)
    : filename_(folder + "/" + kRunLogName), solver_(solver) {
  MakeFolder(folder);
  OpenFile();
  WriteStart(command);
  for (const bool is_backward : {false, true}) {
    hooks_.push_back(boost::make_shared<LayerHook<float>>(
        [=, this](int layer) { BeforeLayer(layer, is_backward); }));
    solver->net()->KeepAlive(hooks_.back());
  }
  solver->net()->add_before_forward(hooks_[0].get());
  solver->net()->add_before_backward(hooks_[1].get());
  solver->add_observer(this);
}

RunLog::~RunLog() {
  for (const auto& hook : hooks_) hook->Disable();
}

void RunLog::OpenFile() {
  // What a run that was killed has left of its last line gets an end.
  std::ifstream old(filename_, std::ios::binary | std::ios::ate);
  const bool is_new = !old.is_open() || old.tellg() == std::streampos(0);
  char last = '\n';
  if (!is_new) old.seekg(-1, std::ios::end).get(last);
  file_.open(filename_, std::ios::binary | std::ios::app);
  Require(file_.is_open(), "cannot write the log ", filename_, ": ",
          std::strerror(errno));
  if (last != '\n') file_ << '\n';
}

JsonObject RunLog::Event(const char* name, int iteration) const {
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_)
          .count();
  JsonObject event;
  event.Add("event", name)
      .Add("iteration", iteration)
      .Add("time", UnixTime())
      .Add("seconds", std::round(seconds * 1e3) / 1e3);
  return event;
}

void RunLog::Write(const JsonObject& event) {
  if (!file_.good()) return;
  file_ << event.text() << '\n' << std::flush;
  // No reason to end a run.
  LOG_IF(WARNING, !file_.good()) << "Cannot write the log " << filename_
                                 << " any more: " << std::strerror(errno);
}

void RunLog::WriteStart(const std::string& command) {
  Net<float>& net = *solver_->net();
  Write(Event("run", solver_->iter())
            .Add("version", kRunLogVersion)
            .Add("command", command)
            .Add("machine", DescribeMachine())
            .Add("max_iter", solver_->param().max_iter())
            .Add("batch_size", solver_->images_per_iteration())
            .Add("solver", solver_->param().DebugString())
            .Add("net", net.name())
            .Add("layers", LayersOf(net)));
}

void RunLog::WriteEnd(const std::string& outcome, const std::string& reason) {
  JsonObject event = Event("end", solver_->iter());
  event.Add("outcome", outcome);
  if (!reason.empty()) event.Add("reason", reason);
  event.Add("memory_peak", Kinds(memory::Ledger::Get().peak()))
      .Add("process_peak", memory::PeakOfProcess());
  if (solver_->compression() != nullptr) {
    event.Add("inputs", Inputs(solver_->compression()->Inputs()));
  }
  Write(event);
}

void RunLog::OnIterationStart() {
  ++iterations_;
  if (iterations_ < 2 || !std::has_single_bit(uint64_t(iterations_))) return;
  spans_.clear();
  timeline_ = std::make_unique<MemoryTimeline>();
}

void RunLog::OnIterationEnd() {
  if (timeline_ == nullptr) return;
  WriteMemory();
  timeline_.reset();
}

void RunLog::BeforeLayer(int layer, bool is_backward) {
  if (timeline_ == nullptr) return;
  spans_.push_back(
      {timeline_->Seconds(), is_backward, layer, memory::ResidentInProcess()});
}

void RunLog::WriteMemory() {
  const double end = timeline_->Seconds();
  JsonArray kinds;
  for (size_t i = 0; i < memory::kKinds; ++i) {
    kinds.Add(memory::NameOf(static_cast<memory::Kind>(i)));
  }
  const auto microseconds = [](double seconds) {
    return std::llround(seconds * 1e6);
  };
  JsonArray samples;
  for (const MemoryTimeline::Sample& sample : timeline_->Samples()) {
    JsonArray row;
    row.Add(microseconds(sample.seconds));
    for (const size_t bytes : sample.bytes) row.Add(bytes);
    samples.Add(row);
  }
  JsonArray spans;
  for (const Span& span : spans_) {
    spans.Add(JsonArray()
                  .Add(microseconds(span.seconds))
                  .Add(span.is_backward ? "backward" : "forward")
                  .Add(solver_->net()->layer_names()[span.layer])
                  .Add(span.resident));
  }
  Write(Event("memory", solver_->iter())
            .Add("microseconds", microseconds(end))
            .Add("kinds", kinds)
            .Add("samples", samples)
            .Add("layers", spans));
}

void RunLog::OnDisplay(const DisplayReport& display) {
  JsonObject event = Event("display", display.iteration);
  event.Add("updates", display.updates)
      .Add("loss", display.loss)
      .Add("smoothed_loss", display.smoothed_loss)
      .Add("learning_rate", display.learning_rate)
      .Add("batch_size", display.batch_size);
  if (display.images_per_second > 0) {
    event.Add("images_per_second",
              static_cast<float>(display.images_per_second));
  }
  Write(event.Add("outputs", Outputs(display.outputs)));
}

void RunLog::OnTest(const TestReport& test) {
  JsonObject event = Event("test", test.iteration);
  event.Add("net", test.net);
  if (test.loss) event.Add("loss", *test.loss);
  Write(event.Add("outputs", Outputs(test.outputs)));
}

void RunLog::OnCompression(const CompressionProgress& progress) {
  JsonObject event = Event("compression", progress.iteration);
  event.Add("raw", progress.raw_bytes)
      .Add("packed", progress.packed_bytes)
      .Add("ratio",
           static_cast<float>(progress.raw_bytes / progress.packed_bytes))
      .Add("share_of_time", static_cast<float>(progress.share_of_time));
  if (progress.worst >= 0) event.Add("worst", progress.worst);
  if (details_.IsDue(progress.iteration)) {
    event.Add("inputs", Inputs(progress.inputs));
  }
  Write(event);
}

void RunLog::OnBatchSize(const BatchSizeChange& change) {
  // Memory is another from now on.
  iterations_ = 0;
  Write(Event("batch_size", change.iteration)
            .Add("from", change.from)
            .Add("to", change.to)
            .Add("reason", change.reason));
}

void RunLog::OnAlarm(int iteration, const std::string& what) {
  Write(Event("alarm", iteration).Add("what", what));
}

void RunLog::OnSnapshot(int iteration, const std::string& model) {
  Write(Event("snapshot", iteration).Add("model", model));
}

void CopyPrototxts(const SolverParameter& param, const std::string& folder) {
  MakeFolder(folder);
  const auto open = [&](const std::string& name) {
    const std::string path = folder + "/" + name;
    std::ofstream file(path, std::ios::binary);
    Require(file.is_open(), "cannot write ", path, ": ", std::strerror(errno));
    return file;
  };
  open("used_solver.prototxt") << param.DebugString();
  const auto copy = [&](const std::string& from, const std::string& name) {
    std::ofstream to = open(name);
    std::ifstream file(from, std::ios::binary);
    Require(file.is_open(), "cannot read ", from, ": ", std::strerror(errno));
    // An empty buffer would count as an error.
    if (file.peek() != EOF) to << file.rdbuf();
  };
  if (param.has_net()) copy(param.net(), "used_net.prototxt");
  if (param.has_train_net()) {
    copy(param.train_net(), "used_train_net.prototxt");
  }
  for (int i = 0; i < param.test_net_size(); ++i) {
    copy(param.test_net(i), Concat("used_test_net_", i, ".prototxt"));
  }
}

}  // namespace caffe
