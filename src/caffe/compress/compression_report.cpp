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
std::vector<std::string> FormOf(const ActivationReport& report) {
  const bool is_packed = report.kept == "packed";
  return {report.name, report.kept, is_packed ? report.codec : "-",
          is_packed ? Significant(report.bound) : "-",
          is_packed && report.worst >= 0 ? Fixed(report.worst, 3) : "-"};
}

// Sigma predicted, sigma measured.
std::vector<std::string> TextOf(const std::optional<GradientSigma>& sigma) {
  if (!sigma) return {"-", "-"};
  return {Significant(sigma->predicted), Significant(sigma->measured)};
}

// Raw, stored, ratio, pack, unpack.
std::vector<std::string> CostsOf(const ActivationReport& report) {
  const auto times = static_cast<double>(report.times);
  const auto raw = static_cast<double>(report.raw_bytes);
  const auto kept = static_cast<double>(report.kept_bytes);
  return {Megabytes(raw / times), Megabytes(kept / times),
          kept > 0 ? Fixed(raw / kept, 2) : "-",
          Milliseconds(report.pack_seconds / times),
          Milliseconds(report.unpack_seconds / times)};
}

template <typename... Parts>
std::vector<std::string> RowOf(const std::string& layer,
                               const Parts&... parts) {
  std::vector<std::string> row = {layer};
  (row.insert(row.end(), parts.begin(), parts.end()), ...);
  return row;
}

}  // namespace

CompressionReport::Totals CompressionReport::TotalsOf(
    const std::vector<ActivationReport>& activations) {
  Totals totals = {.time = std::chrono::steady_clock::now()};
  for (const ActivationReport& report : activations) {
    totals.seconds += report.pack_seconds + report.unpack_seconds;
    if (report.kept != "packed") continue;
    totals.raw += static_cast<double>(report.raw_bytes);
    totals.kept += static_cast<double>(report.kept_bytes);
    totals.worst = std::max(totals.worst, report.worst);
  }
  return totals;
}

void CompressionReport::LogProgress(
    const std::vector<ActivationReport>& activations) {
  const Totals now = TotalsOf(activations);
  const Totals before = std::exchange(last_, now);
  const double kept = now.kept - before.kept;
  if (kept <= 0) return;
  const double raw = now.raw - before.raw;
  const double elapsed =
      std::chrono::duration<double>(now.time - before.time).count();
  LOG(INFO) << "    Compression: " << Megabytes(raw) << " -> "
            << Megabytes(kept) << ", ratio " << Fixed(raw / kept, 2)
            << ", worst error "
            << (now.worst < 0 ? "not measured"
                              : Fixed(now.worst, 3) + " of its bound")
            << ", " << Fixed(100 * (now.seconds - before.seconds) / elapsed, 1)
            << " % of the time";
}

void LogActivations(const std::vector<ActivationReport>& activations,
                    const std::vector<std::string>& layer_names,
                    const SigmaOf& sigma_of) {
  TextTable table(4);
  table.Add({"read by", "tensor", "kept", "codec", "bound", "error/bound",
             "sigma predicted", "sigma measured", "raw", "stored", "ratio",
             "pack", "unpack"});
  for (const ActivationReport& report : activations) {
    if (report.readers.empty()) {
      table.Add(
          RowOf("-", FormOf(report), TextOf(std::nullopt), CostsOf(report)));
    }
    for (const int layer : report.readers) {
      // What was stored once is counted once.
      const bool is_first = layer == report.readers.front();
      const std::vector<std::string> repeated(5, "\"");
      table.Add(RowOf(layer_names[layer], FormOf(report),
                      TextOf(sigma_of(layer)),
                      is_first ? CostsOf(report) : repeated));
    }
  }
  LOG(INFO) << "What became of the activations, in a pass:";
  for (const std::string& line : table.Lines()) LOG(INFO) << "    " << line;
}

}  // namespace caffe
