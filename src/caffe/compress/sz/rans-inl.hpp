// The interleaved rANS coder. Included once for every SIMD target.

#if defined(CAFFE_SZ_RANS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAFFE_SZ_RANS_INL_HPP_
#undef CAFFE_SZ_RANS_INL_HPP_
#else
#define CAFFE_SZ_RANS_INL_HPP_
#endif

#include <bit>
#include <cstring>

#include "compress/sz/contexts-inl.hpp"
#include "compress/sz/kernels.hpp"
#include "compress/sz/lane_tables.hpp"
#include "hwy/highway.h"

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86_64
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace caffe::codec::sz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// States. Eight at most: kLaneTables has no rows for more.
using D32 = hn::CappedTag<uint32_t, 8>;
using DI32 = hn::RebindToSigned<D32>;
using V32 = hn::Vec<D32>;

constexpr const auto& kTables = kLaneTables<hn::MaxLanes(D32())>;

HWY_INLINE size_t StateLanes() { return hn::Lanes(D32()); }

HWY_INLINE V32 Table(const uint32_t* table, V32 index) {
#if HWY_TARGET == HWY_AVX2
  // A gather waits for what its target held before: zeros, not whatever the
  // register was used for. If the compiler knew the mask, it would leave that
  // to chance.
  __m256i all = _mm256_set1_epi32(-1);
  asm("" : "+x"(all));
  return V32{_mm256_mask_i32gather_epi32(_mm256_setzero_si256(),
                                         reinterpret_cast<const int*>(table),
                                         index.raw, all, 4)};
#else
  const D32 d;
  const hn::RebindToSigned<D32> di;
  return hn::GatherIndex(d, table, hn::BitCast(di, index));
#endif
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
  const ContextVectors vectors(model, 1);
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

// Words for the states that ask for one, in the order of the lanes; zeros for
// the others.
HWY_INLINE V32 ExpandWords(const uint16_t* words, uint32_t needed) {
  const hn::Repartition<uint8_t, D32> d8;
  const auto next = hn::LoadDup128(d8, reinterpret_cast<const uint8_t*>(words));
  return hn::BitCast(D32(),
                     hn::TableLookupBytesOr0(
                         next, hn::Load(d8, kTables.spread[needed].data())));
}

// States whose bytes fill one vector of bytes.
constexpr size_t kStateVectors = 4;
static_assert(hn::MaxLanes(D8()) == kStateVectors * hn::MaxLanes(D32()));

// Contexts times this, in the second byte, are where their slots start.
constexpr int kContextFactor = kProbabilityScale / 256;

// For each vector of states, where to take the contexts' bytes from.
struct ContextBytes {
  constexpr ContextBytes() {
    constexpr int lanes = hn::MaxLanes(D32());
    for (size_t v = 0; v < kStateVectors; ++v) {
      for (int i = 0; i < lanes; ++i) {
        for (uint8_t& b : row[v][i]) b = 0x80;
        row[v][i][1] = static_cast<uint8_t>((v * lanes + i) % 16);
      }
    }
  }
  alignas(64) uint8_t row[kStateVectors][hn::MaxLanes(D32())][4];
};
constexpr ContextBytes kContextBytes;

// The slots where the contexts of each vector of states start.
HWY_INLINE void SlotsOf(VU8 contexts, V32* slots) {
  const DU8 d;
  const D32 d32;
  const bool two = hn::MaxLanes(d) > 16;
  // Lookups stay within 16 bytes.
  const VU8 lower =
      two ? hn::ConcatLowerLower(d, contexts, contexts) : contexts;
  const VU8 upper =
      two ? hn::ConcatUpperUpper(d, contexts, contexts) : contexts;
  for (size_t v = 0; v < kStateVectors; ++v) {
    slots[v] = hn::BitCast(
        d32, hn::TableLookupBytesOr0(2 * v < kStateVectors ? lower : upper,
                                     hn::Load(d, &kContextBytes.row[v][0][0])));
  }
}

// The lowest bytes of all vectors.
HWY_INLINE VU8 LowestBytes(const V32* v) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86_64
  const __m256i byte = _mm256_set1_epi32(255);
  const __m256i low = _mm256_packus_epi32(_mm256_and_si256(v[0].raw, byte),
                                          _mm256_and_si256(v[1].raw, byte));
  const __m256i high = _mm256_packus_epi32(_mm256_and_si256(v[2].raw, byte),
                                           _mm256_and_si256(v[3].raw, byte));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return VU8{
      _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order)};
