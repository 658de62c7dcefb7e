// For contexts in memory of ours.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "compress/block_codec.hpp"
#include "compress/codecs.hpp"

// Highway compiles what follows once for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/lossless_codec.cpp"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::codec {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<uint8_t>;

// Bytes k of all floats to planes[k]. Both return how many floats were done;
// the last few are left.
size_t SplitBytes(const uint8_t* values, size_t n, uint8_t* const planes[4]) {
  const D8 d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::Vec<D8> v0, v1, v2, v3;
    hn::LoadInterleaved4(d, values + 4 * i, v0, v1, v2, v3);
    hn::StoreU(v0, d, planes[0] + i);
    hn::StoreU(v1, d, planes[1] + i);
    hn::StoreU(v2, d, planes[2] + i);
    hn::StoreU(v3, d, planes[3] + i);
  }
  return i;
}

size_t JoinBytes(const uint8_t* const planes[4], size_t n, uint8_t* values) {
  const D8 d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::StoreInterleaved4(hn::LoadU(d, planes[0] + i),
                          hn::LoadU(d, planes[1] + i),
                          hn::LoadU(d, planes[2] + i),
                          hn::LoadU(d, planes[3] + i), d, values + 4 * i);
  }
  return i;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace caffe::codec {

namespace {

HWY_EXPORT(SplitBytes);
HWY_EXPORT(JoinBytes);

// zstd on the bytes of the values, all first bytes first: exponents are alike
// and pack well; the last bytes are noise, which is kept as it is.
struct LosslessCoder : BlockCoderBase {
  static constexpr std::string_view kName = "lossless";
  static constexpr std::string_view kGuarantee = "every value exact";
  static constexpr uint8_t kId = 3;
  static constexpr bool kIsExact = true;
  static constexpr int kLevel = 1;

  LosslessCoder() { block_values = 64 * 1024; }

  template <typename T>
  size_t MaxCodedBytes(size_t n) const {
    return sizeof(T) * (sizeof(uint32_t) + ZSTD_compressBound(n));
  }

  // The planes, then memory for zstd.
  template <typename T>
  size_t ScratchBytes(size_t n) const {
    return PlanesBytes<T>(n) +
           std::max(EncoderBytes(n), ZSTD_estimateDCtxSize());
  }

  template <typename T>
  size_t Encode(const T* values, size_t n, uint64_t /*position*/,
                uint8_t* scratch, uint8_t* out) const {
    uint8_t* planes[sizeof(T)];
    for (size_t k = 0; k < sizeof(T); ++k) planes[k] = scratch + k * n;
    const auto* const from = reinterpret_cast<const uint8_t*>(values);
    size_t i = 0;
    if constexpr (std::is_same_v<T, float>) {
      i = HWY_DYNAMIC_DISPATCH(SplitBytes)(from, n, planes);
    }
    for (; i < n; ++i) {
      for (size_t k = 0; k < sizeof(T); ++k) {
        planes[k][i] = from[i * sizeof(T) + k];
      }
    }
    ZSTD_CCtx* const zstd =
        ZSTD_initStaticCCtx(scratch + PlanesBytes<T>(n), EncoderBytes(n));
    uint8_t* to = out;
    for (const uint8_t* const plane : planes) {
      uint8_t* const coded = to + sizeof(uint32_t);
      size_t size = ZSTD_compressCCtx(zstd, coded, ZSTD_compressBound(n), plane,
                                      n, kLevel);
      if (ZSTD_isError(size) || size >= n) {
        std::memcpy(coded, plane, n);
        size = n;
      }
      Store(to, static_cast<uint32_t>(size));
      to += size;
    }
    return to - out;
  }

  template <typename T>
  bool Decode(std::span<const uint8_t> bytes, size_t n, uint8_t* scratch,
              T* values) const {
    ZSTD_DCtx* const zstd = ZSTD_initStaticDCtx(scratch + PlanesBytes<T>(n),
                                                ZSTD_estimateDCtxSize());
    ByteReader in(bytes);
    const uint8_t* planes[sizeof(T)];
    for (size_t k = 0; k < sizeof(T); ++k) {
      const auto size = in.Get<uint32_t>();
      const auto coded = in.Take(size);
      planes[k] = coded.data();
      if (size == n) continue;
      uint8_t* const plane = scratch + k * n;
      if (ZSTD_decompressDCtx(zstd, plane, n, coded.data(), size) != n) {
        return false;
      }
      planes[k] = plane;
    }
    auto* const to = reinterpret_cast<uint8_t*>(values);
    size_t i = 0;
    if constexpr (std::is_same_v<T, float>) {
      i = HWY_DYNAMIC_DISPATCH(JoinBytes)(planes, n, to);
    }
    for (; i < n; ++i) {
      for (size_t k = 0; k < sizeof(T); ++k) {
        to[i * sizeof(T) + k] = planes[k][i];
      }
    }
    return in.Rest().empty();
  }

 private:
  template <typename T>
  static size_t PlanesBytes(size_t n) {
    return (n * sizeof(T) + 63) / 64 * 64;
  }
  static size_t EncoderBytes(size_t n) {
    return ZSTD_estimateCCtxSize_usingCParams(ZSTD_getCParams(kLevel, n, 0));
  }
};

}  // namespace

const Codec& LosslessCodecInstance() {
  static const BlockCodec<LosslessCoder> codec;
  return codec;
}

}  // namespace caffe::codec
#endif  // HWY_ONCE
