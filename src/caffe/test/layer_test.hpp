#ifndef CAFFE_SRC_TEST_LAYER_TEST_HPP_
#define CAFFE_SRC_TEST_LAYER_TEST_HPP_

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "caffe/filler.hpp"
#include "caffe/layer_factory.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "caffe/test/test_gradient_check_util.hpp"
#include "cpu/engine.hpp"

namespace caffe {

// What the tests of layers have in common: three blobs to use as bottoms, two
// as tops, layers made from prototxt, and what went wrong with them.
template <typename TypeParam>
class LayerTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  LayerTest() { Caffe::set_random_seed(1701); }

  // A layer of the type and settings given as prototxt.
  static shared_ptr<Layer<Dtype>> Make(const string& prototxt) {
    LayerParameter param;
    CHECK(google::protobuf::TextFormat::ParseFromString(prototxt, &param))
        << prototxt;
    return LayerRegistry<Dtype>::CreateLayer(param);
  }

  static void FillNormal(const vector<int>& shape, Blob<Dtype>* blob,
                         float std = 1) {
    blob->Reshape(shape);
    FillerParameter param;
    param.set_std(std);
    GaussianFiller<Dtype>(param).Fill(blob);
  }

  static void FillValues(const vector<int>& shape,
                         std::initializer_list<double> values,
                         Blob<Dtype>* blob) {
    blob->Reshape(shape);
    CHECK_EQ(blob->count(), static_cast<int>(values.size()));
    std::copy(values.begin(), values.end(), blob->mutable_cpu_data());
  }

  static vector<Dtype> DataOf(const Blob<Dtype>& blob) {
    return {blob.cpu_data(), blob.cpu_data() + blob.count()};
  }
  static vector<Dtype> DiffOf(const Blob<Dtype>& blob) {
    return {blob.cpu_diff(), blob.cpu_diff() + blob.count()};
  }

  // Matches values that differ from the expected by rounding only.
  static auto IsNear(const vector<double>& expected) {
    return testing::Pointwise(testing::DoubleNear(1e-5), expected);
  }

  using testing::Test::SetUp;
  shared_ptr<Layer<Dtype>> SetUp(const string& prototxt) {
    shared_ptr<Layer<Dtype>> layer = Make(prototxt);
    layer->SetUp(bottoms_, tops_);
    return layer;
  }

  shared_ptr<Layer<Dtype>> Forward(const string& prototxt) {
    shared_ptr<Layer<Dtype>> layer = SetUp(prototxt);
    layer->Forward(bottoms_, tops_);
    return layer;
  }

  // Backward with respect to all bottoms.
  void Backward(Layer<Dtype>* layer) {
    layer->Backward(tops_, vector<bool>(bottoms_.size(), true), bottoms_);
  }

  // The message of the Error that SetUp throws.
  string SetUpError(const string& prototxt) {
    return ErrorOf([&] { SetUp(prototxt); });
  }

  // Every gradient of every top value, with both kinds of kernels.
  void CheckGradients(const string& prototxt, double stepsize, double threshold,
                      int check_bottom = -1) {
    for (const cpu::Kernels kernels :
         {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
      const cpu::ScopedKernels scope(kernels);
      const shared_ptr<Layer<Dtype>> layer = Make(prototxt);
      GradientChecker<Dtype>(stepsize, threshold)
          .CheckGradientExhaustive(layer.get(), bottoms_, tops_, check_bottom);
    }
  }

  // In place, the layer must give what it gives with a top of its own.
  void ExpectSameInPlace(const string& prototxt) {
    Blob<Dtype> values;
    Blob<Dtype> top_diff;
    values.CopyFrom(bottom_, false, true);
    FillNormal(values.shape(), &top_diff);
    const auto run = [&](Blob<Dtype>* top) {
      bottom_.CopyFrom(values);
      tops_[0] = top;
      Caffe::set_random_seed(1701);
      const shared_ptr<Layer<Dtype>> layer = Forward(prototxt);
      const vector<Dtype> data = DataOf(*top);
      caffe_copy(top->count(), top_diff.cpu_data(), top->mutable_cpu_diff());
      for (const auto& param : layer->blobs()) {
        caffe_set(param->count(), Dtype(0), param->mutable_cpu_diff());
      }
      Backward(layer.get());
      vector<vector<Dtype>> results = {data, DiffOf(bottom_)};
      for (size_t i = 1; i < bottoms_.size(); ++i) {
        results.push_back(DiffOf(*bottoms_[i]));
      }
      for (const auto& param : layer->blobs()) {
        results.push_back(DataOf(*param));
        results.push_back(DiffOf(*param));
      }
      return results;
    };
    const vector<vector<Dtype>> expected = run(&top_);
    const vector<vector<Dtype>> in_place = run(&bottom_);
    ASSERT_EQ(expected.size(), in_place.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_THAT(in_place[i],
                  testing::Pointwise(testing::DoubleNear(1e-5), expected[i]))
          << "result " << i;
    }
    tops_[0] = &top_;
  }

  Blob<Dtype> bottom_;
  Blob<Dtype> bottom_b_;
  Blob<Dtype> bottom_c_;
  Blob<Dtype> top_;
  Blob<Dtype> top_b_;
  vector<Blob<Dtype>*> bottoms_ = {&bottom_};
  vector<Blob<Dtype>*> tops_ = {&top_};
};

}  // namespace caffe

#endif  // CAFFE_SRC_TEST_LAYER_TEST_HPP_
