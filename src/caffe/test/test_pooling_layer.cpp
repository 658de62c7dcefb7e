#include "caffe/layers/pooling_layer.hpp"

#include <cfloat>
#include <numeric>

#include "layer_test.hpp"

namespace caffe {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// One axis by Caffe's rules, as they are written down there: in floating
// point, with ranges cut to the image one after the other.
struct NaiveAxis {
  NaiveAxis(int extent, int kernel, int stride, int pad, bool any_pad,
            bool ceil_mode)
      : extent(extent), kernel(kernel), stride(stride), pad(pad) {
    const double steps = double(extent + 2 * pad - kernel) / stride;
    pooled = static_cast<int>(ceil_mode ? std::ceil(steps) : std::floor(steps));
    ++pooled;
    if (any_pad && (pooled - 1) * stride >= extent + pad) --pooled;
  }
  bool Covers(int out, int in) const {
    return in >= out * stride - pad && in < out * stride - pad + kernel;
  }
  int AverageSize(int out) const {
    const int start = out * stride - pad;
    return std::min(start + kernel, extent + pad) - start;
  }
  int extent, kernel, stride, pad, pooled;
};

struct Settings {
  int height, width, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
  bool ceil_mode = true;
};

const Settings kSettings[] = {
    {4, 4, 2, 2, 2, 2, 0, 0},
    {5, 7, 2, 2, 2, 2, 0, 0},
    {7, 6, 3, 3, 2, 2, 0, 0},
    {8, 9, 3, 3, 2, 2, 0, 0},
    {8, 9, 3, 3, 2, 2, 0, 0, false},
    {8, 9, 3, 3, 2, 2, 1, 1},
    {8, 9, 3, 3, 2, 2, 1, 1, false},
    {7, 7, 3, 3, 1, 1, 1, 1},
    {6, 8, 3, 2, 1, 3, 2, 1},
    {6, 8, 3, 2, 1, 3, 0, 1},
    {5, 5, 4, 4, 3, 3, 3, 3},
    {2, 2, 3, 3, 2, 2, 0, 0},
    {3, 40, 3, 5, 1, 1, 1, 4},
    {1, 1, 1, 1, 1, 1, 0, 0},
    {30, 33, 5, 5, 3, 3, 2, 2},
    {60, 50, 16, 16, 7, 7, 8, 8},
    // Windows that cover nothing: steps are longer than windows.
    {5, 8, 1, 1, 3, 3, 0, 0},
    {5, 8, 1, 2, 3, 5, 0, 0}};

template <typename TypeParam>
class PoolingLayerTest : public LayerTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  static string Prototxt(const Settings& settings, const string& rest) {
    return Concat(
        "type: 'Pooling' pooling_param { kernel_h: ", settings.kernel_h,
        " kernel_w: ", settings.kernel_w, " stride_h: ", settings.stride_h,
        " stride_w: ", settings.stride_w, " pad_h: ", settings.pad_h,
        " pad_w: ", settings.pad_w,
        settings.ceil_mode ? "" : " round_mode: FLOOR", " ", rest, " }");
  }

  static pair<NaiveAxis, NaiveAxis> Axes(const Settings& settings) {
    const bool any_pad = settings.pad_h > 0 || settings.pad_w > 0;
    return {{settings.height, settings.kernel_h, settings.stride_h,
             settings.pad_h, any_pad, settings.ceil_mode},
            {settings.width, settings.kernel_w, settings.stride_w,
             settings.pad_w, any_pad, settings.ceil_mode}};
  }

  // Calls body(output, first, h, w) for every output: its index, and that of
  // its plane's first input.
  template <typename Body>
  void ForOutputs(const Body& body) {
    int output = 0;
    for (int plane = 0; plane < this->bottom_.count(0, 2); ++plane) {
      for (int h = 0; h < this->top_.height(); ++h) {
        for (int w = 0; w < this->top_.width(); ++w) {
          body(output++, plane * this->bottom_.count(2), h, w);
        }
      }
    }
  }
  // Calls body(index) for the inputs of a window, in their order.
  template <typename Body>
  void ForInputs(const pair<NaiveAxis, NaiveAxis>& axes, int h, int w,
                 const Body& body) {
    for (int row = 0; row < axes.first.extent; ++row) {
      for (int column = 0; column < axes.second.extent; ++column) {
        if (axes.first.Covers(h, row) && axes.second.Covers(w, column)) {
          body(row * axes.second.extent + column);
        }
      }
    }
  }

