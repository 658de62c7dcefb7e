#include <glog/logging.h>
#include <omp.h>

#include <functional>
#include <iomanip>
#include <sstream>

#include "caffe/common.hpp"
#include "caffe_commands.hpp"
#include "tool.hpp"

DEFINE_string(gpu, "",
              "GPUs to run on: numbers separated by commas, or 'all'. Without "
              "it everything runs on the CPU.");
DEFINE_string(solver, "", "The solver's prototxt.");
DEFINE_string(model, "", "The net's prototxt.");
DEFINE_string(phase, "",
              "TRAIN or TEST: which layers of the net to time; TRAIN unless "
              "given.");
DEFINE_int32(level, 0, "The level of the net's state, for layers with rules.");
DEFINE_string(stage, "",
              "The stages of the net's state, separated by commas, for layers "
              "with rules.");
DEFINE_string(snapshot, "",
              "The .solverstate to resume from, or 'auto' for the newest good "
              "one under the solver's snapshot_prefix.");
DEFINE_string(weights, "",
              "Trained weights to start from: .caffemodel files separated by "
              "commas. Not together with --snapshot.");
DEFINE_string(compression, "",
              "Settings of the solver's compression { }, on top of its own: "
              "text such as 'error_bound { tolerance: 0.03 }', 'on' for the "
              "defaults, or 'off'.");
DEFINE_int32(iterations, 50, "How many batches to run.");
DEFINE_string(sigint_effect, "stop",
              "What SIGINT (Ctrl-C) does to training: stop (with a snapshot), "
              "snapshot, or none.");
DEFINE_string(sighup_effect, "snapshot",
              "What SIGHUP does to training: snapshot, stop, or none.");
DEFINE_int32(threads, 0,
             "Threads to compute with; 0 for as many as OpenMP chooses (one a "
             "processor, or OMP_NUM_THREADS).");
DEFINE_string(dump_activations, "",
              "A folder for what layers read in one iteration, as .npy files "
              "to try codecs on.");
DEFINE_int32(dump_at, 0, "The iteration that --dump_activations writes.");
DEFINE_int32(batch, 0,
             "Images of a batch; 0 for as many as the net's data layers say.");
DEFINE_string(shape, "",
              "The shape of one image, such as 3,224,224, where neither data "
              "nor crop_size tell it.");
DEFINE_string(memory_budget, "",
              "Memory for the whole process, such as 4GiB: the largest batch "
              "that fits is looked for.");
DEFINE_double(ratio, 10,
              "How many times smaller tensors get by packing, until --measure "
              "tells.");
DEFINE_bool(measure, false,
            "Runs one iteration, and corrects the forecast by what it took.");

DEFINE_string(run_dir, "",
              "A folder for a log of the run that 'caffe report' shows. A run "
              "that goes on from a snapshot goes on in the same folder.");
DEFINE_bool(tensorboard, false,
            "Writes curves for TensorBoard into --run_dir, too.");
DEFINE_string(output, "",
              "The page to write; report.html in the folder unless given.");

namespace caffe {

namespace {

struct Command {
  const char* name;
  std::function<int(const std::string& argument)> run;
  // What its only argument is called, when it takes one.
  const char* argument;
  const char* summary;
  const char* usage;
  std::vector<std::string> flags;
};

constexpr char kTrainUsage[] =
    R"(usage: caffe train --solver=FILE [--snapshot=FILE | --weights=FILES] [flags]
Trains the net that the solver's prototxt names, tests it, and writes snapshots
(.caffemodel and .solverstate) as the prototxt says.

A run that was stopped goes on from a snapshot as if nothing had happened.
--snapshot=auto finds the newest by itself, and starts from scratch when there
is none. On a terminal, the line at the bottom shows how far training is.

Examples:
  caffe train --solver=solver.prototxt
  caffe train --solver=solver.prototxt --snapshot=auto
  caffe train --solver=solver.prototxt --snapshot=lenet_iter_5000.solverstate
  caffe train --solver=finetune.prototxt --weights=vgg16.caffemodel
  caffe train --solver=solver.prototxt --compression='level: FAST'
  caffe train --solver=solver.prototxt --dump_activations=tensors --dump_at=500
  caffe train --solver=solver.prototxt --run_dir=runs/first --tensorboard
)";

constexpr char kTestUsage[] =
    R"(usage: caffe test --model=FILE --weights=FILES [--iterations=N] [flags]
Runs the net's TEST phase on N batches, and prints the mean of every output,
such as loss and accuracy.

Example:
  caffe test --model=train_val.prototxt --weights=lenet.caffemodel
)";

constexpr char kTimeUsage[] =
    R"(usage: caffe time --model=FILE | --solver=FILE [--iterations=N] [flags]
With a net, runs it forward and backward N times, and prints the mean times of
every layer and of the whole net.

With a solver, trains with its compression { } (the defaults if it has none) and
without, N iterations each, in turn, and prints how long an iteration takes:
what compression costs. The net is in memory twice.

Examples:
  caffe time --model=train_val.prototxt --iterations=10 --threads=2
  caffe time --solver=solver.prototxt --iterations=10
  caffe time --solver=solver.prototxt --compression='level: FAST'
)";

constexpr char kMemoryUsage[] =
    R"(usage: caffe memory --solver=FILE [--batch=N] [--memory_budget=BYTES] [flags]
Forecasts the memory that training takes: what is kept of every tensor from
Forward to Backward, the peak of the process, and the largest batch for a
budget. Each of them as stock Caffe would have it ("neither"), with memory only
for what is in use ("planned"), and compressed as well. The last line is the sum
that papers give, of the inputs of all convolutions (4 bytes a value, MB = 10^6).

