#include <omp.h>

#include <cmath>
#include <random>

#include "caffe/test/test_caffe_main.hpp"
#include "convolution_test_util.hpp"
#include "cpu/convolution_dnnl.hpp"
#include "cpu/engine.hpp"
#include "cpu/parallel.hpp"
#include "cpu/workspace.hpp"

namespace caffe::cpu {

namespace {

using Values = std::vector<float>;

// A shape whose output follows from the rest.
ConvolutionShape Shape(int batch, int group, int in_channels, int out_channels,
                       const std::vector<int>& input,
                       const std::vector<int>& kernel,
                       const std::vector<int>& stride,
                       const std::vector<int>& pad,
                       const std::vector<int>& dilation) {
  ConvolutionShape shape{batch,  group,  in_channels, out_channels, input,
                         kernel, stride, pad,         dilation,     {}};
  for (size_t i = 0; i < input.size(); ++i) {
    const int window = dilation[i] * (kernel[i] - 1) + 1;
    shape.output.push_back((input[i] + 2 * pad[i] - window) / stride[i] + 1);
  }
  return shape;
}

// A square one, without dilation.
ConvolutionShape Square(int batch, int group, int in_channels, int out_channels,
                        int side, int kernel, int stride, int pad) {
  return Shape(batch, group, in_channels, out_channels, {side, side},
               {kernel, kernel}, {stride, stride}, {pad, pad}, {1, 1});
}

// Those that common nets consist of, at smaller sizes: oneDNN must have fast
// kernels for them.
std::vector<ConvolutionShape> CommonShapes() {
  return {
      Square(2, 1, 3, 96, 59, 11, 4, 0),   // AlexNet conv1
      Square(2, 2, 32, 64, 13, 5, 1, 2),   // conv2
      Square(3, 1, 64, 48, 13, 3, 1, 1),   // conv3
      Square(2, 2, 64, 64, 13, 3, 1, 1),   // conv4
      Square(1, 1, 3, 64, 31, 3, 1, 1),    // VGG
      Square(2, 1, 32, 64, 14, 3, 1, 1),   //
      Square(2, 1, 3, 64, 45, 7, 2, 3),    // ResNet
      Square(2, 1, 64, 32, 14, 1, 1, 0),   //
      Square(2, 1, 32, 64, 14, 1, 2, 0),   //
      Square(2, 1, 32, 32, 14, 3, 2, 1),   //
      Square(4, 1, 1, 20, 28, 5, 1, 0),    // LeNet
      Square(4, 1, 20, 50, 12, 5, 1, 0),   //
      Square(4, 1, 3, 32, 32, 5, 1, 2),    // cifar10
      Square(2, 32, 32, 32, 14, 3, 1, 1),  // depthwise
      Square(2, 16, 16, 16, 15, 3, 2, 1),  //
      // In several parts, with a rest.
      Square(5, 1, 64, 64, 56, 1, 1, 0),
      Square(3, 1, 8, 8, 128, 3, 1, 1),
      Shape(2, 1, 16, 16, {17, 13}, {3, 3}, {1, 1}, {2, 2}, {2, 2}),
  };
}

// Odd numbers of everything.
std::vector<ConvolutionShape> OtherShapes() {
  return {
      Square(1, 1, 1, 1, 1, 1, 1, 0),
      Square(1, 1, 1, 1, 5, 3, 1, 1),
      Square(3, 1, 7, 5, 9, 3, 2, 1),
      Square(2, 3, 9, 6, 8, 3, 1, 1),
      Square(2, 5, 5, 10, 7, 3, 1, 1),
      Square(2, 7, 7, 7, 7, 5, 3, 2),
      Square(2, 1, 17, 33, 10, 1, 3, 0),
      Square(1, 1, 4, 4, 6, 6, 1, 0),
      Square(1, 1, 4, 4, 6, 2, 6, 1),
      // More padding than kernel.
      Square(2, 1, 3, 4, 5, 2, 1, 3),
      Square(2, 1, 3, 4, 5, 1, 1, 2),
      Shape(2, 1, 5, 6, {9, 4}, {3, 2}, {2, 1}, {0, 1}, {1, 1}),
      Shape(2, 2, 4, 6, {19, 21}, {3, 5}, {2, 3}, {5, 2}, {4, 3}),
      Shape(1, 1, 16, 16, {1, 40}, {1, 7}, {1, 2}, {0, 3}, {1, 1}),
      // Other numbers of axes.
      Shape(3, 1, 6, 5, {}, {}, {}, {}, {}),
      Shape(3, 2, 6, 4, {}, {}, {}, {}, {}),
      Shape(3, 1, 16, 32, {50}, {5}, {2}, {2}, {1}),
      Shape(2, 3, 6, 9, {23}, {3}, {1}, {2}, {2}),
      Shape(2, 1, 16, 16, {6, 7, 8}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1},
            {1, 1, 1}),
      Shape(1, 1, 3, 4, {5, 6, 7}, {2, 3, 1}, {1, 1, 2}, {1, 0, 0}, {1, 2, 1}),
      Shape(1, 1, 2, 3, {4, 3, 4, 3}, {2, 2, 2, 2}, {1, 2, 1, 1}, {1, 0, 1, 0},
            {1, 1, 2, 1}),
  };
}

std::vector<ConvolutionShape> AllShapes() {
  std::vector<ConvolutionShape> shapes = CommonShapes();
  for (const ConvolutionShape& shape : OtherShapes()) shapes.push_back(shape);
  return shapes;
}

string ToString(const ConvolutionShape& shape) {
  std::ostringstream out;
  out << "batch " << shape.batch << " group " << shape.group << " channels "
      << shape.in_channels << " to " << shape.out_channels;
  for (size_t i = 0; i < shape.input.size(); ++i) {
    out << "; " << shape.input[i] << " by " << shape.kernel[i] << " stride "
        << shape.stride[i] << " pad " << shape.pad[i] << " dilation "
        << shape.dilation[i];
  }
  return out.str();
}

int64_t WeightCount(const ConvolutionShape& shape) {
  return ConvolutionShape::Product(shape.kernel) * shape.out_channels *
         (shape.in_channels / shape.group);
}

// Random operands, and room for the results. Gradients of parameters start
// with values, which must still be in the sums.
struct Problem {
  explicit Problem(const ConvolutionShape& shape)
      : shape(shape),
        input(Random(shape.batch * shape.InputSize(), 1)),
        weights(Random(WeightCount(shape), 2)),
        bias(Random(shape.out_channels, 3)),
        output(shape.batch * shape.OutputSize(), NAN),
        output_diff(Random(shape.batch * shape.OutputSize(), 4)),
        input_diff(input.size(), NAN),
        weights_diff(Random(weights.size(), 5)),
        bias_diff(Random(bias.size(), 6)) {}

