#include <glog/logging.h>
#include <omp.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>

#include "bench/measure.hpp"
#include "bench/samples.hpp"
#include "caffe/error.hpp"
#include "codec_measures.hpp"
#include "gflags/gflags.h"
#include "hwy/targets.h"
#include "tool.hpp"

DEFINE_string(codecs, "",
              "Only these, separated by commas: a codec, one of its variants, "
              "or a rival; all unless given.");
DEFINE_double(relative_bound, 0.1,
              "The bound, in standard deviations of each tensor.");
DEFINE_double(bound, -1,
              "The bound, absolute. Takes precedence over --relative_bound.");
DEFINE_string(csv, "", "Also write one line a tensor and codec to this file.");
DEFINE_int32(repeats, 5, "Times are the best of so many.");
DEFINE_int32(threads, 0,
             "How many 'all' threads are; 0 for as many as OpenMP chooses.");
DEFINE_int64(values, 0,
             "Tensors of about so many values: of files, a part from the "
             "middle; all of them, and 3200000 of generated ones, unless "
             "given.");
DEFINE_string(target, "",
              "Use this SIMD target, such as avx2 or sse4, and not the best of "
              "the machine; a wrong name lists those there are.");

namespace caffe {

namespace {

constexpr int64_t kGeneratedValues = 3200000;

constexpr char kUsage[] =
    R"(usage: codec_bench [FILE...] [flags]
Compresses and decompresses tensors with every codec, and with rivals whose
libraries were there when this program was built, and compares them: how much
smaller, how exact, how fast with one thread and with all, and how fast next to
plain copying of the same values, measured in the same run.

Files are tensors (.npy, or .f32 with the shape in the name, such as
conv1_64x96x55x55.f32) or folders of them. Without any, tensors are generated.
In parentheses, for reference: the order-0 entropy of the values quantised with
the same bound, and what zstd makes of them.

Examples:
  codec_bench
  codec_bench activations/ --relative_bound=0.01 --csv=bench.csv
  codec_bench conv1_64x96x55x55.f32 --codecs=sz,fp16,zfp --threads=2
  codec_bench activations/ --codecs=sz --values=16384 --target=avx2
)";

std::vector<std::string> TensorFiles(int argc, char** argv) {
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".npy" || extension == ".f32" || extension == ".f64") {
        inside.push_back(entry.path().string());
      }
    }
    Require(!inside.empty(), argv[i], " has no .npy, .f32 or .f64 files");
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

// Those that --codecs asks for.
Contenders Chosen() {
  Contenders all = MakeContenders();
  if (FLAGS_codecs.empty()) return all;
  Contenders chosen;
  std::istringstream names(FLAGS_codecs);
  for (std::string name; std::getline(names, name, ',');) {
    bool found = false;
    for (auto& contender : all) {
      if (!contender) continue;
      const std::string its = contender->name();
      if (its == name || its.starts_with(name + "-")) {
        chosen.push_back(std::move(contender));
        found = true;
      }
    }
    Require(found, "--codecs: there is no '", name, "'");
  }
  return chosen;
}

// Lets the codecs use the SIMD target --target alone.
void ChooseTarget() {
  if (FLAGS_target.empty()) return;
  std::string all;
  for (int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const int64_t target = left & -left;
    std::string name = hwy::TargetName(target);
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    if (name == FLAGS_target) {
      hwy::SetSupportedTargetsForTest(target);
      return;
    }
    all += (all.empty() ? "" : ", ") + name;
  }
  Fail("--target: this machine has no '", FLAGS_target, "'; it has ", all);
}

// A part of about `values` values from the middle of a tensor: whole images,
// or else whole channels of one, and so on.
Tensor Part(Tensor tensor, int64_t values) {
  if (values == 0 || tensor.count() <= static_cast<uint64_t>(values)) {
    return tensor;
  }
  codec::Shape shape = tensor.shape();
  int axis = 0;
  int64_t slice = shape.image_values();
  while (slice > values) {
    shape.extent[axis++] = 1;
    slice /= shape.extent[axis];
  }
  shape.extent[axis] = values / slice;
  Tensor part(shape, tensor.type());
  const size_t bytes = slice * codec::SizeOf(tensor.type());
  const size_t first = (tensor.bytes() - part.bytes()) / 2 / bytes;
  std::memcpy(part.data(), tensor.data() + first * bytes, part.bytes());
  return part;
}

double BoundFor(const Tensor& tensor) {
  const double bound = FLAGS_bound >= 0
                           ? FLAGS_bound
                           : FLAGS_relative_bound * StandardDeviation(tensor);
  // A constant tensor has no deviation; any bound does.
  return bound > 0 ? bound : 1e-6;
}

class Bench {
 public:
  Bench() : contenders_(Chosen()), threads_(omp_get_max_threads()) {}

  size_t contenders() const { return contenders_.size(); }

  void Run(const std::string& name, const Tensor& tensor, Progress* progress) {
    if (tensor.count() == 0) return;
    const double bound = BoundFor(tensor);
    for (size_t i = 0; i < contenders_.size(); ++i) {
      Contender& contender = *contenders_[i];
      if (contender.supports(tensor.type())) {
        const Measurement m =
            Measure(&contender, tensor, bound, FLAGS_repeats, threads_);
        csv_ += CsvLine(name, ShapeText(tensor.shape()), bound, threads_, m);
        const auto [total, is_new] = totals_.try_emplace(i, m);
        if (!is_new) total->second.Add(m);
      }
      progress->Add();
    }
  }

  void Report() const {
    std::vector<Measurement> totals;
    for (const auto& [index, total] : totals_) totals.push_back(total);
    std::cout << Table(totals, threads_);
    if (FLAGS_csv.empty()) return;
    const std::string text = CsvHeader() + csv_;
    WriteBytes({reinterpret_cast<const uint8_t*>(text.data()), text.size()},
               FLAGS_csv);
  }

 private:
  Contenders contenders_;
  const int threads_;
  std::map<size_t, Measurement> totals_;
  std::string csv_;
};

int Run(int argc, char** argv) {
  Require(FLAGS_threads >= 0, "--threads must not be negative");
  Require(FLAGS_repeats > 0, "--repeats must be positive");
  Require(FLAGS_values >= 0, "--values must not be negative");
  ChooseTarget();
  if (FLAGS_threads > 0) omp_set_num_threads(FLAGS_threads);
  const std::vector<std::string> files = TensorFiles(argc, argv);
  Bench bench;
  if (files.empty()) {
    const std::vector<Sample> samples =
        GeneratedSamples(FLAGS_values > 0 ? FLAGS_values : kGeneratedValues);
    Progress progress("measurements", samples.size() * bench.contenders());
    for (const Sample& sample : samples) {
      bench.Run(sample.name, sample.tensor, &progress);
    }
    progress.Finish();
  } else {
    Progress progress("measurements", files.size() * bench.contenders());
    for (const std::string& file : files) {
      bench.Run(std::filesystem::path(file).stem().string(),
                Part(ReadTensor(file), FLAGS_values), &progress);
    }
    progress.Finish();
  }
  bench.Report();
  return 0;
}

}  // namespace

}  // namespace caffe

int main(int argc, char** argv) {
  return caffe::RunTool("codec_bench", argc, argv, caffe::kUsage, caffe::Run);
}