#else
  const hn::Rebind<uint8_t, D32> quarter;
  const hn::Half<DU8> half;
  return hn::Combine(DU8(),
                     hn::Combine(half, hn::TruncateTo(quarter, v[3]),
                                 hn::TruncateTo(quarter, v[2])),
                     hn::Combine(half, hn::TruncateTo(quarter, v[1]),
                                 hn::TruncateTo(quarter, v[0])));
#endif
}

// Where the words and escapes of a stream come from.
class StreamReader {
 public:
  explicit StreamReader(const RansStream& stream)
      : words_(stream.words_begin),
        words_end_(stream.words_end),
        escapes_(stream.escapes_begin),
        escapes_end_(stream.escapes_end) {}

  // Whether a row of words can be read; zeros follow the last ones.
  HWY_INLINE bool HasRow() {
    return HWY_LIKELY(words_end_ - words_ >= kLanes) || CopyTail();
  }
  HWY_INLINE const uint16_t* words() const { return words_; }
  HWY_INLINE void Advance(const uint16_t* to) { words_ = to; }

  // Replaces those of ByteLanes() tokens whose symbols are escapes.
  HWY_NOINLINE bool TakeEscapes(uint32_t escaped, int8_t* tokens) {
    for (; escaped != 0; escaped &= escaped - 1) {
      if (escapes_ == escapes_end_) return false;
      tokens[std::countr_zero(escaped)] = *escapes_++;
    }
    return true;
  }

  bool AtEnd() const {
    return words_ == words_end_ && escapes_ == escapes_end_;
  }

 private:
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

  const uint16_t* words_;
  const uint16_t* words_end_;
  const int8_t* escapes_;
  const int8_t* const escapes_end_;
  uint16_t tail_[3 * kLanes] = {};
};

// Decodes one block row by row, in three steps a row. Its vectors can stay in
// registers, as far as there are any, because its address is never taken.
class RowDecoder {
 public:
  HWY_INLINE RowDecoder(const RansStream& stream, StreamReader& reader,
                        int8_t* rows)
      : reader_(reader), rows_(rows) {
    for (size_t v = 0; v < kRowParts * kStateVectors; ++v) {
      states_[v] = hn::LoadU(D32(), stream.state + v * StateLanes());
    }
    for (size_t p = 0; p < kRowParts; ++p) {
      left_[p] = corner_[p] = hn::Zero(D8());
    }
  }

  // Finds the symbols of row `at`.
  HWY_INLINE void LookUp(const ContextVectors& vectors,
                         const DecodeTables& tables, size_t at, size_t row) {
    const D32 d;
    for (size_t p = 0; p < kRowParts; ++p) {
      const bool has_above = row > 0 && at >= row;
      V8 above = left_[p];
      if (HWY_LIKELY(has_above)) {
        above = hn::Load(D8(), rows_ + (at - row) * kLanes + p * ByteLanes());
      }
      V8 prediction;
      VU8 activity;
      Predict(left_[p], above, corner_[p], &prediction, &activity);
      if (HWY_LIKELY(has_above)) corner_[p] = above;
      subtracted_[p] = vectors.Subtracted(prediction);
      V32* const entries = entries_ + p * kStateVectors;
      SlotsOf(vectors.ContextOf(prediction, activity), entries);
      for (size_t v = 0; v < kStateVectors; ++v) {
        const V32 slot = hn::And(states_[p * kStateVectors + v],
                                 hn::Set(d, kProbabilityScale - 1));
        entries[v] = Table(tables.slot, hn::Or(entries[v], slot));
      }
    }
  }

