#include "bench/samples.hpp"

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <cmath>

namespace caffe {

namespace {

using codec::Shape;

// Noise with each value pulled towards its left and upper neighbours: 0 leaves
// noise, 1 makes clouds.
void FillSmooth(double smoothness, uint32_t seed, Tensor* tensor) {
  boost::mt19937 rng(seed);
  const Shape& shape = tensor->shape();
  const auto row = static_cast<size_t>(shape.extent[shape.axes - 1]);
  const size_t plane = row * static_cast<size_t>(shape.extent[shape.axes - 2]);
  const std::span<float> values = tensor->MutableValues<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const double noise = (rng() / 4294967296.0 + rng() / 4294967296.0 +
                          rng() / 4294967296.0 - 1.5) *
                         2;
    const bool has_left = i % row > 0;
    const bool has_above = i % plane >= row;
    const double left = has_left ? values[i - 1] : 0;
    const double above = has_above ? values[i - row] : 0;
    const double corner = has_left && has_above ? values[i - row - 1] : 0;
    values[i] = static_cast<float>(smoothness * (left + above) -
                                   smoothness * smoothness * corner +
                                   (1 - smoothness * smoothness) * noise);
  }
}

void Relu(Tensor* tensor) {
  for (float& v : tensor->MutableValues<float>()) v = std::max(v, 0.0f);
}

}  // namespace

std::vector<Sample> GeneratedSamples(int64_t values) {
  struct Recipe {
    const char* name;
    int64_t channels;
    int64_t side;
    double smoothness;
    bool relu;
  };
  constexpr Recipe kRecipes[] = {{"smooth", 64, 56, 0.9, false},
                                 {"smooth_relu", 64, 56, 0.9, true},
                                 {"rough", 128, 28, 0.5, false},
                                 {"rough_relu", 128, 28, 0.5, true},
                                 {"noise_relu", 256, 14, 0, true}};
  std::vector<Sample> samples;
  uint32_t seed = 1;
  for (const Recipe& recipe : kRecipes) {
    const int64_t image = recipe.channels * recipe.side * recipe.side;
    const int64_t images = std::max<int64_t>(1, values / image);
    Tensor tensor(Shape{images, recipe.channels, recipe.side, recipe.side},
                  codec::DataType::kFloat32);
    FillSmooth(recipe.smoothness, seed++, &tensor);
    if (recipe.relu) Relu(&tensor);
    samples.push_back({recipe.name, std::move(tensor)});
  }
  return samples;
}

}  // namespace caffe
