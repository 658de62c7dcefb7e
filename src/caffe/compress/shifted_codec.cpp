// For contexts in memory of ours.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include <cmath>

#include "compress/block_codec.hpp"
#include "compress/codecs.hpp"

namespace caffe::codec {

namespace {

// What sz is not: values are a block's first one plus multiples of twice the
// bound, as with compressors that predict each value from the one before. Zeros
// come back as one small value wherever they stand. It is there to measure what
// that does to training; nobody would want to use it.
struct ShiftedCoder : BlockCoderBase {
  static constexpr std::string_view kName = "shifted";
  static constexpr std::string_view kGuarantee =
      "within the bound, but zeros not exact: to see what that does; "
      "infinities and NaN exact";
  static constexpr uint8_t kId = 11;
  static constexpr bool kIsExact = false;
  static constexpr bool kIsBounded = true;
  static constexpr int kLevel = 1;
  // Bytes of the difference of two neighbours, in steps.
  static constexpr int kKept = 0;
  static constexpr int kNoDifference = 128;

  double bound = 0;

  // One origin for as much as can be while threads still have blocks to share.
  ShiftedCoder() { block_values = 256 * 1024; }

  void Choose(const Shape& /*shape*/, const Settings& settings) {
    bound = settings.bound;
  }
  static constexpr size_t kMetaBytes = sizeof(double);
  void Write(uint8_t*& to) const { Store(to, bound); }
  void Read(ByteReader* in) { bound = in->Get<double>(); }

  template <typename T>
  size_t MaxCodedBytes(size_t n) const {
    return sizeof(T) + 2 * sizeof(uint32_t) + n * sizeof(T) +
           ZSTD_compressBound(n);
  }

  // The differences, then memory for zstd.
  template <typename T>
  size_t ScratchBytes(size_t n) const {
    return BytesFor(n) + std::max(EncoderBytes(n), ZSTD_estimateDCtxSize());
  }

  template <typename T>
  size_t Encode(const T* values, size_t n, uint64_t /*position*/,
                uint8_t* scratch, uint8_t* out) const {
    const T step = Step<T>();
    if (!(step > 0 && std::isfinite(step))) return kKeepRaw;
    const T* const first = std::find_if(
        values, values + n, [](T x) { return x != 0 && std::isfinite(x); });
    const T origin = first == values + n ? T(0) : *first;

    uint8_t* to = out;
    Store(to, origin);
    uint8_t* count_at = to;
    to += sizeof(uint32_t);
    uint32_t kept = 0;
    double level = 0;
    for (size_t i = 0; i < n; ++i) {
      const double wanted = std::rint(double{(values[i] - origin) / step});
      const double difference = wanted - level;
      // False for NaN.
      const bool fits = std::abs(difference) < kNoDifference &&
                        IsNear(values[i], ValueAt(wanted, step, origin));
      if (fits) {
        scratch[i] = static_cast<uint8_t>(kNoDifference + difference);
        level = wanted;
      } else {
        scratch[i] = kKept;
        Store(to, values[i]);
        ++kept;
      }
    }
    Store(count_at, kept);

    ZSTD_CCtx* const zstd =
        ZSTD_initStaticCCtx(scratch + BytesFor(n), EncoderBytes(n));
    uint8_t* const packed = to + sizeof(uint32_t);
    const size_t size = ZSTD_compressCCtx(zstd, packed, ZSTD_compressBound(n),
                                          scratch, n, kLevel);
    if (ZSTD_isError(size)) return kKeepRaw;
    Store(to, static_cast<uint32_t>(size));
    return packed + size - out;
  }

  template <typename T>
  bool Decode(std::span<const uint8_t> bytes, size_t n, uint8_t* scratch,
              T* values) const {
    ByteReader in(bytes);
    const T step = Step<T>();
    const T origin = in.Get<T>();
    const size_t count = in.Get<uint32_t>();
    if (count > n) return false;
    ByteReader kept(in.Take(count * sizeof(T)));
    const auto packed = in.Take(in.Get<uint32_t>());
    ZSTD_DCtx* const zstd =
        ZSTD_initStaticDCtx(scratch + BytesFor(n), ZSTD_estimateDCtxSize());
    if (ZSTD_decompressDCtx(zstd, scratch, n, packed.data(), packed.size()) !=
        n) {
      return false;
    }
    double level = 0;
    for (size_t i = 0; i < n; ++i) {
      if (scratch[i] == kKept) {
        values[i] = kept.Get<T>();
      } else {
        level += scratch[i] - kNoDifference;
        values[i] = ValueAt(level, step, origin);
      }
    }
    return kept.Rest().empty() && in.Rest().empty();
  }

 private:
  template <typename T>
  T Step() const {
    return 2 * static_cast<T>(bound);
  }

  // Levels are whole numbers below 2^53.
  template <typename T>
  static T ValueAt(double level, T step, T origin) {
    return static_cast<T>(level) * step + origin;
  }

  template <typename T>
  bool IsNear(T value, T decoded) const {
    return std::abs(double{value} - double{decoded}) <= bound;
  }

  static size_t BytesFor(size_t n) { return (n + 63) / 64 * 64; }
  static size_t EncoderBytes(size_t n) {
    return ZSTD_estimateCCtxSize_usingCParams(ZSTD_getCParams(kLevel, n, 0));
  }
};

}  // namespace

const Codec& ShiftedCodecInstance() {
  static const BlockCodec<ShiftedCoder> codec;
  return codec;
}

}  // namespace caffe::codec
