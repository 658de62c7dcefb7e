#include "compress/block_codec.hpp"
#include "compress/codecs.hpp"
#include "compress/sparse.hpp"

// Highway compiles what follows once for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/bitmask_codec.cpp"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "compress/sparse-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::codec {
namespace HWY_NAMESPACE {
namespace {

void PositiveWords(const float* values, size_t words, uint8_t* out) {
  for (size_t w = 0; w < words; ++w) {
    const uint64_t word = BitsOf64(values + w * kWordValues, [](hn::Vec<DF> v) {
      return hn::Gt(v, hn::Zero(DF()));
    });
    std::memcpy(out + w * sizeof(word), &word, sizeof(word));
  }
}

void OnesOfWords(const uint8_t* in, size_t words, float* values) {
  const DF df;
  for (size_t w = 0; w < words; ++w) {
    const uint64_t word = LoadWord(in + w * sizeof(word), kWordValues);
    for (size_t i = 0; i < kWordValues; i += hn::Lanes(df)) {
      hn::StoreU(hn::IfThenElseZero(MaskOf(word, i), hn::Set(df, 1.0f)), df,
                 values + w * kWordValues + i);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace caffe::codec {

namespace {

HWY_EXPORT(PositiveWords);
HWY_EXPORT(OnesOfWords);

// One bit a value: all that the backward pass of a ReLU or of a dropout reads.
struct BitmaskCoder : BlockCoderBase {
  static constexpr std::string_view kName = "bitmask";
  static constexpr std::string_view kGuarantee =
      "only whether a value is positive: 1 where it is, else 0";
  static constexpr uint8_t kId = 4;
  static constexpr bool kIsExact = false;

  BitmaskCoder() { block_values = 64 * 1024; }

  template <typename T>
  size_t MaxCodedBytes(size_t n) const {
    return BitBytes(n);
  }

  template <typename T>
  size_t Encode(const T* values, size_t n, uint64_t /*position*/,
                uint8_t* /*scratch*/, uint8_t* out) const {
    size_t i = 0;
    if constexpr (std::is_same_v<T, float>) {
      HWY_DYNAMIC_DISPATCH(PositiveWords)(values, n / kWordValues, out);
      i = n - n % kWordValues;
    }
    for (; i < n; i += kWordValues) {
      const size_t some = std::min(n - i, kWordValues);
      StoreWord(WordOf(values + i, some, [](T x) { return x > T(0); }), some,
                out + i / 8);
    }
    return BitBytes(n);
  }

  template <typename T>
  bool Decode(std::span<const uint8_t> bytes, size_t n, uint8_t* /*scratch*/,
              T* values) const {
    if (bytes.size() != BitBytes(n)) return false;
    size_t i = 0;
    if constexpr (std::is_same_v<T, float>) {
      HWY_DYNAMIC_DISPATCH(OnesOfWords)(bytes.data(), n / kWordValues, values);
      i = n - n % kWordValues;
    }
    for (; i < n; ++i) values[i] = static_cast<T>(bytes[i / 8] >> i % 8 & 1);
    return true;
  }
};

}  // namespace

const Codec& BitmaskCodecInstance() {
  static const BlockCodec<BitmaskCoder> codec;
  return codec;
}

}  // namespace caffe::codec
#endif  // HWY_ONCE