  void ExpectShape(const pair<NaiveAxis, NaiveAxis>& axes) {
    ASSERT_THAT(this->top_.shape(),
                ElementsAre(this->bottom_.num(), this->bottom_.channels(),
                            axes.first.pooled, axes.second.pooled));
  }

  // Maxima, their indices and gradients.
  void ExpectMaxima(const Settings& settings, Layer<Dtype>* layer) {
    const auto axes = Axes(settings);
    ExpectShape(axes);
    vector<Dtype> gradients(this->bottom_.count());
    const Dtype* const in = this->bottom_.cpu_data();
    ForOutputs([&](int output, int first, int h, int w) {
      int best = -1;
      ForInputs(axes, h, w, [&](int i) {
        if (best < 0 || in[first + i] > in[first + best]) best = i;
      });
      ASSERT_EQ(best < 0 ? Dtype(-FLT_MAX) : in[first + best],
                this->top_.cpu_data()[output]);
      ASSERT_EQ(best, this->top_b_.cpu_data()[output]);
      this->top_.mutable_cpu_diff()[output] = output % 10 + 1;
      if (best >= 0) gradients[first + best] += output % 10 + 1;
    });
    this->Backward(layer);
    EXPECT_EQ(gradients, this->DiffOf(this->bottom_));
  }

  void ExpectAverages(const Settings& settings, Layer<Dtype>* layer) {
    const auto axes = Axes(settings);
    ExpectShape(axes);
    vector<double> gradients(this->bottom_.count());
    ForOutputs([&](int output, int first, int h, int w) {
      const int size = axes.first.AverageSize(h) * axes.second.AverageSize(w);
      double sum = 0;
      this->top_.mutable_cpu_diff()[output] = output % 10 + 1;
      ForInputs(axes, h, w, [&](int i) {
        sum += this->bottom_.cpu_data()[first + i];
        gradients[first + i] += double(output % 10 + 1) / size;
      });
      ASSERT_NEAR(sum / size, this->top_.cpu_data()[output], 1e-5);
    });
    this->Backward(layer);
    for (int i = 0; i < this->bottom_.count(); ++i) {
      ASSERT_NEAR(gradients[i], this->bottom_.cpu_diff()[i], 1e-5);
    }
  }
};

TYPED_TEST_SUITE(PoolingLayerTest, TestDtypesAndDevices);

