#include "compress/block_codec.hpp"
#include "compress/codecs.hpp"
#include "compress/sparse.hpp"

// Highway compiles what follows once for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/csr_codec.cpp"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "compress/sparse-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::codec {
namespace HWY_NAMESPACE {
namespace {

uint8_t* PackRows(const float* values, size_t rows, uint8_t* to) {
  for (size_t r = 0; r < rows; ++r) {
    const float* const row = values + r * kRowValues;
    uint64_t words[kRowWords];
    for (size_t w = 0; w < kRowWords; ++w) {
      words[w] = NonZeros64(row + w * kWordValues);
    }
    Store(to, static_cast<uint16_t>(CountOf(words)));
    to = StoreColumns(words, to);
    for (size_t w = 0; w < kRowWords; ++w) {
      to = Pack64(row + w * kWordValues, words[w], to);
    }
  }
  return to;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace caffe::codec {

namespace {

HWY_EXPORT(PackRows);

// Compressed sparse rows of 256 values, as Gist has them: how many values of
// a row are not zero, in which columns, and what they are.
struct CsrCoder : BlockCoderBase {
  static constexpr std::string_view kName = "csr";
  static constexpr std::string_view kGuarantee = "every value exact";
  static constexpr uint8_t kId = 9;
  static constexpr bool kIsExact = true;

  template <typename T>
  size_t MaxCodedBytes(size_t n) const {
    const size_t rows = (n + kRowValues - 1) / kRowValues;
    return rows * sizeof(uint16_t) + n * (1 + sizeof(T));
  }

  template <typename T>
  size_t Encode(const T* values, size_t n, uint64_t /*position*/,
                uint8_t* /*scratch*/, uint8_t* out) const {
    uint8_t* to = out;
    size_t i = 0;
    if constexpr (std::is_same_v<T, float>) {
      to = HWY_DYNAMIC_DISPATCH(PackRows)(values, n / kRowValues, to);
      i = n - n % kRowValues;
    }
    for (; i < n; i += kRowValues) {
      const size_t some = std::min(n - i, kRowValues);
      uint64_t words[kRowWords] = {};
      for (size_t w = 0; w * kWordValues < some; ++w) {
        words[w] = WordOf(values + i + w * kWordValues,
                          std::min(some - w * kWordValues, kWordValues),
                          [](T x) { return !IsZeroBits(x); });
      }
      Store(to, static_cast<uint16_t>(CountOf(words)));
      to = StoreColumns(words, to);
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
    std::fill_n(values, n, T(0));
    for (size_t i = 0; i < n; i += kRowValues) {
      const size_t some = std::min(n - i, kRowValues);
      const auto count = in.Get<uint16_t>();
      if (count > some) return false;
      const auto columns = in.Take(count);
      const auto packed = in.Take(count * sizeof(T));
      for (size_t k = 0; k < count; ++k) {
        if (columns[k] >= some) return false;
        std::memcpy(&values[i + columns[k]], &packed[k * sizeof(T)], sizeof(T));
      }
    }
    return in.Rest().empty();
  }
};

}  // namespace

const Codec& CsrCodecInstance() {
  static const BlockCodec<CsrCoder> codec;
  return codec;
}

}  // namespace caffe::codec
#endif  // HWY_ONCE
