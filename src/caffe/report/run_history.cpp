#include "report/run_history.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "caffe/error.hpp"
#include "report/run_log_format.hpp"

namespace caffe {

namespace {

// A memory event of more samples than any run writes is cut.
constexpr size_t kMostSamples = 100000;

class Reader {
 public:
  Reader(std::istream& log, std::string name)
      : log_(log), name_(std::move(name)) {}

  RunHistory Read() {
    for (std::string line; std::getline(log_, line);) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      const std::optional<JsonValue> event = JsonValue::Parse(line);
      const bool is_event = event && !(*event)["event"].Text().empty() &&
                            std::isfinite((*event)["iteration"].Number(NAN));
      if (!is_event) {
        ++run_.bad_lines;
        continue;
      }
      ++run_.events;
      ReadEvent(*event);
    }
    Require(run_.events > 0, name_,
            run_.bad_lines > 0 ? " is no log of a run"
                               : " is empty: the run has written nothing yet");
    Require(has_start_, name_,
            " is no log of a run: nothing in it says what is trained");
    run_.seconds = before_ + seconds_;
    return std::move(run_);
  }

 private:
  void ReadEvent(const JsonValue& event) {
    const std::string& kind = event["event"].Text();
    const double iteration = event["iteration"].Number(0);
    if (kind == "run") {
      ReadStart(event, iteration);
    }
    run_.last_iteration = std::max(run_.last_iteration, iteration);
    run_.last_time = event["time"].Number(run_.last_time);
    if (run_.begin_time == 0) run_.begin_time = run_.last_time;
    seconds_ = event["seconds"].Number(seconds_);
    if (kind == "display") ReadDisplay(event, iteration);
    if (kind == "test") ReadTest(event, iteration);
    if (kind == "compression") ReadCompression(event, iteration);
    if (kind == "memory") ReadMemory(event, iteration);
    if (kind == "end") run_.end = event;
    if (kind == "alarm") Note(iteration, kind, event["what"].Text());
    if (kind == "snapshot") Note(iteration, kind, event["model"].Text());
    if (kind == "batch_size") {
      Note(iteration, kind,
           Concat(event["from"].Number(0), " -> ", event["to"].Number(0), ": ",
                  event["reason"].Text()));
    }
  }

  void ReadStart(const JsonValue& event, double iteration) {
    const double version = event["version"].Number(0);
    Require(version >= 1, name_, " is no log of a run: it has no version");
    Require(version <= kRunLogVersion, name_, " is of version ", version,
            ", and this program reads up to version ", kRunLogVersion);
    if (has_start_) DropFrom(iteration);
    if (has_start_ && iteration > 0) {
      Note(iteration, "resume", "training goes on");
    }
    if (iteration <= 0) {
      run_.begin_time = event["time"].Number(0);
      before_ = 0;
    } else {
      before_ += seconds_;
    }
    seconds_ = 0;
    has_start_ = true;
    run_.start = event;
    run_.end.reset();
  }

  void DropFrom(double iteration) {
    for (Series* series : {&run_.loss, &run_.smoothed_loss, &run_.learning_rate,
                           &run_.images_per_second, &run_.batch_size,
                           &run_.ratio, &run_.share_of_time, &run_.worst}) {
      series->DropFrom(iteration);
    }
    for (auto* outputs : {&run_.train_outputs, &run_.test_outputs}) {
      for (OutputHistory& output : *outputs) output.series.DropFrom(iteration);
      std::erase_if(*outputs, [](const OutputHistory& output) {
        return output.series.points.empty();
      });
    }
    for (InputHistory& input : run_.inputs) {
      input.bound.DropFrom(iteration);
      input.ratio.DropFrom(iteration);
    }
    std::erase_if(run_.inputs, [](const InputHistory& input) {
      return input.bound.points.empty();
    });
    index_of_.clear();
    for (size_t i = 0; i < run_.inputs.size(); ++i) {
      index_of_[run_.inputs[i].layer + '\n' + run_.inputs[i].tensor] = i;
    }
    std::erase_if(run_.happenings, [&](const Happening& happening) {
      return happening.iteration > iteration ||
             (happening.iteration == iteration && happening.kind != "snapshot");
    });
    if (iteration <= 0) run_.memory.reset();
    run_.last_iteration = std::min(run_.last_iteration, iteration);
  }

  void ReadDisplay(const JsonValue& event, double iteration) {
    AddTo(&run_.loss, event["loss"], iteration);
    AddTo(&run_.smoothed_loss, event["smoothed_loss"], iteration);
    AddTo(&run_.learning_rate, event["learning_rate"], iteration);
    AddTo(&run_.batch_size, event["batch_size"], iteration);
    AddTo(&run_.images_per_second, event["images_per_second"], iteration);
    AddOutputs(event["outputs"], "", iteration, &run_.train_outputs);
  }

