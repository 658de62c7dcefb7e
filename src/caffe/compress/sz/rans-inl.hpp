// Contexts and the interleaved rANS coder. Included once for every SIMD
// target.

#if defined(CAFFE_SZ_RANS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAFFE_SZ_RANS_INL_HPP_
#undef CAFFE_SZ_RANS_INL_HPP_
#else
#define CAFFE_SZ_RANS_INL_HPP_
#endif

#include <bit>
#include <cstring>

#include "compress/sz/kernels.hpp"
#include "compress/sz/lane_tables.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::codec::sz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Bytes of all lanes; a row takes kByteVectors of these.
using D8 = hn::CappedTag<int8_t, kLanes>;
using DU8 = hn::Rebind<uint8_t, D8>;
using V8 = hn::Vec<D8>;
using VU8 = hn::Vec<DU8>;
// States. Eight at most: kLaneTables has no rows for more.
using D32 = hn::CappedTag<uint32_t, 8>;
using DI32 = hn::RebindToSigned<D32>;
using V32 = hn::Vec<D32>;

constexpr const auto& kTables = kLaneTables<hn::MaxLanes(D32())>;

HWY_INLINE size_t ByteLanes() { return hn::Lanes(D8()); }
HWY_INLINE size_t StateLanes() { return hn::Lanes(D32()); }

// A row's neighbours: zeros or the left row stand in where there are none.
struct NeighbourRows {
  const int8_t* left;
  const int8_t* above;
  const int8_t* corner;
};

alignas(64) constexpr int8_t kZeroRow[kLanes] = {};

HWY_INLINE NeighbourRows NeighboursOf(const int8_t* rows, size_t at,
                                      size_t row) {
  NeighbourRows n;
  n.left = at > 0 ? rows + (at - 1) * kLanes : kZeroRow;
  const bool has_above = row > 0 && at >= row;
  n.above = has_above ? rows + (at - row) * kLanes : n.left;
  n.corner = has_above && at > row ? rows + (at - row - 1) * kLanes : kZeroRow;
  return n;
}

HWY_INLINE void PredictVector(const NeighbourRows& n, size_t offset,
                              V8* prediction, VU8* activity) {
  const D8 d;
  const DU8 du;
  const V8 left = hn::Load(d, n.left + offset);
  const V8 above = hn::Load(d, n.above + offset);
  const V8 corner = hn::Load(d, n.corner + offset);
  const V8 low = hn::Min(left, above);
  const V8 high = hn::Max(left, above);
  // Tokens have 7 bits, so only what lies outside anyway can saturate.
  const V8 plane = hn::SaturatedSub(hn::SaturatedAdd(left, above), corner);
  *prediction = hn::Min(hn::Max(plane, low), high);
  const auto distance = [&](V8 a, V8 b) HWY_ATTR {
    return hn::BitCast(du, hn::Sub(hn::Max(a, b), hn::Min(a, b)));
  };
  *activity = hn::SaturatedAdd(distance(left, corner), distance(above, corner));
}

void Neighbours(const int8_t* rows, size_t first, size_t last, size_t row,
                int8_t* prediction, uint8_t* activity) {
  for (size_t at = first; at < last; ++at) {
    const NeighbourRows n = NeighboursOf(rows, at, row);
    for (size_t i = 0; i < kLanes; i += ByteLanes()) {
      V8 p;
      VU8 a;
      PredictVector(n, i, &p, &a);
      hn::StoreU(p, D8(), prediction + (at - first) * kLanes + i);
      hn::StoreU(a, DU8(), activity + (at - first) * kLanes + i);
    }
  }
}

// The classes of a model, looked up instead of counted.
class ContextVectors {
 public:
  explicit ContextVectors(const ContextModel& model)
      : predict_(model.predict ? -1 : 0) {
    for (int i = 0; i <= kMaxActivity; ++i) {
      activity_[i] =
          static_cast<uint8_t>(model.ActivityClass(i) * model.level_classes);
    }
    for (int i = 0; i < 16; ++i) {
      below_[i] = static_cast<uint8_t>(model.LevelClass(i - 16));
      above_[i] = static_cast<uint8_t>(model.LevelClass(i));
    }
    static_assert(kMinLevel == -16 && kMaxLevel == 15 && kMaxActivity == 15);
  }

