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

// What one layer reads of one tensor.
std::vector<std::string> RowOf(const ActivationReport& report,
                               const std::string& layer) {
  const auto times = static_cast<double>(report.times);
  const auto raw = static_cast<double>(report.raw_bytes);
  const auto kept = static_cast<double>(report.kept_bytes);
  const bool is_packed = report.kept == "packed";
  return {layer,
          report.name,
          report.kept,
          is_packed ? report.codec : "-",
          is_packed ? Significant(report.bound) : "-",
          is_packed && report.worst >= 0 ? Fixed(report.worst, 3) : "-",
          Megabytes(raw / times),
          Megabytes(kept / times),
          kept > 0 ? Fixed(raw / kept, 2) : "-",
          Milliseconds(report.pack_seconds / times),
          Milliseconds(report.unpack_seconds / times)};
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
                    const std::vector<std::string>& layer_names) {
  TextTable table(4);
  table.Add({"read by", "tensor", "kept", "codec", "bound", "error/bound",
             "raw", "stored", "ratio", "pack", "unpack"});
  for (const ActivationReport& report : activations) {
    if (report.readers.empty()) table.Add(RowOf(report, "-"));
    for (size_t i = 0; i < report.readers.size(); ++i) {
      const std::string& layer = layer_names[report.readers[i]];
      if (i == 0) {
        table.Add(RowOf(report, layer));
      } else {
        table.Add({layer, report.name, "as above"});
      }
    }
  }
  LOG(INFO) << "What became of the activations, in a pass:";
  for (const std::string& line : table.Lines()) LOG(INFO) << "    " << line;
}

}  // namespace caffe
