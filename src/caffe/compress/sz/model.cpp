#include "compress/sz/model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "compress/sz/bits.hpp"

namespace caffe::codec::sz {

namespace {

// Samples smaller than this many tokens a context make bad tables.
constexpr size_t kTokensPerContext = 256;
// What a frequency costs in the frame, about.
constexpr double kBitsPerFrequency = 7;

using Counts = std::array<uint32_t, kSymbols>;

// The symbols that occur in any of some contexts lie in [first, last).
struct Range {
  int first = 0;
  int last = kSymbols;
};

Range RangeOf(const std::array<Counts, kMaxContexts>& counts, int contexts) {
  Counts any = {};
  for (int c = 0; c < contexts; ++c) {
    for (int s = 0; s < kSymbols; ++s) any[s] |= counts[c][s];
  }
  Range range;
  while (range.first + 1 < range.last && any[range.first] == 0) ++range.first;
  while (range.first + 1 < range.last && any[range.last - 1] == 0) --range.last;
  return range;
}

// Thresholds that split a histogram into classes of about equal weight, as far
// as its values allow. Returns how many classes there are.
template <typename Value>
int SplitEvenly(const Counts& counts, int offset, int classes,
                Value* threshold) {
  uint64_t left = 0;
  for (const uint32_t count : counts) left += count;
  int made = 1;
  uint64_t taken = 0;
  for (int bin = 0; bin < kSymbols && made < classes; ++bin) {
    taken += counts[bin];
    // What is left is shared evenly by the classes that are left.
    if (taken == 0 || taken * (classes - made + 1) < left) continue;
    left -= taken;
    taken = 0;
    if (left == 0) break;
    threshold[made++ - 1] = static_cast<Value>(bin + offset);
  }
  return made;
}

// Frequencies that sum to kProbabilityScale, in proportion to the counts.
void Normalize(const Counts& counts, const Range& range, uint16_t* frequency) {
  std::fill_n(frequency, kSymbols, uint16_t{0});
  uint64_t total = 0;
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
      static_cast<uint32_t>(kProbabilityScale * uint64_t{singles} / total), 1,
      kProbabilityScale / 16);
  const uint32_t room = kProbabilityScale - escape;
  uint32_t used = 0;
  for (int s = range.first; s < range.last; ++s) {
    if (s == kEscape || counts[s] == 0) continue;
    // One is the least; what deserves less than a quarter is better escaped.
    if (4 * uint64_t{counts[s]} * room < total) continue;
    const uint64_t scaled = uint64_t{counts[s]} * room * 2 / total;
    frequency[s] =
        static_cast<uint16_t>(std::max<uint64_t>(1, (scaled + 1) / 2));
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
double Cost(const Counts& counts, const Range& range,
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
      capacity_(memory.size() / 3),
      tokens_(memory.data()),
      predictions_(tokens_ + capacity_),
      activities_(reinterpret_cast<uint8_t*>(predictions_ + capacity_)) {}

void ModelChooser::Add(const int8_t* rows, size_t first, size_t last,
                       size_t row) {
  last = std::min(last, first + (capacity_ - size_) / kLanes);
  const size_t n = (last - first) * kLanes;
  std::copy_n(rows + first * kLanes, n, tokens_ + size_);
  kernels_.neighbours(rows, first, last, row, predictions_ + size_,
                      activities_ + size_);
  size_ += n;
}

double ModelChooser::Choose(uint64_t values, Model* model) const {
  const size_t affordable = size_ / kTokensPerContext;
  if (affordable < 4) return Try(false, 1, 1, values, model);
  const int contexts = affordable >= 16 ? 16 : affordable >= 8 ? 8 : 4;
  const int activities = contexts > 4 ? 4 : 2;
  Model other;
  const double direct = Try(false, 1, contexts, values, model);
  const double predicted =
      Try(true, activities, contexts / activities, values, &other);
  if (predicted < direct) *model = other;
  return std::min(direct, predicted);
}

double ModelChooser::Try(bool predict, int activity_classes, int level_classes,
                         uint64_t values, Model* model) const {
  ContextModel& context = model->context;
  context = ContextModel();
  context.predict = predict;
  if (activity_classes > 1) {
    Counts activity = {};
    for (size_t i = 0; i < size_; ++i) {
      ++activity[std::min<int>(activities_[i], kMaxActivity)];
    }
    context.activity_classes =
        SplitEvenly(activity, 0, activity_classes, context.activity_threshold);
  }
  if (level_classes > 1) {
    Counts level = {};
    for (size_t i = 0; i < size_; ++i) {
      ++level[std::clamp<int>(predictions_[i], kMinLevel, kMaxLevel) + 128];
    }
    context.level_classes =
        SplitEvenly(level, -128, level_classes, context.level_threshold);
  }

  std::array<uint8_t, kSymbols> activity_class;
  std::array<uint8_t, kSymbols> level_class;
  for (int v = 0; v < kSymbols; ++v) {
    // Beyond the thresholds nothing changes any more.
    const int level = v - 128;
    activity_class[v] = v > kMaxActivity
                            ? activity_class[v - 1]
                            : static_cast<uint8_t>(context.level_classes *
                                                   context.ActivityClass(v));
    level_class[v] = level > kMaxLevel || level < kMinLevel
                         ? (v > 0 ? level_class[v - 1] : uint8_t{0})
                         : static_cast<uint8_t>(context.LevelClass(level));
  }
  std::array<Counts, kMaxContexts> counts = {};
  for (size_t i = 0; i < size_; ++i) {
    const int8_t p = predictions_[i];
    const auto symbol =
        static_cast<uint8_t>((tokens_[i] - (predict ? p : 0)) ^ 0x80);
    ++counts[activity_class[activities_[i]] + level_class[p + 128]][symbol];
  }
  const Range range = RangeOf(counts, context.contexts());
  double bits = 0;
  ptrdiff_t frequencies = 0;
  for (int c = 0; c < context.contexts(); ++c) {
    uint16_t* const frequency = model->frequency[c];
    Normalize(counts[c], range, frequency);
    bits += Cost(counts[c], range, frequency);
    frequencies += kSymbols - std::count(frequency, frequency + kSymbols, 0);
  }
  return bits / static_cast<double>(std::max<size_t>(size_, 1)) +
         kBitsPerFrequency * static_cast<double>(frequencies) /
             static_cast<double>(std::max<uint64_t>(values, 1));
}

void MakeTables(const Model& model, EncodeTables* tables) {
  for (int c = 0; c < model.context.contexts(); ++c) {
    const uint16_t* const frequency = model.frequency[c];
    uint32_t start = 0;
    const auto entry = [&](int symbol, uint32_t* reciprocal, uint32_t* packed) {
      const uint32_t f = frequency[symbol];
      if (f == 1) {
        // x / 1 comes out one too small, which the bias makes good.
        *reciprocal = ~uint32_t{0};
        *packed = 1 | (start + kProbabilityScale - 1) << kBiasShift;
        return;
      }
      const int log = std::bit_width(f - 1);
      *reciprocal =
          static_cast<uint32_t>(((uint64_t{1} << (31 + log)) + f - 1) / f);
      *packed = f | start << kBiasShift |
                static_cast<uint32_t>(log - 1) << kShiftShift;
    };
    uint32_t escape_reciprocal = 0;
    uint32_t escape_packed = 0;
    for (int s = 0; s < kSymbols; ++s) {
      const size_t at = c * kSymbols + s;
      if (s == kEscape) {
        entry(s, &escape_reciprocal, &escape_packed);
        escape_packed |= kEscapeBit;
      }
      if (s == kEscape || frequency[s] == 0) {
        tables->reciprocal[at] = escape_reciprocal;
        tables->packed[at] = escape_packed;
      } else {
        entry(s, &tables->reciprocal[at], &tables->packed[at]);
      }
      start += frequency[s];
    }
  }
}

void MakeTables(const Model& model, DecodeTables* tables) {
  for (int c = 0; c < model.context.contexts(); ++c) {
    uint32_t* slot = tables->slot + c * kProbabilityScale;
    for (uint32_t s = 0; s < kSymbols; ++s) {
      const uint32_t f = model.frequency[c][s];
      for (uint32_t i = 0; i < f; ++i) *slot++ = s | f << 8 | i << 20;
    }
  }
}

size_t WriteModel(const Model& model, uint8_t* to) {
  const uint8_t* const begin = to;
  const ContextModel& context = model.context;
  Store(to, static_cast<uint8_t>(context.predict));
  Store(to, static_cast<uint8_t>(context.activity_classes));
  Store(to, static_cast<uint8_t>(context.level_classes));
  for (int i = 0; i + 1 < context.activity_classes; ++i) {
    Store(to, context.activity_threshold[i]);
  }
  for (int i = 0; i + 1 < context.level_classes; ++i) {
    Store(to, context.level_threshold[i]);
  }
  BitWriter bits(to);
  for (int c = 0; c < context.contexts(); ++c) {
    const uint16_t* const frequency = model.frequency[c];
    const auto put = [&](uint32_t f) {
      const int width = std::bit_width(f);
      bits.Put(width, 4);
      if (width > 1) bits.Put(f - (1u << (width - 1)), width - 1);
    };
    int first = 1;
    while (first < kSymbols && frequency[first] == 0) ++first;
    int last = kSymbols - 1;
    while (last > first && frequency[last] == 0) --last;
    bits.Put(first, 8);
    bits.Put(last, 8);
    put(frequency[kEscape]);
    for (int s = first; s <= last; ++s) put(frequency[s]);
  }
  return to - begin + bits.Finish();
}

void ReadModel(ByteReader* in, Model* model) {
  ContextModel& context = model->context;
  context = ContextModel();
  const auto predict = in->Get<uint8_t>();
  if (predict > 1) Damaged("unknown kind of symbols");
  context.predict = predict == 1;
  context.activity_classes = in->Get<uint8_t>();
  context.level_classes = in->Get<uint8_t>();
  if (context.activity_classes < 1 || context.level_classes < 1 ||
      context.activity_classes > kMaxContexts ||
      context.level_classes > kMaxContexts ||
      context.contexts() > kMaxContexts) {
    Damaged("impossible contexts");
  }
  for (int i = 0; i + 1 < context.activity_classes; ++i) {
    context.activity_threshold[i] = in->Get<uint8_t>();
    if (context.activity_threshold[i] >= kMaxActivity) {
      Damaged("impossible activities");
    }
  }
  for (int i = 0; i + 1 < context.level_classes; ++i) {
    context.level_threshold[i] = in->Get<int8_t>();
    if (context.level_threshold[i] < kMinLevel ||
        context.level_threshold[i] >= kMaxLevel) {
      Damaged("impossible levels");
    }
  }
  const auto rest = in->Rest();
  if (rest.size() < kBitPadding) Damaged("its tables end too early");
  BitReader bits(rest.data(), rest.size());
  const auto get_bits = [&](int n) {
    if (!bits.Has(n)) Damaged("its tables end too early");
    return static_cast<uint32_t>(bits.Get(n));
  };
  const auto get = [&]() -> uint32_t {
    const int width = static_cast<int>(get_bits(4));
    if (width > kProbabilityBits) Damaged("impossible frequency");
    if (width < 2) return width;
    return 1u << (width - 1) | get_bits(width - 1);
  };
  for (int c = 0; c < context.contexts(); ++c) {
    uint16_t* const frequency = model->frequency[c];
    std::fill_n(frequency, kSymbols, uint16_t{0});
    const uint32_t first = get_bits(8);
    const uint32_t last = get_bits(8);
    if (first == kEscape || first > last) Damaged("impossible symbols");
    uint32_t sum = frequency[kEscape] = static_cast<uint16_t>(get());
    for (uint32_t s = first; s <= last; ++s) {
      frequency[s] = static_cast<uint16_t>(get());
      sum += frequency[s];
    }
    if (frequency[kEscape] == 0 || sum != kProbabilityScale) {
      Damaged("its frequencies do not add up");
    }
  }
}

}  // namespace caffe::codec::sz