TYPED_TEST(PoolingLayerTest, MaximaOfAllKindsOfWindows) {
  this->tops_.push_back(&this->top_b_);
  for (const auto kernels :
       {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
    const cpu::ScopedKernels scope(kernels);
    for (const Settings& settings : kSettings) {
      this->FillNormal({2, 3, settings.height, settings.width}, &this->bottom_);
      const auto layer = this->Forward(this->Prototxt(settings, ""));
      this->ExpectMaxima(settings, layer.get());
    }
  }
}

TYPED_TEST(PoolingLayerTest, OfEqualMaximaTheFirstCounts) {
  typedef typename TypeParam::Dtype Dtype;
  this->tops_.push_back(&this->top_b_);
  for (const Settings& settings : kSettings) {
    this->bottom_.Reshape(2, 3, settings.height, settings.width);
    for (int i = 0; i < this->bottom_.count(); ++i) {
      this->bottom_.mutable_cpu_data()[i] = Dtype(i * i * 7 % 11 / 5);
    }
    const auto layer = this->Forward(this->Prototxt(settings, ""));
    this->ExpectMaxima(settings, layer.get());
  }
}

TYPED_TEST(PoolingLayerTest, AveragesOfAllKindsOfWindows) {
  for (const auto kernels :
       {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
    const cpu::ScopedKernels scope(kernels);
    for (const Settings& settings : kSettings) {
      this->FillNormal({2, 3, settings.height, settings.width}, &this->bottom_);
      const auto layer = this->Forward(this->Prototxt(settings, "pool: AVE"));
      this->ExpectAverages(settings, layer.get());
    }
  }
}

TYPED_TEST(PoolingLayerTest, HandWorkedValues) {
  this->FillValues({1, 1, 3, 5},
                   {1, 2, 5, 2, 3,  //
                    9, 4, 1, 4, 8,  //
                    1, 2, 5, 2, 3},
                   &this->bottom_);
  this->tops_.push_back(&this->top_b_);
  this->Forward("type: 'Pooling' pooling_param { kernel_size: 2 }");
  EXPECT_THAT(this->top_.shape(), ElementsAre(1, 1, 2, 4));
  EXPECT_THAT(this->DataOf(this->top_), ElementsAre(9, 5, 5, 8, 9, 5, 5, 8));
  EXPECT_THAT(this->DataOf(this->top_b_),
              ElementsAre(5, 2, 2, 9, 5, 12, 12, 9));
  this->tops_.pop_back();
  // The padding counts as zeros.
  this->FillValues({1, 1, 3, 3}, {2, 2, 2, 2, 2, 2, 2, 2, 2}, &this->bottom_);
  this->Forward(
      "type: 'Pooling' pooling_param { pool: AVE kernel_size: 3 "
      "stride: 1 pad: 1 }");
  EXPECT_THAT(this->DataOf(this->top_),
              this->IsNear({8. / 9, 4. / 3, 8. / 9, 4. / 3, 2, 4. / 3, 8. / 9,
                            4. / 3, 8. / 9}));
}

TYPED_TEST(PoolingLayerTest, GlobalPoolingTakesWholeImages) {
  typedef typename TypeParam::Dtype Dtype;
  // Large enough for positions of more than one byte.
  for (const vector<int>& shape :
       {vector<int>{2, 3, 4, 5}, vector<int>{1, 2, 17, 16}}) {
    this->FillNormal(shape, &this->bottom_);
    auto layer = this->Forward(
        "type: 'Pooling' pooling_param { pool: AVE global_pooling: true }");
    EXPECT_THAT(this->top_.shape(), ElementsAre(shape[0], shape[1], 1, 1));
    const int size = this->bottom_.count(2);
    for (int i = 0; i < this->top_.count(); ++i) {
      const Dtype* const plane = this->bottom_.cpu_data() + i * size;
      EXPECT_NEAR(std::accumulate(plane, plane + size, 0.) / size,
                  this->top_.cpu_data()[i], 1e-5);
    }
    layer =
        this->Forward("type: 'Pooling' pooling_param { global_pooling: true }");
    for (int i = 0; i < this->top_.count(); ++i) {
      const Dtype* const plane = this->bottom_.cpu_data() + i * size;
      EXPECT_EQ(*std::max_element(plane, plane + size),
                this->top_.cpu_data()[i]);
    }
    // It follows images that change their size.
    this->bottom_.Reshape({shape[0], shape[1], 3, 3});
    layer->Forward(this->bottoms_, this->tops_);
    EXPECT_THAT(this->top_.shape(), ElementsAre(shape[0], shape[1], 1, 1));
  }
}

TYPED_TEST(PoolingLayerTest, LargeBatchesOnThreads) {
  this->FillNormal({8, 16, 112, 113}, &this->bottom_);
  this->tops_.push_back(&this->top_b_);
  const Settings settings = {112, 113, 3, 3, 2, 2, 0, 0};
  const auto layer = this->Forward(this->Prototxt(settings, ""));
  const auto expected = this->DataOf(this->top_);
  const auto indices = this->DataOf(this->top_b_);
  caffe_set(this->top_.count(), typename TypeParam::Dtype(1),
            this->top_.mutable_cpu_diff());
  this->Backward(layer.get());
  const auto gradients = this->DiffOf(this->bottom_);
  const cpu::ScopedKernels scope(cpu::Kernels::kReference);
  layer->Forward(this->bottoms_, this->tops_);
  EXPECT_EQ(expected, this->DataOf(this->top_));
  EXPECT_EQ(indices, this->DataOf(this->top_b_));
  EXPECT_EQ(this->top_.count(),
            std::accumulate(gradients.begin(), gradients.end(), 0.));
}

TYPED_TEST(PoolingLayerTest, StochasticChoosesByProportion) {
  typedef typename TypeParam::Dtype Dtype;
  // Every window is 1 2 / 3 4.
  this->bottom_.Reshape(1, 5, 40, 40);
  for (int i = 0; i < this->bottom_.count(); ++i) {
    this->bottom_.mutable_cpu_data()[i] = 1 + i % 2 + i / 40 % 2 * 2;
  }
  const string settings =
      "pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 2 }";
  const auto layer = this->Forward("type: 'Pooling' " + settings);
  vector<int> seen(5);
  for (const Dtype value : this->DataOf(this->top_)) {
    ++seen[static_cast<int>(value)];
  }
  for (int value = 1; value <= 4; ++value) {
    EXPECT_NEAR(2000 * value / 10., seen[value], 110) << value;
  }
  for (int i = 0; i < 2000; ++i) {
    this->top_.mutable_cpu_diff()[i] = this->top_.cpu_data()[i];
  }
  this->Backward(layer.get());
  for (int i = 0; i < this->bottom_.count(); ++i) {
    const Dtype gradient = this->bottom_.cpu_diff()[i];
    EXPECT_TRUE(gradient == 0 || gradient == this->bottom_.cpu_data()[i]);
  }
  EXPECT_EQ(this->top_.asum_diff(), this->bottom_.asum_diff());
  // The test phase gives the mean: (1 + 4 + 9 + 16) / 10.
  this->Forward("type: 'Pooling' phase: TEST " + settings);
  EXPECT_THAT(this->DataOf(this->top_), Each(Dtype(3)));
  caffe_set(this->bottom_.count(), Dtype(0), this->bottom_.mutable_cpu_data());
  this->Forward("type: 'Pooling' phase: TEST " + settings);
  EXPECT_THAT(this->DataOf(this->top_), Each(Dtype(0)));
}

TYPED_TEST(PoolingLayerTest, Gradient) {
  this->FillNormal({1, 2, 4, 5}, &this->bottom_);
  for (const char* window : {"kernel_size: 3 stride: 2",
                             "kernel_h: 2 kernel_w: 3 pad: 1 stride: 1"}) {
    this->CheckGradients(
        string("type: 'Pooling' pooling_param { ") + window + " }", 1e-4, 1e-2);
    this->CheckGradients(
        string("type: 'Pooling' pooling_param { pool: AVE ") + window + " }",
        1e-2, 1e-2);
  }
  this->CheckGradients(
      "type: 'Pooling' pooling_param { engine: CAFFE pool: "
      "AVE kernel_size: 2 }",
      1e-2, 1e-2);
}

TYPED_TEST(PoolingLayerTest, Refuses) {
  this->FillNormal({2, 3, 6, 5}, &this->bottom_);
  const auto error = [this](const string& settings) {
    return this->SetUpError("type: 'Pooling' pooling_param { " + settings +
                            " }");
  };
  EXPECT_THAT(error(""), HasSubstr("needs kernel_size"));
  EXPECT_THAT(error("kernel_h: 2"), HasSubstr("both kernel_h and kernel_w"));
  EXPECT_THAT(error("kernel_size: 2 kernel_h: 2 kernel_w: 2"),
              HasSubstr("beside the setting for both"));
  EXPECT_THAT(error("kernel_size: 2 pad_h: 1"),
              HasSubstr("both pad_h and pad_w"));
  EXPECT_THAT(error("kernel_size: 2 stride: 2 stride_h: 1 stride_w: 1"),
              HasSubstr("stride_h"));
  EXPECT_THAT(error("kernel_size: 0"), HasSubstr("kernel size cannot be 0"));
  EXPECT_THAT(error("kernel_size: 2 stride: 0"),
              HasSubstr("stride cannot be 0"));
  EXPECT_THAT(error("kernel_size: 4294967295"), HasSubstr("too large"));
  EXPECT_THAT(error("kernel_size: 2 pad: 2"), HasSubstr("pad must be smaller"));
  EXPECT_THAT(error("kernel_size: 3 pad: 1 pool: STOCHASTIC"),
              HasSubstr("cannot pad"));
  EXPECT_THAT(error("global_pooling: true kernel_size: 2"),
              HasSubstr("no kernel size"));
  EXPECT_THAT(error("global_pooling: true pad: 1"), HasSubstr("pad must be 0"));
  EXPECT_THAT(error("kernel_size: 8"),
              HasSubstr("windows of 8 do not fit an image height of 6"));
  EXPECT_THAT(error("kernel_h: 2 kernel_w: 2147483647"),
              HasSubstr("do not fit an image width of 5"));
  this->tops_.push_back(&this->top_b_);
  EXPECT_THAT(error("kernel_size: 2 pool: AVE"), HasSubstr("at most 1 top"));
  this->tops_ = this->bottoms_;
  EXPECT_THAT(error("kernel_size: 2"), HasSubstr("in place"));
  this->tops_ = {&this->top_};
  this->bottom_.Reshape({2, 3, 30});
  EXPECT_THAT(error("kernel_size: 2"), HasSubstr("4 axes"));
}

}  // namespace caffe
