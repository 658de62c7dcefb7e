#include <algorithm>
#include <cmath>
#include <numeric>

#include "caffe/error.hpp"
#include "caffe/memory/bytes.hpp"
#include "report/chart_frame.hpp"
#include "report/charts.hpp"

namespace caffe {

namespace {

constexpr double kPlotHeight = 300;
constexpr size_t kMostSteps = 700;
constexpr double kMegabyte = 1e6;

using Sample = MemoryHistory::Sample;

double TotalOf(const Sample& sample) {
  return std::accumulate(sample.bytes.begin(), sample.bytes.end(), 0.0);
}

// The largest sample of every short span, so that no peak is lost.
std::vector<Sample> Coarse(const MemoryHistory& memory) {
  std::vector<Sample> coarse;
  const double span = memory.microseconds / kMostSteps;
  double span_end = 0;
  for (const Sample& sample : memory.samples) {
    if (coarse.empty() || sample.microseconds >= span_end) {
      coarse.push_back(sample);
      span_end = (std::floor(sample.microseconds / span) + 1) * span;
    } else if (TotalOf(sample) >= TotalOf(coarse.back())) {
      const double start = coarse.back().microseconds;
      coarse.back() = sample;
      coarse.back().microseconds = start;
    }
  }
  return coarse;
}

// What stays the same goes to the bottom.
std::vector<size_t> OrderOf(const MemoryHistory& memory) {
  const std::vector<std::string> known = {
      "parameters",          "optimizer", "data",   "other",
      "parameter gradients", "workspace", "packed", "activations",
      "gradients",           "idle"};
  std::vector<size_t> order;
  for (size_t kind = 0; kind < memory.kinds.size(); ++kind) {
    const bool is_used = std::any_of(
        memory.samples.begin(), memory.samples.end(),
        [&](const Sample& sample) { return sample.bytes[kind] > 0; });
    if (is_used) order.push_back(kind);
  }
  const auto place = [&](size_t kind) {
    return std::find(known.begin(), known.end(), memory.kinds[kind]) -
           known.begin();
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return place(a) < place(b); });
  return order;
}

// The outline of one kind, on top of those below it. Memory changes in steps.
std::vector<Point> Outline(const std::vector<Sample>& samples, double end,
                           const std::vector<double>& below, size_t kind,
                           const ChartFrame& frame) {
  std::vector<Point> upper;
  std::vector<Point> lower;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double from = samples[i].microseconds / 1e3;
    const double to =
        (i + 1 < samples.size() ? samples[i + 1].microseconds : end) / 1e3;
    const double low = below[i] / kMegabyte;
    const double high = (below[i] + samples[i].bytes[kind]) / kMegabyte;
    for (const double x : {from, to}) {
      upper.push_back(frame.At(x, high));
      lower.push_back(frame.At(x, low));
    }
  }
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  return upper;
}

void DrawLayers(const MemoryHistory& memory, const std::vector<Sample>& samples,
                ChartFrame* frame) {
  const auto x_of = [&](double microseconds) {
    return frame->At(microseconds / 1e3, 0).x;
  };
  double backward_from = memory.microseconds;
  size_t next_sample = 0;
  double now = samples.empty() ? 0 : TotalOf(samples[0]);
  for (size_t i = 0; i < memory.layers.size(); ++i) {
    const MemoryHistory::LayerSpan& span = memory.layers[i];
    const double end = i + 1 < memory.layers.size()
                           ? memory.layers[i + 1].microseconds
                           : memory.microseconds;
    if (span.is_backward) {
      backward_from = std::min(backward_from, span.microseconds);
    }
    double most = now;
    for (; next_sample < samples.size() &&
           samples[next_sample].microseconds <= end;
         ++next_sample) {
      now = TotalOf(samples[next_sample]);
      most = std::max(most, now);
    }
    const double from = x_of(span.microseconds);
    frame->svg().Rectangle(
        {from, frame->top()}, std::max(0.3, x_of(end) - from),
        frame->bottom() - frame->top(), "hover",
        span.layer + (span.is_backward ? ", backward: " : ", forward: ") +
            memory::ReadableBytes(most) + ", process " +
            memory::ReadableBytes(span.resident));
  }
  if (memory.layers.empty()) return;
  const double divide = x_of(backward_from);
  if (backward_from < memory.microseconds) {
    frame->svg().Line({divide, frame->top()}, {divide, frame->bottom()},
                      "mark pass");
  }
  const auto label = [&](double from, double to, const char* text) {
    if (to - from < TextWidth(text) + 8) return;
    frame->svg().Text({(from + to) / 2, frame->top() + 14}, text, "middle",
                      "inside");
  };
  label(frame->left(), divide, "forward");
  label(divide, frame->right(), "backward and update");
}

}  // namespace

std::string Draw(const MemoryHistory& memory) {
  const std::vector<Sample> samples = Coarse(memory);
  const std::vector<size_t> order = OrderOf(memory);
  double most = 0;
  for (const Sample& sample : samples) most = std::max(most, TotalOf(sample));
  if (most <= 0) return "";
  std::vector<LegendEntry> legend;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t kind = order[i];
    legend.push_back({memory.kinds[kind], Concat("c", kind % kColours)});
  }
  // Room for the labels above.
  const Axis y(0, most * 1.08 / kMegabyte, Scale::kLinear, 8);
  ChartFrame frame(
      Concat("Memory in iteration ", ReadableNumber(memory.iteration),
             ", in MB, by what it is for"),
      legend, Axis::Exactly(0, memory.microseconds / 1e3, 8), y, "milliseconds",
      kPlotHeight);
  std::vector<double> below(samples.size(), 0);
  for (const size_t kind : order) {
    frame.svg().Polygon(
        Outline(samples, memory.microseconds, below, kind, frame),
        Concat("area c", kind % kColours));
    for (size_t i = 0; i < samples.size(); ++i) {
      below[i] += samples[i].bytes[kind];
    }
  }
  DrawLayers(memory, samples, &frame);
  return frame.svg().text();
}

}  // namespace caffe
