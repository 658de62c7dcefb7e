#include "report/report_page.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "caffe/error.hpp"
#include "report/axis.hpp"
#include "report/page_parts.hpp"
#include "report/run_log_format.hpp"
#include "report/svg.hpp"
#include "util/atomic_file.hpp"

namespace caffe {

namespace {

std::string Status(const RunHistory& run) {
  const std::string iteration = ReadableNumber(run.last_iteration);
  std::string status =
      Concat("Unfinished; the last event is of iteration ", iteration, ".");
  std::string css_class = "status";
  if (run.end) {
    const std::string& outcome = (*run.end)["outcome"].Text();
    if (outcome == "done") {
      status = Concat("Done, after ", iteration, " iterations.");
    } else if (outcome == "failed") {
      css_class += " failed";
      status = Concat("Failed: ", (*run.end)["reason"].Text(), ".");
    } else {
      status = Concat("Stopped, after ", iteration, " iterations.");
    }
  }
  if (run.bad_lines > 0) {
    status +=
        Concat(" ", run.bad_lines, " line(s) of the log could not be read.");
  }
  return Concat("<p class=\"", css_class, "\">", Escaped(status), "</p>\n");
}

}  // namespace

std::string ReportPage(const RunHistory& run) {
  const std::string& net = run.start["net"].Text();
  const std::string title = net.empty() ? "A run" : "Run of " + net;
  return Concat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>",
      Escaped(title), "</title>\n<style>", PageStyle(),
      "</style>\n</head>\n<body>\n<main>\n<h1>", Escaped(title), "</h1>\n",
      Status(run), SummaryTiles(run), TrainingCharts(run), MemoryChart(run),
      CompressionCharts(run), InputTable(run), PeakTable(run),
      HappeningTable(run), Description(run), "</main>\n</body>\n</html>\n");
}

void WriteReport(const std::string& run_dir, const std::string& output) {
  const std::string log_name = run_dir + "/" + kRunLogName;
  std::error_code ignored;
  Require(std::filesystem::is_directory(run_dir, ignored),
          "there is no folder ", run_dir);
  Require(std::filesystem::is_regular_file(log_name, ignored), "there is no ",
          kRunLogName, " in ", run_dir,
          ": train with --run_dir to have one written");
  std::ifstream log(log_name, std::ios::binary);
  Require(log.is_open(), "cannot read ", log_name, ": ", std::strerror(errno));
  const std::string page = ReportPage(ReadRunLog(log, log_name));
  AtomicFile file(output);
  std::ofstream stream(file.temporary_name(), std::ios::binary);
  stream << page;
  stream.close();
  Require(stream.good(), "cannot write ", output);
  file.Commit();
}

}  // namespace caffe