No data are needed, but crop_size, or --shape, must tell how large images are.
With --measure, one iteration runs on the data, and the forecast takes over what
only a run can tell: how well tensors pack, and what kernels need.

Examples:
  caffe memory --solver=models/vgg16/solver.prototxt --batch=256
  caffe memory --solver=solver.prototxt --memory_budget=4GiB --measure
  caffe memory --model=train_val.prototxt --shape=3,32,32
)";

constexpr char kReportUsage[] =
    R"(usage: caffe report RUN_DIR [--output=FILE]
Makes a page of what 'caffe train --run_dir=RUN_DIR' has written so far: curves
of losses, accuracies and speed, memory over one iteration, ratios and bounds of
every layer, and tables. The page is one file for any browser and needs nothing
else.

Examples:
  caffe report runs/first
  caffe report runs/first --output=first.html
)";

constexpr char kDeviceQueryUsage[] =
    R"(usage: caffe device_query [--gpu=LIST]
Prints the properties of the GPUs.

Example:
  caffe device_query --gpu=all
)";

const std::vector<Command>& Commands() {
  const auto plain = [](int (*run)()) {
    return [run](const std::string& /*argument*/) { return run(); };
  };
  static const std::vector<Command> commands = {
      {"train",
       plain(Train),
       nullptr,
       "train a net, or go on training it",
       kTrainUsage,
       {"solver", "snapshot", "weights", "compression", "level", "stage",
        "sigint_effect", "sighup_effect", "threads", "gpu", "run_dir",
        "tensorboard", "dump_activations", "dump_at"}},
      {"test",
       plain(Test),
       nullptr,
       "score a trained net",
       kTestUsage,
       {"model", "weights", "iterations", "level", "stage", "threads", "gpu"}},
      {"time",
       plain(Time),
       nullptr,
       "measure how long every layer, or compression, takes",
       kTimeUsage,
       {"model", "solver", "compression", "iterations", "phase", "level",
        "stage", "threads", "gpu"}},
      {"memory",
       plain(Memory),
       nullptr,
       "forecast the memory of training, and the largest batch",
       kMemoryUsage,
       {"solver", "model", "batch", "shape", "memory_budget", "ratio",
        "measure", "threads", "gpu"}},
      {"report",
       Report,
       "RUN_DIR",
       "make a page of curves and tables of a run",
       kReportUsage,
       {"output"}},
      {"device_query",
       plain(DeviceQuery),
       nullptr,
       "show the GPUs",
       kDeviceQueryUsage,
       {"gpu"}}};
  return commands;
}

std::string CommandNames() {
  std::string names;
  for (const Command& command : Commands()) {
    names += (names.empty() ? "" : ", ") + std::string(command.name);
  }
  return names;
}

std::string GeneralUsage() {
  std::ostringstream usage;
  usage << "usage: caffe COMMAND [flags]\n\nCommands:\n";
  for (const Command& command : Commands()) {
    usage << "  " << std::left << std::setw(14) << command.name
          << command.summary << '\n';
  }
  usage << "\ncaffe COMMAND --help tells what a command does and which flags "
           "it takes.\n\n"
           "Example:\n"
           "  caffe train --solver=examples/mnist/lenet_solver.prototxt\n";
  return usage.str();
}

const Command* FindCommand(const std::string& name) {
  for (const Command& command : Commands()) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

// The command on the line, before the flags have been taken out of it.
const Command* FindCommand(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (const Command* const command = FindCommand(argv[i])) return command;
  }
  return nullptr;
}

int Run(int argc, char** argv) {
  Require(argc >= 2, "no command; use one of ", CommandNames(),
          " (caffe --help tells more)");
  const Command* const command = FindCommand(argv[1]);
  Require(command != nullptr, "unknown command '", argv[1], "'; use one of ",
          CommandNames(), " (caffe --help tells more)");
  const int expected = command->argument != nullptr ? 3 : 2;
  Require(argc >= expected, command->name, " needs a ",
          command->argument != nullptr ? command->argument : "", " (caffe ",
          command->name, " --help tells more)");
  Require(argc == expected, "unexpected argument '",
          argc > expected ? argv[expected] : "",
          "'; flags look like --solver=FILE (caffe ", command->name,
          " --help tells more)");
  Require(FLAGS_threads >= 0, "--threads must not be negative");
  if (FLAGS_threads > 0) omp_set_num_threads(FLAGS_threads);
  return command->run(expected == 3 ? argv[2] : "");
}

}  // namespace

Phase PhaseFromFlags(Phase otherwise) {
  if (FLAGS_phase.empty()) return otherwise;
  Phase phase;
  Require(Phase_Parse(FLAGS_phase, &phase), "--phase must be TRAIN or TEST, ",
          "not '", FLAGS_phase, "'");
  return phase;
}

void CheckIterations() {
  Require(FLAGS_iterations > 0, "--iterations must be positive, not ",
          FLAGS_iterations);
}

void ChooseDevice(bool wants_gpu) {
  if (wants_gpu || !FLAGS_gpu.empty()) {
    Caffe::set_mode(Caffe::GPU);
    return;
  }
  LOG(INFO) << "Use CPU.";
  Caffe::set_mode(Caffe::CPU);
}

int DeviceQuery() {
  Caffe::DeviceQuery();
  return 0;
}

}  // namespace caffe

int main(int argc, char** argv) {
  const caffe::Command* const command = caffe::FindCommand(argc, argv);
  if (command == nullptr) {
    return caffe::RunTool("caffe", argc, argv, caffe::GeneralUsage(),
                          caffe::Run);
  }
  return caffe::RunTool("caffe", argc, argv, command->usage, caffe::Run,
                        command->flags);
}
