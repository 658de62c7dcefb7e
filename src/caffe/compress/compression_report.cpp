#include "compress/compression_report.hpp"

#include <algorithm>
#include <utility>

#include "util/text_table.hpp"

namespace caffe {

namespace {

std::string Megabytes(double bytes) { return Fixed(bytes / 1e6, 2) + " MB"; }

std::string Milliseconds(double seconds) {
  return Fixed(seconds * 1e3, 2) + " ms";
}

// Tensor, kept, codec, bound, error/bound.
std::vector<std::string> FormOf(const LayerInput& input) {
  const bool is_packed = input.kept == "packed";
  return {input.tensor, input.kept, is_packed ? input.codec : "-",
          is_packed ? Significant(input.bound) : "-",
          is_packed && input.worst >= 0 ? Fixed(input.worst, 3) : "-"};
}

// Sigma predicted, sigma measured.
std::vector<std::string> TextOf(const std::optional<GradientSigma>& sigma) {
  if (!sigma) return {"-", "-"};
  return {Significant(sigma->predicted), Significant(sigma->measured)};
}

// Raw, stored, ratio, pack, unpack.
std::vector<std::string> CostsOf(const LayerInput& input) {
  // What was stored once is counted once.
  if (input.is_counted_before) return std::vector<std::string>(5, "\"");
  const auto passes = static_cast<double>(input.passes);
  return {
      Megabytes(input.raw_bytes / passes), Megabytes(input.kept_bytes / passes),
      input.kept_bytes > 0 ? Fixed(input.raw_bytes / input.kept_bytes, 2) : "-",
      Milliseconds(input.pack_seconds / passes),
      Milliseconds(input.unpack_seconds / passes)};
}

template <typename... Parts>
std::vector<std::string> RowOf(const std::string& layer,
                               const Parts&... parts) {
  std::vector<std::string> row = {layer};
  (row.insert(row.end(), parts.begin(), parts.end()), ...);
  return row;
}

LayerInput InputOf(const ActivationReport& report) {
  LayerInput input;
  input.tensor = report.name;
  input.kept = report.kept;
  input.codec = report.codec;
  input.bound = report.bound;
  input.worst = report.worst;
  input.passes = report.times;
  input.raw_bytes = static_cast<double>(report.raw_bytes);
  input.kept_bytes = static_cast<double>(report.kept_bytes);
  input.pack_seconds = report.pack_seconds;
  input.unpack_seconds = report.unpack_seconds;
  return input;
}

// What a report says more than it said before.
ActivationReport Minus(ActivationReport report,
                       const ActivationReport& before) {
  // The tensor is another since the batch has changed.
  if (before.times > report.times) return report;
  report.times -= before.times;
  report.raw_bytes -= before.raw_bytes;
  report.kept_bytes -= before.kept_bytes;
  report.pack_seconds -= before.pack_seconds;
  report.unpack_seconds -= before.unpack_seconds;
  return report;
}

}  // namespace

std::vector<LayerInput> InputsOf(
    const std::vector<ActivationReport>& activations,
    const std::vector<std::string>& layer_names, const SigmaOf& sigma_of) {
  std::vector<LayerInput> inputs;
  for (const ActivationReport& report : activations) {
    if (report.readers.empty()) inputs.push_back(InputOf(report));
    for (const int layer : report.readers) {
      LayerInput& input = inputs.emplace_back(InputOf(report));
      input.layer = layer_names[layer];
      input.sigma = sigma_of(layer);
      input.is_counted_before = layer != report.readers.front();
    }
  }
  return inputs;
}

CompressionProgress CompressionReport::Next(
    const std::vector<ActivationReport>& activations) {
  const auto now = std::chrono::steady_clock::now();
  const double elapsed =
      std::chrono::duration<double>(now - std::exchange(time_, now)).count();
  CompressionProgress progress;
  double seconds = 0;
  added_.clear();
  for (const ActivationReport& report : activations) {
    ActivationReport& before = before_[report.name];
    const ActivationReport& added = added_.emplace_back(Minus(report, before));
    before = report;
    seconds += added.pack_seconds + added.unpack_seconds;
    if (report.kept != "packed") continue;
    progress.raw_bytes += static_cast<double>(added.raw_bytes);
    progress.packed_bytes += static_cast<double>(added.kept_bytes);
    progress.worst = std::max(progress.worst, report.worst);
  }
  if (elapsed > 0) progress.share_of_time = seconds / elapsed;
  return progress;
}

void LogProgress(const CompressionProgress& progress) {
  if (progress.packed_bytes <= 0) return;
  LOG(INFO) << "    Compression: " << Megabytes(progress.raw_bytes) << " -> "
            << Megabytes(progress.packed_bytes) << ", ratio "
            << Fixed(progress.raw_bytes / progress.packed_bytes, 2)
            << ", worst error "
            << (progress.worst < 0 ? "not measured"
                                   : Fixed(progress.worst, 3) + " of its bound")
            << ", " << Fixed(100 * progress.share_of_time, 1)
            << " % of the time";
}

void LogInputs(const std::vector<LayerInput>& inputs) {
  TextTable table(4);
  table.Add({"read by", "tensor", "kept", "codec", "bound", "error/bound",
             "sigma predicted", "sigma measured", "raw", "stored", "ratio",
             "pack", "unpack"});
  for (const LayerInput& input : inputs) {
    table.Add(RowOf(input.layer.empty() ? "-" : input.layer, FormOf(input),
                    TextOf(input.sigma), CostsOf(input)));
  }
  LOG(INFO) << "What became of the activations, in a pass:";
  for (const std::string& line : table.Lines()) LOG(INFO) << "    " << line;
}

}  // namespace caffe