  static Values Random(int64_t count, int seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    Values values(count);
    for (float& value : values) value = uniform(generator);
    return values;
  }

  void Run() {
    ConvolutionForward(shape, input.data(), weights.data(), bias.data(),
                       output.data());
    ConvolutionBackward(
        shape, input.data(), weights.data(), output_diff.data(),
        ConvolutionGradients<float>{input_diff.data(), weights_diff.data(),
                                    bias_diff.data()});
  }

  // Everything Run computes, one after the other.
  Values Results() const {
    Values all;
    for (const Values* part :
         {&output, &input_diff, &weights_diff, &bias_diff}) {
      all.insert(all.end(), part->begin(), part->end());
    }
    return all;
  }

  // The same by the definition.
  std::vector<double> Expected() const {
    std::vector<double> out(output.size());
    std::vector<double> in(input.size());
    std::vector<double> w(weights_diff.begin(), weights_diff.end());
    std::vector<double> b(bias_diff.begin(), bias_diff.end());
    const int64_t inner = shape.OutputSize() / shape.out_channels;
    for (size_t i = 0; i < out.size(); ++i) {
      const int64_t channel = i / inner % shape.out_channels;
      out[i] = bias[channel];
      b[channel] += output_diff[i];
    }
    ForAllProducts(shape, [&](int64_t x, int64_t y, int64_t weight) {
      out[y] += double(input[x]) * weights[weight];
      in[x] += double(output_diff[y]) * weights[weight];
      w[weight] += double(output_diff[y]) * input[x];
    });
    for (const auto& part : {in, w, b}) {
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }

  ConvolutionShape shape;
  Values input;
  Values weights;
  Values bias;
  Values output;
  Values output_diff;
  Values input_diff;
  Values weights_diff;
  Values bias_diff;
};

void ExpectNear(const std::vector<double>& expected, const Values& results,
                const string& what) {
  ASSERT_EQ(expected.size(), results.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    // Far less than one product too many or too few makes.
    ASSERT_NEAR(expected[i], results[i], 1e-3 * (1 + std::fabs(expected[i])))
        << what << ", value " << i;
  }
}

}  // namespace

TEST(ConvolutionKernelsTest, FastAndReferenceAreTheDefinition) {
  for (const ConvolutionShape& shape : AllShapes()) {
    Problem fast(shape);
    Problem reference(shape);
    const std::vector<double> expected = fast.Expected();
    fast.Run();
    ExpectNear(expected, fast.Results(), "fast: " + ToString(shape));
    const ScopedKernels scope(Kernels::kReference);
    reference.Run();
    ExpectNear(expected, reference.Results(), "reference: " + ToString(shape));
  }
}

TEST(ConvolutionKernelsTest, CommonShapesHaveFastKernels) {
  for (const ConvolutionShape& shape : CommonShapes()) {
    Problem p(shape);
    EXPECT_TRUE(DnnlConvolutionForward(shape, p.input.data(), p.weights.data(),
                                       nullptr, p.output.data()))
        << ToString(shape);
    EXPECT_TRUE(DnnlConvolutionBackward(
        shape, p.input.data(), p.weights.data(), p.output_diff.data(),
        {p.input_diff.data(), p.weights_diff.data(), nullptr}))
        << ToString(shape);
  }
}

TEST(ConvolutionKernelsTest, EveryGradientCanBeHadAlone) {
  for (const ConvolutionShape& shape :
       {Square(5, 1, 64, 64, 56, 1, 1, 0), Square(2, 2, 32, 64, 13, 5, 1, 2),
        Square(2, 1, 3, 4, 5, 2, 1, 3)}) {
    Problem all(shape);
    all.Run();
    Problem single(shape);
    const auto run = [&](const float* input, const float* weights,
                         const ConvolutionGradients<float>& gradients) {
      ConvolutionBackward(shape, input, weights, single.output_diff.data(),
                          gradients);
    };
    run(nullptr, single.weights.data(), {.input = single.input_diff.data()});
    run(single.input.data(), nullptr, {.weights = single.weights_diff.data()});
    run(nullptr, nullptr, {.bias = single.bias_diff.data()});
    EXPECT_EQ(all.input_diff, single.input_diff);
    EXPECT_EQ(all.weights_diff, single.weights_diff);
    for (size_t i = 0; i < all.bias_diff.size(); ++i) {
      EXPECT_NEAR(all.bias_diff[i], single.bias_diff[i],
                  1e-4 * (1 + std::fabs(all.bias_diff[i])));
    }
  }
}

TEST(ConvolutionKernelsTest, RunsAreBitReproducible) {
  for (const int threads : {1, 2}) {
    const ScopedThreads scope(threads);
    for (const ConvolutionShape& shape : CommonShapes()) {
      Problem first(shape);
      Problem second(shape);
      first.Run();
      // Whatever is left in the workspace must not matter.
      Workspace::Get().Release();
      second.Run();
      EXPECT_EQ(first.Results(), second.Results()) << ToString(shape);
    }
  }
}

TEST(ConvolutionKernelsTest, LargeBatchesAreNotConvertedAsAWhole) {
  const ScopedThreads scope(2);
  const ConvolutionShape shape = Square(32, 1, 32, 32, 56, 1, 1, 0);
  Problem problem(shape);
  Workspace::Get().Release();
  problem.Run();
  const size_t batch_size =
      (problem.input.size() + problem.output.size()) * sizeof(float);
  EXPECT_LT(0u, Workspace::Get().size());
  EXPECT_GT(batch_size / 4, Workspace::Get().size());
}

}  // namespace caffe::cpu