  HWY_INLINE VU8 ContextOf(V8 prediction, VU8 activity) const {
    const D8 d;
    const DU8 du;
    // A lookup gives 0 where the index has its highest bit set.
    const V8 level = hn::Min(hn::Max(prediction, hn::Set(d, int8_t{kMinLevel})),
                             hn::Set(d, int8_t{kMaxLevel}));
    const VU8 above = hn::BitCast(du, level);
    const VU8 below = hn::Xor(above, hn::Set(du, uint8_t{0x80}));
    const VU8 level_class =
        hn::Or(hn::TableLookupBytesOr0(hn::LoadDup128(du, below_), below),
               hn::TableLookupBytesOr0(hn::LoadDup128(du, above_), above));
    const VU8 small = hn::Min(activity, hn::Set(du, uint8_t{kMaxActivity}));
    return hn::Add(level_class,
                   hn::TableLookupBytes(hn::LoadDup128(du, activity_), small));
  }

  // What is subtracted from tokens: the prediction, or nothing.
  HWY_INLINE V8 Subtracted(V8 prediction) const {
    const hn::Repartition<int64_t, D8> d64;
    return hn::And(prediction, hn::BitCast(D8(), hn::Set(d64, predict_)));
  }

 private:
  // All bits or none.
  const int64_t predict_;
  // Activity classes are multiplied by the number of level classes.
  alignas(16) uint8_t activity_[16];
  alignas(16) uint8_t below_[16];
  alignas(16) uint8_t above_[16];
};

HWY_INLINE V32 Table(const uint32_t* table, V32 index) {
  const D32 d;
  const hn::RebindToSigned<D32> di;
  return hn::GatherIndex(d, table, hn::BitCast(di, index));
}

// floor(x * m / 2^32) in every lane.
HWY_INLINE V32 MulHigh32(V32 x, V32 m) {
  const D32 d;
  const hn::Repartition<uint64_t, D32> d64;
  const auto even = hn::ShiftRight<32>(hn::MulEven(x, m));
  const auto odd =
      hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, x))),
                  hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, m))));
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, even));
}

HWY_INLINE uint32_t MaskBits(hn::Mask<DI32> mask) {
  uint8_t bits[8] = {};
  hn::StoreMaskBits(DI32(), mask, bits);
  return bits[0];
}