  // Writes the tokens of the symbols found. Returns whether the stream can go
  // on.
  HWY_INLINE bool WriteTokens(size_t at) {
    const DU8 du8;
    for (size_t p = 0; p < kRowParts; ++p) {
      const VU8 symbol = LowestBytes(entries_ + p * kStateVectors);
      const V8 difference =
          hn::BitCast(D8(), hn::Xor(symbol, hn::Set(du8, uint8_t{0x80})));
      int8_t* const to = rows_ + at * kLanes + p * ByteLanes();
      left_[p] = hn::Add(difference, subtracted_[p]);
      hn::Store(left_[p], D8(), to);
      const uint32_t escaped =
          EscapeBits(hn::Eq(symbol, hn::Set(du8, uint8_t{kEscape})));
      if (HWY_UNLIKELY(escaped != 0)) {
        if (!reader_.TakeEscapes(escaped, to)) return false;
        left_[p] = hn::Load(D8(), to);
      }
    }
    return true;
  }

  // Takes the symbols found out of the states.
  HWY_INLINE void Advance() {
    const D32 d;
    const uint16_t* words = reader_.words();
    for (size_t v = 0; v < kRowParts * kStateVectors; ++v) {
      const V32 entry = entries_[v];
      const V32 frequency = hn::And(hn::ShiftRight<8>(entry), hn::Set(d, 4095));
      const V32 x = hn::Add(
          hn::Mul(frequency, hn::ShiftRight<kProbabilityBits>(states_[v])),
          hn::ShiftRight<20>(entry));
      // States are below 2^31, so that the sign tells which are too low.
      const V32 sign = hn::Sub(x, hn::Set(d, kStateLow));
      const uint32_t needed =
          MaskBits(hn::MaskFromVec(hn::BitCast(DI32(), sign)));
      const V32 shift = hn::And(hn::ShiftRight<27>(sign), hn::Set(d, 16));
      states_[v] = hn::Or(hn::Shl(x, shift), ExpandWords(words, needed));
      words += std::popcount(needed);
    }
    reader_.Advance(words);
  }

  // Whether all was used up as it should be.
  bool AtEnd() const {
    const D32 d;
    for (const V32& state : states_) {
      if (!hn::AllTrue(d, hn::Eq(state, hn::Set(d, kStateLow)))) return false;
    }
    return reader_.AtEnd();
  }

 private:
  static HWY_INLINE uint32_t EscapeBits(hn::Mask<DU8> mask) {
    uint8_t bytes[8] = {};
    hn::StoreMaskBits(DU8(), mask, bytes);
    uint32_t bits;
    std::memcpy(&bits, bytes, sizeof(bits));
    return bits;
  }

  StreamReader& reader_;
  int8_t* const rows_;
  V32 states_[kRowParts * kStateVectors];
  // Of the row before.
  V8 left_[kRowParts];
  V8 corner_[kRowParts];
  // Of the row being decoded.
  V8 subtracted_[kRowParts];
  V32 entries_[kRowParts * kStateVectors];
};

bool Decode(const ContextModel& model, const DecodeTables& tables,
            const RansStream& stream, size_t run, size_t row, int8_t* rows) {
  const ContextVectors vectors(model, kContextFactor);
  StreamReader reader(stream);
  RowDecoder decoder(stream, reader, rows);
  for (size_t at = 0; at < run; ++at) {
    if (!reader.HasRow()) return false;
    decoder.LookUp(vectors, tables, at, row);
    if (!decoder.WriteTokens(at)) return false;
    decoder.Advance();
  }
  return decoder.AtEnd();
}

// While one waits for its tables, the other goes on: step by step in turn, as a
// processor does not look far enough ahead to see a whole row.
bool DecodeTwo(const ContextModel& model, const DecodeTables& tables,
               const RansStream* streams, size_t run, size_t row,
               int8_t* const* rows) {
  const ContextVectors vectors(model, kContextFactor);
  StreamReader readers[2] = {StreamReader(streams[0]),
                             StreamReader(streams[1])};
  RowDecoder first(streams[0], readers[0], rows[0]);
  RowDecoder second(streams[1], readers[1], rows[1]);
  for (size_t at = 0; at < run; ++at) {
    if (!readers[0].HasRow() || !readers[1].HasRow()) return false;
    first.LookUp(vectors, tables, at, row);
    second.LookUp(vectors, tables, at, row);
    if (!first.WriteTokens(at) || !second.WriteTokens(at)) return false;
    first.Advance();
    second.Advance();
  }
  return first.AtEnd() && second.AtEnd();
}

}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec::sz
HWY_AFTER_NAMESPACE();

#endif  // include guard that lets every target include this file once
