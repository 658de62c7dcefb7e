#include "compress/block_codec.hpp"
#include "compress/codecs.hpp"

namespace caffe::codec {

namespace {

// Keeps the values as they are: what others are measured against.
struct RawCoder : BlockCoderBase {
  static constexpr std::string_view kName = "raw";
  static constexpr std::string_view kGuarantee = "every value exact";
  static constexpr uint8_t kId = 0;
  static constexpr bool kIsExact = true;

  template <typename T>
  size_t MaxCodedBytes(size_t /*n*/) const {
    return 0;
  }
  template <typename T>
  size_t Encode(const T* /*values*/, size_t /*n*/, uint64_t /*position*/,
                uint8_t* /*scratch*/, uint8_t* /*out*/) const {
    return kKeepRaw;
  }
  template <typename T>
  bool Decode(std::span<const uint8_t> /*bytes*/, size_t /*n*/,
              uint8_t* /*scratch*/, T* /*values*/) const {
    return false;
  }
};

}  // namespace

const Codec& RawCodecInstance() {
  static const BlockCodec<RawCoder> codec;
  return codec;
}

}  // namespace caffe::codec
