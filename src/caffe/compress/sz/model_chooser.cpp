#include "compress/sz/model_chooser.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compress/sz/for_blocks.hpp"

namespace caffe::codec::sz {

namespace {

// Samples smaller than this many tokens a context make bad tables.
constexpr size_t kTokensPerContext = 256;
// What a frequency costs in the frame, about.
constexpr double kBitsPerFrequency = 7;

// Samples from this size on are worth a second thread.
constexpr size_t kParallelSample = 8192;

using Histogram = std::array<uint32_t, kSymbols>;

// The symbols that occur in any of some contexts lie in [first, last).
struct Range {
  int first = 0;
  int last = kSymbols;
};

Range RangeOf(const uint32_t* counts, int contexts) {
  Histogram any = {};
  for (int c = 0; c < contexts; ++c) {
    for (int s = 0; s < kSymbols; ++s) any[s] |= counts[c * kSymbols + s];
  }
  Range range;
  while (range.first + 1 < range.last && any[range.first] == 0) ++range.first;
  while (range.first + 1 < range.last && any[range.last - 1] == 0) --range.last;
  return range;
}

// How often each byte occurs among n, a multiple of 4. Four tables, because
// neighbours are often the same, and counting waits for what was counted before
// in the same place.
Histogram HistogramOf(const uint8_t* bytes, size_t n) {
  std::array<Histogram, 4> parts = {};
  for (size_t i = 0; i < n; i += 4) {
    for (size_t k = 0; k < 4; ++k) ++parts[k][bytes[i + k]];
  }
  Histogram sum;
  for (int s = 0; s < kSymbols; ++s) {
    sum[s] = parts[0][s] + parts[1][s] + parts[2][s] + parts[3][s];
  }
  return sum;
}

// Thresholds that split counts of numbers from `least` on into classes of about
// equal weight, as far as the numbers allow. Returns how many classes there
// are.
template <size_t kBins, typename Value>
int SplitEvenly(const std::array<uint32_t, kBins>& counts, int least,
                int classes, Value* threshold) {
  uint64_t left = 0;
  for (const uint32_t count : counts) left += count;
  int made = 1;
  uint64_t taken = 0;
  for (size_t bin = 0; bin < kBins && made < classes; ++bin) {
    taken += counts[bin];
    // What is left is shared evenly by the classes that are left.
    if (taken == 0 || taken * (classes - made + 1) < left) continue;
    left -= taken;
    taken = 0;
    if (left == 0) break;
    threshold[made++ - 1] = static_cast<Value>(static_cast<int>(bin) + least);
  }
  return made;
}

// Frequencies that sum to kProbabilityScale, in proportion to the counts, whose
// sum is below 2^20.
void Normalize(const uint32_t* counts, const Range& range,
               uint16_t* frequency) {
  std::fill_n(frequency, kSymbols, uint16_t{0});
  uint32_t total = 0;
  uint32_t singles = 0;
  for (int s = range.first; s < range.last; ++s) {
    total += counts[s];
    singles += counts[s] == 1;
  }
  if (total == 0) {
    frequency[kEscape] = 1;
    frequency[0x80] = kProbabilityScale - 1;
    return;
  }
  // What was seen once in the sample tells how much was not seen at all.
  const uint32_t escape = std::clamp<uint32_t>(
      kProbabilityScale * singles / total, 1, kProbabilityScale / 16);
  const uint32_t room = kProbabilityScale - escape;
  uint32_t used = 0;
  for (int s = range.first; s < range.last; ++s) {
    if (s == kEscape || counts[s] == 0) continue;
    // One is the least; what deserves less than a quarter is better escaped.
    if (4 * counts[s] * room < total) continue;
    const uint32_t scaled = 2 * counts[s] * room / total;
    frequency[s] =
        static_cast<uint16_t>(std::max<uint32_t>(1, (scaled + 1) / 2));
    used += frequency[s];
  }
  frequency[kEscape] = static_cast<uint16_t>(escape);
  if (used == 0) {
    frequency[0x80] = static_cast<uint16_t>(room);
    return;
  }
  // The largest can best bear what rounding left over.
  while (used != room) {
    uint16_t* const largest = std::max_element(
        frequency + std::max(1, range.first), frequency + range.last);
    const int change = used < room
                           ? static_cast<int>(room - used)
                           : -static_cast<int>(std::min<uint32_t>(
                                 used - room, std::max(1, *largest / 4)));
    *largest = static_cast<uint16_t>(*largest + change);
    used += change;
  }
}

// Bits that the counted symbols take with these frequencies.
double Cost(const uint32_t* counts, const Range& range,
            const uint16_t* frequency) {
  static const auto bits_of = [] {
    std::array<float, kProbabilityScale + 1> bits = {};
    for (uint32_t f = 1; f <= kProbabilityScale; ++f) {
      bits[f] = static_cast<float>(kProbabilityBits - std::log2(double(f)));
    }
    return bits;
  }();
  double bits = 0;
  for (int s = range.first; s < range.last; ++s) {
    if (counts[s] == 0) continue;
    const bool escaped = frequency[s] == 0;
    bits += counts[s] *
            (bits_of[frequency[escaped ? kEscape : s]] + (escaped ? 8 : 0));
  }
  return bits;
}

}  // namespace

ModelChooser::ModelChooser(const Kernels& kernels, std::span<int8_t> memory)
    : kernels_(kernels),
      size_(memory.size() / 3),
      tokens_(memory.data()),
      predictions_(tokens_ + size_),
      activities_(reinterpret_cast<uint8_t*>(predictions_ + size_)) {}

void ModelChooser::Add(size_t to, const int8_t* rows, size_t first, size_t last,
                       size_t row) {
  std::copy(rows + first * kLanes, rows + last * kLanes, tokens_ + to);
  kernels_.neighbours(rows, first, last, row, predictions_ + to,
                      activities_ + to);
}

double ModelChooser::Choose(uint64_t values, Model* model) const {
  const size_t affordable = size_ / kTokensPerContext;
  if (affordable < 4) return Try(false, 1, 1, values, model);
  const int contexts = affordable >= 16 ? 16 : affordable >= 8 ? 8 : 4;
  const int activities = contexts > 4 ? 4 : 2;
  Model other;
  double direct = 0;
  double predicted = 0;
#pragma omp parallel sections num_threads(2) if (ThreadsFor(2) > 1 && \
                                                 size_ >= kParallelSample)
  {
#pragma omp section
    direct = Try(false, 1, contexts, values, model);
#pragma omp section
    predicted = Try(true, activities, contexts / activities, values, &other);
  }
  if (predicted < direct) *model = other;
  return std::min(direct, predicted);
}

