#include <algorithm>
#include <cmath>
#include <ctime>

#include "caffe/error.hpp"
#include "caffe/memory/bytes.hpp"
#include "report/axis.hpp"
#include "report/charts.hpp"
#include "report/page_parts.hpp"
#include "report/svg.hpp"
#include "util/text_table.hpp"

namespace caffe {

namespace {

using memory::ReadableBytes;

std::string Tile(const std::string& name, const std::string& value) {
  return Concat("<div class=\"tile\"><b>", Escaped(value), "</b><span>",
                Escaped(name), "</span></div>\n");
}

std::string Cell(const std::string& html, const char* css_class = "") {
  return Concat("<td class=\"", css_class, "\">", html, "</td>");
}

std::string TextCell(const std::string& text) {
  return Cell(Escaped(text), "text");
}

std::string Table(const std::vector<std::string>& heads, size_t text_columns,
                  const std::string& rows) {
  std::string html = "<div class=\"scroll\"><table>\n<tr>";
  for (size_t i = 0; i < heads.size(); ++i) {
    html += Concat("<th class=\"", i < text_columns ? "text" : "", "\">",
                   heads[i], "</th>");
  }
  return html + "</tr>\n" + rows + "</table></div>\n";
}

std::string Duration(double seconds) {
  const auto whole =
      static_cast<long long>(std::clamp(std::round(seconds), 0.0, 1e12));
  if (whole < 60) return Concat(whole, " s");
  if (whole < 3600) return Concat(whole / 60, " min ", whole % 60, " s");
  return Concat(whole / 3600, " h ", whole % 3600 / 60, " min");
}

std::string Date(double unix_time) {
  if (!(unix_time > 0 && unix_time < 1e11)) return "unknown";
  const auto seconds = static_cast<std::time_t>(unix_time);
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[64];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

double LastOf(const Series& series) {
  return series.points.empty() ? NAN : series.points.back().y;
}

std::string Number(const JsonValue& value) {
  const double number = value.Number(NAN);
  return std::isnan(number) ? "-" : Significant(number);
}

const InputHistory* Find(const RunHistory& run, const JsonValue& input) {
  for (const InputHistory& history : run.inputs) {
    if (history.layer == input["layer"].Text() &&
        history.tensor == input["tensor"].Text()) {
      return &history;
    }
  }
  return nullptr;
}

std::string Drawn(const Series* series, int colour) {
  return Cell(series == nullptr ? "" : DrawSmall(*series, colour));
}

std::string InputRow(const RunHistory& run, const JsonValue& input) {
  const double passes = std::max(1.0, input["passes"].Number(1));
  const double raw = input["raw"].Number(0);
  const double stored = input["stored"].Number(0);
  const bool is_packed = input["kept"].Text() == "packed";
  const InputHistory* const history = is_packed ? Find(run, input) : nullptr;
  const std::string& layer = input["layer"].Text();
  std::string row =
      TextCell(layer.empty() ? "-" : layer) + TextCell(input["tensor"].Text()) +
      TextCell(is_packed ? input["codec"].Text() : input["kept"].Text());
  if (input["counted_before"].Bool()) {
    row += Cell("&quot;") + Cell("&quot;") + Cell("&quot;") + Cell("");
  } else {
    row += Cell(ReadableBytes(raw / passes)) +
           Cell(ReadableBytes(stored / passes)) +
           Cell(stored > 0 ? Fixed(raw / stored, 2) : "-") +
           Drawn(history == nullptr ? nullptr : &history->ratio, 0);
  }
  row += Cell(is_packed ? Number(input["bound"]) : "-") +
         Drawn(history == nullptr ? nullptr : &history->bound, 1) +
         Cell(Number(input["worst"])) + Cell(Number(input["sigma_predicted"])) +
         Cell(Number(input["sigma_measured"])) +
         Cell(Fixed(1e3 * input["pack_seconds"].Number(0) / passes, 2)) +
         Cell(Fixed(1e3 * input["unpack_seconds"].Number(0) / passes, 2));
  return Concat("<tr>", row, "</tr>\n");
}

std::string Details(const std::string& summary, const std::string& html) {
  return Concat("<details><summary>", Escaped(summary), "</summary>\n", html,
                "</details>\n");
}

std::string ShapeOf(const JsonValue& top) {
  std::string shape = top["name"].Text();
  const char* separator = " ";
  for (const JsonValue& extent : top["shape"].items()) {
    shape +=
        Concat(separator,
               static_cast<int64_t>(std::clamp(extent.Number(0), 0.0, 1e15)));
    separator = "x";
  }
  return shape;
}

std::string LayerTable(const RunHistory& run) {
  std::string rows;
  for (const JsonValue& layer : run.start["layers"].items()) {
    std::string tops;
    for (const JsonValue& top : layer["tops"].items()) {
      tops += (tops.empty() ? "" : ", ");
      tops += ShapeOf(top);
    }
    rows +=
        Concat("<tr>", TextCell(layer["name"].Text()),
               TextCell(layer["type"].Text()), TextCell(tops),
               Cell(ReadableNumber(layer["parameters"].Number(0))), "</tr>\n");
  }
  return Table({"layer", "type", "tops", "parameters"}, 3, rows);
}

}  // namespace

std::string SummaryTiles(const RunHistory& run) {
  std::string tiles =
      Tile(Concat("of ", ReadableNumber(run.start["max_iter"].Number(NAN)),
                  " iterations"),
           ReadableNumber(run.last_iteration));
  tiles += Tile("in training", Duration(run.seconds));
  if (!run.smoothed_loss.points.empty()) {
    tiles += Tile("training loss", ReadableNumber(LastOf(run.smoothed_loss)));
  }
  constexpr size_t kMostOutputs = 6;
  for (size_t i = 0; i < std::min(run.test_outputs.size(), kMostOutputs); ++i) {
    const Series& series = run.test_outputs[i].series;
    tiles += Tile("test " + series.name, ReadableNumber(LastOf(series)));
  }
  if (!run.images_per_second.points.empty()) {
    tiles += Tile("images a second",
                  ReadableNumber(std::round(LastOf(run.images_per_second))));
  }
  if (!run.ratio.points.empty()) {
    tiles += Tile("ratio of what was packed", Fixed(LastOf(run.ratio), 2));
    tiles += Tile("of the time for packing",
                  Fixed(100 * LastOf(run.share_of_time), 1) + " %");
  }
  if (run.end && (*run.end)["process_peak"].Number(0) > 0) {
    tiles += Tile("the process at its peak",
                  ReadableBytes((*run.end)["process_peak"].Number(0)));
  }
  return Concat("<div class=\"tiles\">\n", tiles, "</div>\n");
}

std::string InputTable(const RunHistory& run) {
  const bool has_end = run.end && !(*run.end)["inputs"].items().empty();
  const JsonValue& inputs = has_end ? (*run.end)["inputs"] : run.last_inputs;
  std::string rows;
  for (const JsonValue& input : inputs.items()) rows += InputRow(run, input);
  if (rows.empty()) return "";
  return Concat(
      "<h2>What became of the activations, in a pass</h2>\n",
      Table({"read by", "tensor", "kept as", "raw", "stored", "ratio",
             "over time", "bound", "over time", "error/bound",
             "sigma predicted", "sigma measured", "pack ms", "unpack ms"},
            3, rows));
}

std::string PeakTable(const RunHistory& run) {
  if (!run.end) return "";
  const JsonValue& peak = (*run.end)["memory_peak"];
  std::vector<std::pair<double, std::string>> kinds;
  double total = 0;
  for (size_t i = 0; i < peak.names().size(); ++i) {
    const double bytes = peak.items()[i].Number(0);
    if (bytes <= 0) continue;
    kinds.push_back({bytes, peak.names()[i]});
    total += bytes;
  }
  std::sort(kinds.rbegin(), kinds.rend());
  std::string rows;
  for (const auto& [bytes, name] : kinds) {
    rows += Concat("<tr>", TextCell(name), Cell(ReadableBytes(bytes)),
                   Cell(Fixed(100 * bytes / total, 1) + " %"), "</tr>\n");
  }
  if (rows.empty()) return "";
  rows += Concat("<tr>", TextCell("all buffers"), Cell(ReadableBytes(total)),
                 Cell(""), "</tr>\n<tr>", TextCell("the process"),
                 Cell(ReadableBytes((*run.end)["process_peak"].Number(0))),
                 Cell(""), "</tr>\n");
  return "<h2>Memory at its peak</h2>\n" +
         Table({"for", "bytes", "share"}, 1, rows);
}

std::string HappeningTable(const RunHistory& run) {
  constexpr size_t kMost = 200;
  if (run.happenings.empty()) return "";
  const size_t first =
      run.happenings.size() - std::min(run.happenings.size(), kMost);
  std::string rows;
  for (size_t i = first; i < run.happenings.size(); ++i) {
    const Happening& happening = run.happenings[i];
    rows += Concat("<tr>", TextCell(ReadableNumber(happening.iteration)),
                   TextCell(happening.kind == "batch_size" ? "batch size"
                                                           : happening.kind),
                   Cell(Escaped(happening.text), "text long"), "</tr>\n");
  }
  return Concat("<h2>What happened",
                first > 0 ? Concat(", the last ", kMost) : std::string(),
                "</h2>\n", Table({"iteration", "what", ""}, 3, rows));
}

std::string Description(const RunHistory& run) {
  std::string rows;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (value.empty()) return;
    rows += Concat("<tr>", TextCell(name), Cell(Escaped(value), "text long"),
                   "</tr>\n");
  };
  const JsonValue& machine = run.start["machine"];
  add("command", run.start["command"].Text());
  add("began", Date(run.begin_time));
  add("last event", Date(run.last_time));
  add("host", machine["host"].Text());
  add("system", machine["system"].Text());
  add("processor", machine["processor"].Text());
  add("processors", ReadableNumber(machine["processors"].Number(0)));
  add("threads", ReadableNumber(machine["threads"].Number(0)));
  add("memory", ReadableBytes(machine["memory"].Number(0)));
  add("images of an iteration",
      ReadableNumber(run.start["batch_size"].Number(0)));
  return "<h2>The run</h2>\n" + Table({"", ""}, 2, rows) +
         Details(
             "the solver's settings",
             Concat("<pre>", Escaped(run.start["solver"].Text()), "</pre>\n")) +
         Details(Concat("the net's ", run.start["layers"].items().size(),
                        " layers"),
                 LayerTable(run));
}

}  // namespace caffe
