#include "compress/block_codec.hpp"
#include "compress/codecs.hpp"
#include "compress/sparse.hpp"

// Highway compiles what follows once for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/zvc_codec.cpp"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "compress/sparse-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::codec {
namespace HWY_NAMESPACE {
namespace {

// Words of bits to `bits`, the values that are not zero to `to`; returns where
// these end.
uint8_t* PackWords(const float* values, size_t words, uint8_t* bits,
                   uint8_t* to) {
  for (size_t w = 0; w < words; ++w) {
    const float* const from = values + w * kWordValues;
    const uint64_t word = NonZeros64(from);
    std::memcpy(bits + w * sizeof(word), &word, sizeof(word));
    to = Pack64(from, word, to);
  }
  return to;
}

// Restores as many whole words as can be without reading too far; returns how
// many values of how many bytes.
Unpacked UnpackWords(std::span<const uint8_t> bits,
                     std::span<const uint8_t> packed, float* values) {
  const size_t words = bits.size() / sizeof(uint64_t);
  const uint8_t* from = packed.data();
  const uint8_t* const end = from + packed.size();
  size_t w = 0;
  for (; w < words; ++w) {
    const uint64_t word = LoadWord(bits.data() + w * sizeof(word), kWordValues);
    const size_t needed = std::popcount(word) * sizeof(float) + kUnpackSlack;
    if (static_cast<size_t>(end - from) < needed) break;
    from = Unpack64(from, word, values + w * kWordValues);
  }
  return {w * kWordValues, static_cast<size_t>(from - packed.data())};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace caffe::codec {

namespace {

HWY_EXPORT(PackWords);
HWY_EXPORT(UnpackWords);

// A bit a value and, one after the other, the values that are not zero.
struct ZvcCoder : BlockCoderBase {
  static constexpr std::string_view kName = "zvc";
  static constexpr std::string_view kGuarantee = "every value exact";
  static constexpr uint8_t kId = 8;
  static constexpr bool kIsExact = true;

  template <typename T>
  size_t MaxCodedBytes(size_t n) const {
    return BitBytes(n) + n * sizeof(T);
  }

  template <typename T>
  size_t Encode(const T* values, size_t n, uint64_t /*position*/,
                uint8_t* /*scratch*/, uint8_t* out) const {
    uint8_t* to = out + BitBytes(n);
    size_t i = 0;
    if constexpr (std::is_same_v<T, float>) {
      to = HWY_DYNAMIC_DISPATCH(PackWords)(values, n / kWordValues, out, to);
      i = n - n % kWordValues;
    }
    for (; i < n; i += kWordValues) {
      const size_t some = std::min(n - i, kWordValues);
      StoreWord(WordOf(values + i, some, [](T x) { return !IsZeroBits(x); }),
                some, out + i / 8);
      for (size_t k = i; k < i + some; ++k) {
        if (!IsZeroBits(values[k])) Store(to, values[k]);
      }
    }
    return to - out;
  }

  template <typename T>
  bool Decode(std::span<const uint8_t> bytes, size_t n, uint8_t* /*scratch*/,
              T* values) const {
    ByteReader in(bytes);
    const auto bits = in.Take(BitBytes(n));
    size_t i = 0;
    if constexpr (std::is_same_v<T, float>) {
      const Unpacked done = HWY_DYNAMIC_DISPATCH(UnpackWords)(
          bits.first(n / 64 * 8), in.Rest(), values);
      in.Take(done.bytes);
      i = done.values;
    }
    for (; i < n; ++i) {
      const bool is_zero = (bits[i / 8] >> i % 8 & 1) == 0;
      values[i] = is_zero ? T(0) : in.Get<T>();
    }
    return in.Rest().empty();
  }
};

}  // namespace

const Codec& ZvcCodecInstance() {
  static const BlockCodec<ZvcCoder> codec;
  return codec;
}

}  // namespace caffe::codec
#endif  // HWY_ONCE