ContextModel ModelChooser::ContextFor(bool predict, int activity_classes,
                                      int level_classes) const {
  ContextModel context;
  context.predict = predict;
  if (activity_classes > 1) {
    const Histogram seen = HistogramOf(activities_, size_);
    std::array<uint32_t, kMaxActivity + 1> activity;
    std::copy_n(seen.begin(), kMaxActivity, activity.begin());
    activity[kMaxActivity] =
        std::accumulate(seen.begin() + kMaxActivity, seen.end(), 0u);
    context.activity_classes =
        SplitEvenly(activity, 0, activity_classes, context.activity_threshold);
  }
  if (level_classes > 1) {
    const Histogram seen =
        HistogramOf(reinterpret_cast<const uint8_t*>(predictions_), size_);
    // Bytes from 128 on are negative.
    std::array<uint32_t, kMaxLevel - kMinLevel + 1> level;
    std::copy_n(seen.end() + kMinLevel, -kMinLevel, level.begin());
    std::copy_n(seen.begin(), kMaxLevel + 1, level.begin() - kMinLevel);
    level.front() =
        std::accumulate(seen.begin() + 128, seen.end() + kMinLevel + 1, 0u);
    level.back() =
        std::accumulate(seen.begin() + kMaxLevel, seen.begin() + 128, 0u);
    context.level_classes =
        SplitEvenly(level, kMinLevel, level_classes, context.level_threshold);
  }
  return context;
}

ModelChooser::Counts ModelChooser::CountsFor(
    const ContextModel& context) const {
  // What activities and predictions (as bytes) add to where counts begin.
  std::array<uint16_t, kSymbols> activity_start;
  std::array<uint16_t, kSymbols> level_start;
  for (int v = 0; v < kSymbols; ++v) {
    // Beyond the thresholds nothing changes any more.
    activity_start[v] =
        v > kMaxActivity
            ? activity_start[v - 1]
            : static_cast<uint16_t>(context.ActivityClass(v) *
                                    context.level_classes * kSymbols);
  }
  const auto start_of = [&](int level) {
    return static_cast<uint16_t>(context.LevelClass(level) * kSymbols);
  };
  std::fill_n(level_start.begin(), 128, start_of(kMaxLevel));
  std::fill_n(level_start.begin() + 128, 128, start_of(kMinLevel));
  for (int level = kMinLevel; level <= kMaxLevel; ++level) {
    level_start[static_cast<uint8_t>(level)] = start_of(level);
  }
  // Two tables, as in HistogramOf.
  Counts counts = {};
  Counts others = {};
  const uint8_t subtracted = context.predict ? 0xFF : 0;
  const auto count = [&](size_t i, Counts* to) {
    const auto p = static_cast<uint8_t>(predictions_[i]);
    const auto symbol =
        static_cast<uint8_t>((tokens_[i] - (p & subtracted)) ^ 0x80);
    ++(*to)[activity_start[activities_[i]] + level_start[p] + symbol];
  };
  for (size_t i = 0; i < size_; i += 2) {
    count(i, &counts);
    count(i + 1, &others);
  }
  for (int s = 0; s < context.contexts() * kSymbols; ++s) {
    counts[s] += others[s];
  }
  return counts;
}

double ModelChooser::Try(bool predict, int activity_classes, int level_classes,
                         uint64_t values, Model* model) const {
  const ContextModel& context = model->context =
      ContextFor(predict, activity_classes, level_classes);
  const Counts counts = CountsFor(context);
  const Range range = RangeOf(counts.data(), context.contexts());
  double bits = 0;
  int frequencies = 0;
  for (int c = 0; c < context.contexts(); ++c) {
    uint16_t* const frequency = model->frequency[c];
    const uint32_t* const in_context = counts.data() + c * kSymbols;
    Normalize(in_context, range, frequency);
    bits += Cost(in_context, range, frequency);
    // And the escape's.
    ++frequencies;
    for (int s = range.first; s < range.last; ++s) {
      frequencies += frequency[s] > 0;
    }
  }
  return bits / static_cast<double>(std::max<size_t>(size_, 1)) +
         kBitsPerFrequency * frequencies /
             static_cast<double>(std::max<uint64_t>(values, 1));
}

}  // namespace caffe::codec::sz
