#include <algorithm>
#include <numeric>

#include "caffe/error.hpp"
#include "report/charts.hpp"
#include "report/page_parts.hpp"
#include "report/svg.hpp"

namespace caffe {

namespace {

// More curves than that nobody tells apart.
constexpr size_t kMostCurves = 8;

std::string Figure(const std::string& drawing, const std::string& caption = "",
                   const char* css_class = "") {
  if (drawing.empty()) return "";
  return Concat("<figure class=\"", css_class, "\">", drawing,
                caption.empty()
                    ? ""
                    : Concat("<figcaption>", Escaped(caption), "</figcaption>"),
                "</figure>\n");
}

std::string Section(const char* title, const std::string& figures) {
  if (figures.empty()) return "";
  return Concat("<h2>", title, "</h2>\n<div class=\"charts\">\n", figures,
                "</div>\n");
}

LineChart ChartOf(const RunHistory& run, const std::string& title) {
  LineChart chart;
  chart.title = title;
  chart.last_x = run.last_iteration;
  return chart;
}

void AddMarks(const RunHistory& run, LineChart* chart) {
  // A line would be everywhere.
  constexpr size_t kMost = 40;
  for (const char* const kind : {"alarm", "batch_size", "resume"}) {
    std::vector<Happening> marks;
    std::copy_if(run.happenings.begin(), run.happenings.end(),
                 std::back_inserter(marks),
                 [&](const Happening& h) { return h.kind == kind; });
    if (marks.size() > kMost) continue;
    chart->marks.insert(chart->marks.end(), marks.begin(), marks.end());
  }
}

std::string MarksCaption(const LineChart& chart) {
  return chart.marks.empty()
             ? ""
             : "Dashed lines: where training went on, batches changed, or the "
               "guard raised an alarm.";
}

// Draws a chart of one series.
std::string Single(const RunHistory& run, const std::string& title,
                   const Series& series, int colour, double factor = 1) {
  LineChart chart = ChartOf(run, title);
  Curve curve = {.name = title, .points = series.points, .colour = colour};
  for (Point& point : curve.points) point.y *= factor;
  curve.has_dots = true;
  chart.starts_at_zero = true;
  chart.curves.push_back(std::move(curve));
  return Figure(Draw(chart));
}

void AddOutputs(const std::vector<OutputHistory>& outputs, bool losses,
                const std::string& prefix, bool is_faint, LineChart* chart,
                size_t* left_out) {
  for (const OutputHistory& output : outputs) {
    if (output.is_loss != losses) continue;
    if (chart->curves.size() == kMostCurves) {
      ++*left_out;
      continue;
    }
    Curve& curve = chart->curves.emplace_back();
    curve.name = prefix + output.series.name;
    curve.points = output.series.points;
    curve.colour = static_cast<int>(chart->curves.size()) - 1;
    curve.is_faint = is_faint;
    curve.has_dots = !is_faint;
  }
}

std::string LeftOut(size_t left_out) {
  return left_out == 0 ? "" : Concat(left_out, " more are not shown.");
}

bool AreSame(const Series& a, const Series& b) {
  return std::equal(
      a.points.begin(), a.points.end(), b.points.begin(), b.points.end(),
      [](const Point& p, const Point& q) { return p.x == q.x && p.y == q.y; });
}

std::string LossChart(const RunHistory& run) {
  LineChart chart = ChartOf(run, "Loss");
  AddMarks(run, &chart);
  const bool is_smoothed = !AreSame(run.loss, run.smoothed_loss);
  chart.curves.push_back({.name = "training loss",
                          .points = run.loss.points,
                          .colour = 0,
                          .is_faint = is_smoothed});
  if (is_smoothed) {
    chart.curves.push_back({.name = "training loss, smoothed",
                            .points = run.smoothed_loss.points,
                            .colour = 0});
  }
  size_t left_out = 0;
  AddOutputs(run.test_outputs, true, "test ", false, &chart, &left_out);
  return Figure(Draw(chart), MarksCaption(chart) + LeftOut(left_out));
}

std::string AccuracyChart(const RunHistory& run) {
  LineChart chart = ChartOf(run, "Accuracy and other outputs");
  size_t left_out = 0;
  AddOutputs(run.test_outputs, false, "test ", false, &chart, &left_out);
  AddOutputs(run.train_outputs, false, "training ", true, &chart, &left_out);
  return Figure(Draw(chart), LeftOut(left_out));
}

std::string TrainLossesChart(const RunHistory& run) {
  const auto losses =
      std::count_if(run.train_outputs.begin(), run.train_outputs.end(),
                    [](const OutputHistory& output) { return output.is_loss; });
  if (losses < 2) return "";
  LineChart chart = ChartOf(run, "Losses of training, before their weights");
  size_t left_out = 0;
  AddOutputs(run.train_outputs, true, "", false, &chart, &left_out);
  return Figure(Draw(chart), LeftOut(left_out));
}

// The largest tensors one by one, and the others by their mean.
std::string InputsChart(const RunHistory& run, const std::string& title,
                        Series InputHistory::*series, bool has_rest) {
  constexpr size_t kShown = 6;
  std::vector<const InputHistory*> inputs;
  for (const InputHistory& input : run.inputs) inputs.push_back(&input);
  std::stable_sort(inputs.begin(), inputs.end(),
                   [](const InputHistory* a, const InputHistory* b) {
                     return a->raw_bytes > b->raw_bytes;
                   });
  LineChart chart = ChartOf(run, title);
  const size_t shown = std::min(inputs.size(), kShown);
  for (size_t i = 0; i < shown; ++i) {
    chart.curves.push_back({.name = inputs[i]->layer,
                            .points = (inputs[i]->*series).points,
                            .colour = static_cast<int>(i)});
  }
  const size_t rest = inputs.size() - shown;
  if (rest > 0 && has_rest) {
    // By iteration: sum and count.
    std::map<double, std::pair<double, int>> sums;
    for (size_t i = shown; i < inputs.size(); ++i) {
      for (const Point& point : (inputs[i]->*series).points) {
        sums[point.x].first += point.y;
        ++sums[point.x].second;
      }
    }
    Curve curve;
    curve.name = Concat("mean of ", rest, " others");
    curve.colour = 8;
    for (const auto& [x, sum] : sums) {
      curve.points.push_back({x, sum.first / sum.second});
    }
    chart.curves.push_back(std::move(curve));
  }
  const std::string caption =
      rest == 0 ? ""
                : Concat("The ", shown, " largest of ", inputs.size(),
                         "; all of them are in the table below.");
  return Figure(Draw(chart), caption);
}

bool Changes(const Series& series) {
  return std::any_of(
      series.points.begin(), series.points.end(),
      [&](const Point& point) { return point.y != series.points[0].y; });
}

}  // namespace

std::string TrainingCharts(const RunHistory& run) {
  std::string figures =
      LossChart(run) + AccuracyChart(run) + TrainLossesChart(run) +
      Single(run, "Learning rate", run.learning_rate, 4) +
      Single(run, "Images a second", run.images_per_second, 2);
  if (Changes(run.batch_size)) {
    figures += Single(run, "Images of a batch", run.batch_size, 5);
  }
  return Section("Training", figures);
}

std::string MemoryChart(const RunHistory& run) {
  if (!run.memory) return "";
  return Section(
      "Memory over one iteration",
      Figure(Draw(*run.memory),
             "Every buffer that the program knows of, when it was there. "
             "\u201cidle\u201d is memory that was used before and will be "
             "again. The mouse tells the layer.",
             "wide"));
}

std::string CompressionCharts(const RunHistory& run) {
  return Section(
      "Compression",
      Single(run, "Ratio of all that was packed", run.ratio, 0) +
          Single(run, "Time for packing and unpacking, in %", run.share_of_time,
                 1, 100) +
          InputsChart(run, "Ratio, by the layer that reads the tensor",
                      &InputHistory::ratio, /*has_rest=*/true) +
          InputsChart(run,
                      "Bound of errors, by the layer that reads the tensor",
                      &InputHistory::bound, /*has_rest=*/false));
}

}  // namespace caffe