void Encode(const ContextModel& model, const EncodeTables& tables,
            const int8_t* rows, size_t run, size_t row, RansStream* stream) {
  const D32 d;
  const DI32 di;
  const D8 d8;
  const DU8 du8;
  const hn::Rebind<uint8_t, D32> bytes_of_states;
  const hn::Rebind<uint16_t, D32> words_of_states;
  const size_t lanes = StateLanes();
  const ContextVectors vectors(model);
  uint16_t* words = stream->words_end;
  int8_t* escapes = stream->escapes_end;
  alignas(64) uint32_t states[kLanes];
  for (uint32_t& state : states) state = kStateLow;
  alignas(64) uint8_t contexts[kLanes];
  alignas(64) uint8_t symbols[kLanes];

  for (size_t at = run; at-- > 0;) {
    const NeighbourRows n = NeighboursOf(rows, at, row);
    for (size_t i = 0; i < kLanes; i += ByteLanes()) {
      V8 prediction;
      VU8 activity;
      PredictVector(n, i, &prediction, &activity);
      hn::Store(vectors.ContextOf(prediction, activity), du8, contexts + i);
      const V8 token = hn::Load(d8, rows + at * kLanes + i);
      const V8 difference = hn::Sub(token, vectors.Subtracted(prediction));
      hn::Store(
          hn::Xor(hn::BitCast(du8, difference), hn::Set(du8, uint8_t{0x80})),
          du8, symbols + i);
    }
    // Backwards, as the decoder goes forwards.
    for (size_t i = kLanes; i > 0;) {
      i -= lanes;
      const V32 context =
          hn::PromoteTo(d, hn::Load(bytes_of_states, contexts + i));
      const V32 symbol =
          hn::PromoteTo(d, hn::Load(bytes_of_states, symbols + i));
      const V32 index = hn::Or(hn::ShiftLeft<8>(context), symbol);
      const V32 packed = Table(tables.packed, index);
      const V32 reciprocal = Table(tables.reciprocal, index);
      V32 x = hn::Load(d, states + i);

      const uint32_t escaped =
          MaskBits(hn::Lt(hn::BitCast(di, packed), hn::Zero(di)));
      if (HWY_UNLIKELY(escaped != 0)) {
        for (size_t k = lanes; k-- > 0;) {
          if ((escaped >> k) & 1) *--escapes = rows[at * kLanes + i + k];
        }
      }

      const V32 frequency = hn::And(packed, hn::Set(d, kProbabilityScale - 1));
      // A state this large would leave 31 bits: its low word goes out first.
      const auto full = hn::Not(hn::Lt(
          hn::BitCast(di, x),
          hn::BitCast(di, hn::ShiftLeft<31 - kProbabilityBits>(frequency))));
      const uint32_t full_bits = MaskBits(full);
      // The words to write are moved to the back, so that what is stored with
      // them lies in front of them, where later words go.
      const V32 words_last = hn::TableLookupLanes(
          x, hn::SetTableIndices(d, kTables.gather[full_bits].data()));
      hn::StoreU(hn::TruncateTo(words_of_states, words_last), words_of_states,
                 words - lanes);
      words -= std::popcount(full_bits);
      x = hn::BitCast(
          d, hn::IfThenElse(full, hn::BitCast(di, hn::ShiftRight<16>(x)),
                            hn::BitCast(di, x)));

      const V32 shift =
          hn::And(hn::ShiftRight<kShiftShift>(packed), hn::Set(d, 31));
      const V32 bias =
          hn::And(hn::ShiftRight<kBiasShift>(packed), hn::Set(d, 4095));
      const V32 quotient = hn::Shr(MulHigh32(x, reciprocal), shift);
      x = hn::Add(
          hn::Add(x, bias),
          hn::Mul(quotient, hn::Sub(hn::Set(d, kProbabilityScale), frequency)));
      hn::Store(x, d, states + i);
    }
  }
  std::memcpy(stream->state, states, sizeof(states));
  stream->words_begin = words;
  stream->escapes_begin = escapes;
}

// Words for the states that ask for one, in the order of the lanes.
HWY_INLINE V32 ExpandWords(const uint16_t* words, uint32_t needed) {
  const D32 d;
  const hn::Rebind<uint16_t, D32> words_of_states;
  const V32 next = hn::PromoteTo(d, hn::LoadU(words_of_states, words));
  return hn::TableLookupLanes(
      next, hn::SetTableIndices(d, kTables.spread[needed].data()));
}

// States whose bytes fill one vector of bytes.
constexpr size_t kStateVectors = 4;
constexpr size_t kByteVectors = kLanes / hn::MaxLanes(D8());
static_assert(hn::MaxLanes(D8()) == kStateVectors * hn::MaxLanes(D32()));

// Decodes one block row by row.
class RowDecoder {
 public:
  RowDecoder(const RansStream& stream, int8_t* rows)
      : rows_(rows),
        words_(stream.words_begin),
        words_end_(stream.words_end),
        escapes_(stream.escapes_begin),
        escapes_end_(stream.escapes_end) {
    std::memcpy(states_, stream.state, sizeof(states_));
  }

  // Returns whether the stream can go on.
  HWY_INLINE bool Decode(const ContextVectors& vectors,
                         const DecodeTables& tables, size_t at, size_t row) {
    if (HWY_UNLIKELY(words_end_ - words_ < kLanes) && !CopyTail()) return false;
    const D8 d8;
    const DU8 du8;
    const NeighbourRows n = NeighboursOf(rows_, at, row);
    for (size_t i = 0; i < kLanes; i += ByteLanes()) {
      V8 prediction;
      VU8 activity;
      PredictVector(n, i, &prediction, &activity);
      const VU8 symbol =
          Symbols(tables, vectors.ContextOf(prediction, activity), states_ + i);
      const V8 difference =
          hn::BitCast(d8, hn::Xor(symbol, hn::Set(du8, uint8_t{0x80})));
      int8_t* const to = rows_ + at * kLanes + i;
      hn::Store(hn::Add(difference, vectors.Subtracted(prediction)), d8, to);
      const auto escaped = hn::Eq(symbol, hn::Set(du8, uint8_t{kEscape}));
      if (HWY_UNLIKELY(!hn::AllFalse(du8, escaped))) {
        if (!TakeEscapes(symbol, to)) return false;
      }
    }
    return true;
  }

