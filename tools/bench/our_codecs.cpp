#include "bench/contender.hpp"
#include "codec_measures.hpp"

// Every registered codec, at every level that makes a difference.
namespace caffe {

namespace {

class OurCodec : public Contender {
 public:
  OurCodec(const codec::Codec& codec, const std::string& variant,
           const codec::Settings& settings)
      : codec_(codec), variant_(variant), settings_(settings) {}

  std::string name() const override {
    return std::string(codec_.name()) + variant_;
  }
  bool is_parallel() const override { return true; }
  bool supports(codec::DataType) const override { return true; }

  size_t MaxBytes(const Tensor& tensor) const override {
    return codec_.MaxBytes(tensor.shape(), tensor.type());
  }
  size_t Compress(const Tensor& tensor, double bound,
                  std::span<uint8_t> out) override {
    settings_.bound = bound;
    return codec_.Compress(tensor.view(), settings_, context_, out);
  }
  void Decompress(std::span<const uint8_t> packed, double,
                  Tensor* tensor) override {
    DecompressInto(codec_, packed, {}, context_, tensor);
  }

 private:
  const codec::Codec& codec_;
  const std::string variant_;
  codec::Settings settings_;
  codec::Context context_;
};

const ContenderMaker maker(0, [](Contenders* contenders) {
  using codec::Level;
  using codec::Rounding;
  for (const codec::Codec* const codec : codec::Codecs()) {
    const auto add = [&](const std::string& variant, Level level,
                         Rounding rounding) {
      contenders->push_back(std::make_unique<OurCodec>(
          *codec, variant,
          codec::Settings{.rounding = rounding, .level = level}));
    };
    if (codec->name() == "sz") {
      add("-dense", Level::kDense, Rounding::kNearest);
      add("-fast", Level::kFast, Rounding::kNearest);
      add("-dense-dither", Level::kDense, Rounding::kDither);
      add("-fast-dither", Level::kFast, Rounding::kDither);
    } else if (codec->name() == "jpeg") {
      add("-80", Level::kFast, Rounding::kNearest);
      add("-flat", Level::kDense, Rounding::kNearest);
    } else {
      add("", Level::kDense, Rounding::kNearest);
    }
  }
});

}  // namespace

}  // namespace caffe