  void ReadTest(const JsonValue& event, double iteration) {
    const double net = event["net"].Number(0);
    const std::string prefix = net == 0 ? std::string() : Concat("#", net, " ");
    AddOutputs(event["outputs"], prefix, iteration, &run_.test_outputs);
    if (event["loss"].kind() != JsonValue::Kind::kNull) {
      OutputHistory& total = Find(prefix + "total loss", &run_.test_outputs);
      total.is_loss = true;
      AddTo(&total.series, event["loss"], iteration);
    }
  }

  void ReadCompression(const JsonValue& event, double iteration) {
    AddTo(&run_.ratio, event["ratio"], iteration);
    AddTo(&run_.share_of_time, event["share_of_time"], iteration);
    AddTo(&run_.worst, event["worst"], iteration);
    if (event["inputs"].items().empty()) return;
    run_.last_inputs = event["inputs"];
    for (const JsonValue& input : event["inputs"].items()) {
      if (input["kept"].Text() != "packed") continue;
      InputHistory& history = InputOf(input);
      const double raw = input["raw"].Number(0);
      const double stored = input["stored"].Number(0);
      const double passes = std::max(1.0, input["passes"].Number(1));
      history.bound.Add(iteration, input["bound"].Number(NAN));
      history.ratio.Add(iteration, stored > 0 ? raw / stored : NAN);
      history.raw_bytes = raw / passes;
    }
  }

  void ReadMemory(const JsonValue& event, double iteration) {
    MemoryHistory memory;
    memory.iteration = iteration;
    memory.microseconds = event["microseconds"].Number(0);
    for (const JsonValue& kind : event["kinds"].items()) {
      memory.kinds.push_back(kind.Text());
    }
    double last = 0;
    for (const JsonValue& row : event["samples"].items()) {
      if (row.items().size() != memory.kinds.size() + 1 ||
          memory.samples.size() == kMostSamples) {
        break;
      }
      MemoryHistory::Sample& sample = memory.samples.emplace_back();
      last = std::max(last, row.items()[0].Number(last));
      sample.microseconds = last;
      for (size_t i = 1; i < row.items().size(); ++i) {
        const double bytes = row.items()[i].Number(0);
        sample.bytes.push_back(std::isfinite(bytes) ? std::max(0.0, bytes) : 0);
      }
    }
    last = 0;
    for (const JsonValue& row : event["layers"].items()) {
      if (row.items().size() != 4 || memory.layers.size() == kMostSamples) {
        break;
      }
      last = std::max(last, row.items()[0].Number(last));
      memory.layers.push_back({last, row.items()[1].Text() == "backward",
                               row.items()[2].Text(),
                               row.items()[3].Number(0)});
    }
    const bool is_usable = !memory.kinds.empty() && !memory.samples.empty() &&
                           std::isfinite(memory.microseconds) &&
                           memory.microseconds > 0;
    if (is_usable) run_.memory = std::move(memory);
  }

  // Nothing when the event does not have it.
  static void AddTo(Series* series, const JsonValue& value, double iteration) {
    if (value.kind() == JsonValue::Kind::kNull) return;
    series->Add(iteration, value.Number(NAN));
  }

  void AddOutputs(const JsonValue& outputs, const std::string& prefix,
                  double iteration, std::vector<OutputHistory>* histories) {
    for (const JsonValue& output : outputs.items()) {
      OutputHistory& history = Find(prefix + output["name"].Text(), histories);
      history.is_loss = output["loss_weight"].Number(0) != 0;
      history.series.Add(iteration, output["value"].Number(NAN));
    }
  }

  static OutputHistory& Find(const std::string& name,
                             std::vector<OutputHistory>* histories) {
    for (OutputHistory& history : *histories) {
      if (history.series.name == name) return history;
    }
    OutputHistory& history = histories->emplace_back();
    history.series.name = name;
    return history;
  }

  InputHistory& InputOf(const JsonValue& input) {
    const std::string& layer = input["layer"].Text();
    const std::string& tensor = input["tensor"].Text();
    const auto [found, is_new] =
        index_of_.try_emplace(layer + '\n' + tensor, run_.inputs.size());
    if (is_new) {
      InputHistory& history = run_.inputs.emplace_back();
      history.layer = layer;
      history.tensor = tensor;
    }
    return run_.inputs[found->second];
  }

  void Note(double iteration, const std::string& kind,
            const std::string& text) {
    run_.happenings.push_back({iteration, kind, text});
  }

  std::istream& log_;
  const std::string name_;
  RunHistory run_;
  bool has_start_ = false;
  // Of this process so far, and of those before.
  double seconds_ = 0;
  double before_ = 0;
  // Of inputs, by layer and tensor.
  std::unordered_map<std::string, size_t> index_of_;
};

}  // namespace

RunHistory ReadRunLog(std::istream& log, const std::string& name) {
  return Reader(log, name).Read();
}

}  // namespace caffe