  // Whether all was used up as it should be.
  bool AtEnd() const {
    for (const uint32_t state : states_) {
      if (state != kStateLow) return false;
    }
    return words_ == words_end_ && escapes_ == escapes_end_;
  }

 private:
  // One row's symbols for the states of one vector of bytes.
  HWY_INLINE VU8 Symbols(const DecodeTables& tables, VU8 contexts,
                         uint32_t* states) {
    const D32 d;
    const DI32 di;
    const hn::Rebind<uint8_t, D32> bytes_of_states;
    const hn::Half<DU8> half;
    const size_t lanes = StateLanes();
    alignas(64) uint8_t context_bytes[hn::MaxLanes(DU8())];
    hn::Store(contexts, DU8(), context_bytes);
    hn::Vec<decltype(bytes_of_states)> symbols[kStateVectors];
    for (size_t v = 0; v < kStateVectors; ++v) {
      const V32 context = hn::PromoteTo(
          d, hn::Load(bytes_of_states, context_bytes + v * lanes));
      V32 x = hn::Load(d, states + v * lanes);
      const V32 slot = hn::And(x, hn::Set(d, kProbabilityScale - 1));
      const V32 entry = Table(
          tables.slot, hn::Or(hn::ShiftLeft<kProbabilityBits>(context), slot));
      symbols[v] = hn::TruncateTo(bytes_of_states, entry);
      const V32 frequency = hn::And(hn::ShiftRight<8>(entry), hn::Set(d, 4095));
      x = hn::Add(hn::Mul(frequency, hn::ShiftRight<kProbabilityBits>(x)),
                  hn::ShiftRight<20>(entry));
      const auto low = hn::Lt(hn::BitCast(di, x),
                              hn::Set(di, static_cast<int32_t>(kStateLow)));
      const uint32_t low_bits = MaskBits(low);
      const V32 refilled =
          hn::Or(hn::ShiftLeft<16>(x), ExpandWords(words_, low_bits));
      x = hn::BitCast(d, hn::IfThenElse(low, hn::BitCast(di, refilled),
                                        hn::BitCast(di, x)));
      words_ += std::popcount(low_bits);
      hn::Store(x, d, states + v * lanes);
    }
    // In registers: small stores before a large load would have to be waited
    // for.
    return hn::Combine(DU8(), hn::Combine(half, symbols[3], symbols[2]),
                       hn::Combine(half, symbols[1], symbols[0]));
  }

  HWY_NOINLINE bool TakeEscapes(VU8 symbol, int8_t* to) {
    alignas(64) uint8_t symbols[kLanes];
    hn::Store(symbol, DU8(), symbols);
    for (size_t k = 0; k < ByteLanes(); ++k) {
      if (symbols[k] != kEscape) continue;
      if (escapes_ == escapes_end_) return false;
      to[k] = *escapes_++;
    }
    return true;
  }

  // Once fewer words are left than a row can take, they are read from a copy
  // with room behind it.
  HWY_NOINLINE bool CopyTail() {
    const ptrdiff_t left = words_end_ - words_;
    if (left < 0) return false;
    uint16_t rest[kLanes];
    std::memcpy(rest, words_, left * sizeof(uint16_t));
    std::memset(tail_, 0, sizeof(tail_));
    std::memcpy(tail_, rest, left * sizeof(uint16_t));
    words_ = tail_;
    words_end_ = tail_ + left;
    return true;
  }

  int8_t* const rows_;
  const uint16_t* words_;
  const uint16_t* words_end_;
  const int8_t* escapes_;
  const int8_t* const escapes_end_;
  alignas(64) uint32_t states_[kLanes];
  uint16_t tail_[3 * kLanes] = {};
};

bool Decode(const ContextModel& model, const DecodeTables& tables,
            RansStream* stream, size_t run, size_t row, int8_t* rows) {
  const ContextVectors vectors(model);
  RowDecoder decoder(*stream, rows);
  for (size_t at = 0; at < run; ++at) {
    if (!decoder.Decode(vectors, tables, at, row)) return false;
  }
  return decoder.AtEnd();
}

}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec::sz
HWY_AFTER_NAMESPACE();

#endif  // include guard that lets every target include this file once
