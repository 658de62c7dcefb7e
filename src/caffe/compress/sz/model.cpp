#include "compress/sz/model.hpp"

#include <algorithm>
#include <bit>

#include "compress/sz/bits.hpp"

namespace caffe::codec::sz {

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
    // What has no frequency is escaped.
    uint32_t* const reciprocals = tables->reciprocal + c * kSymbols;
    uint32_t* const packed = tables->packed + c * kSymbols;
    entry(kEscape, reciprocals, packed);
    std::fill_n(reciprocals, kSymbols, reciprocals[0]);
    std::fill_n(packed, kSymbols, packed[0] | kEscapeBit);
    static_assert(kEscape == 0);
    start = frequency[kEscape];
    for (int s = 1; s < kSymbols; ++s) {
      if (frequency[s] == 0) continue;
      entry(s, &reciprocals[s], &packed[s]);
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
