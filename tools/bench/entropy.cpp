#include <cmath>
#include <unordered_map>

#include "bench/quantized.hpp"

// What no coder that looks at one quantised value at a time can beat.
namespace caffe {

namespace {

class Entropy : public Contender {
 public:
  std::string name() const override { return "(order-0 entropy)"; }
  bool is_real() const override { return false; }
  size_t MaxBytes(const Tensor&) const override { return 0; }

  size_t Compress(const Tensor& tensor, double bound,
                  std::span<uint8_t>) override {
    const std::vector<int32_t> codes = Quantize(tensor.Values<float>(), bound);
    std::unordered_map<int32_t, double> counts;
    for (const int32_t code : codes) ++counts[code];
    double bits = 0;
    for (const auto& [code, count] : counts) {
      bits -= count * std::log2(count / static_cast<double>(codes.size()));
    }
    return static_cast<size_t>(bits / 8);
  }
  void Decompress(std::span<const uint8_t>, double, Tensor*) override {}
};

const ContenderMaker maker(10, [](Contenders* contenders) {
  contenders->push_back(std::make_unique<Entropy>());
});

}  // namespace

}  // namespace caffe
