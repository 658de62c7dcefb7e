// Times single layers, forward and backward, with the fastest and with the
// reference kernels, on shapes of ResNet-50 and AlexNet.
//
//   build/bin/benchmark_layers --benchmark_filter=Convolution
#include <benchmark/benchmark.h>
#include <google/protobuf/text_format.h>

#include "caffe/filler.hpp"
#include "caffe/layer.hpp"
#include "cpu/engine.hpp"

namespace caffe {
namespace {

struct Case {
  const char* name;
  const char* layer;
  vector<int> shape;
};

const Case kCases[] = {
    {"Convolution3x3",
     "type: 'Convolution' convolution_param { num_output: 64 kernel_size: 3 "
     "pad: 1 bias_term: false weight_filler { type: 'msra' } }",
     {4, 64, 56, 56}},
    {"Convolution1x1",
     "type: 'Convolution' convolution_param { num_output: 256 kernel_size: 1 "
     "bias_term: false weight_filler { type: 'msra' } }",
     {4, 64, 56, 56}},
    {"InnerProduct",
     "type: 'InnerProduct' inner_product_param { num_output: 1024 "
     "weight_filler { type: 'xavier' } }",
     {64, 4096}},
    {"MaxPooling",
     "type: 'Pooling' pooling_param { kernel_size: 3 stride: 2 }",
     {4, 64, 112, 112}},
    {"LRN", "type: 'LRN' lrn_param { local_size: 5 }", {4, 96, 55, 55}},
    {"BatchNorm", "type: 'BatchNorm'", {4, 256, 56, 56}},
    {"ReLU", "type: 'ReLU'", {4, 256, 56, 56}},
    {"PReLU", "type: 'PReLU'", {4, 256, 56, 56}},
    {"Sigmoid", "type: 'Sigmoid'", {4, 256, 56, 56}},
    {"ELU", "type: 'ELU'", {4, 256, 56, 56}},
};

void Time(benchmark::State& state, const Case& test, cpu::Kernels kernels,
          bool backward) {
  const cpu::ScopedKernels scope(kernels);
  LayerParameter param;
  CHECK(google::protobuf::TextFormat::ParseFromString(test.layer, &param));
  Caffe::set_random_seed(1701);
  Blob<float> bottom(test.shape);
  Blob<float> top;
  GaussianFiller<float>(FillerParameter()).Fill(&bottom);
  const vector<Blob<float>*> bottoms = {&bottom};
  const vector<Blob<float>*> tops = {&top};
  const auto layer = LayerRegistry<float>::CreateLayer(param);
  layer->SetUp(bottoms, tops);
  layer->Forward(bottoms, tops);
  caffe_set(top.count(), 1.0F, top.mutable_cpu_diff());
  for (auto _ : state) {
    if (backward) {
      layer->Backward(tops, {true}, bottoms);
    } else {
      layer->Forward(bottoms, tops);
    }
  }
  state.SetItemsProcessed(state.iterations() * test.shape[0]);
}

void RegisterAll() {
  for (const Case& test : kCases) {
    for (const bool backward : {false, true}) {
      for (const auto kernels :
           {cpu::Kernels::kFastest, cpu::Kernels::kReference}) {
        const string name =
            Concat(test.name, backward ? "/backward" : "/forward",
                   kernels == cpu::Kernels::kFastest ? "" : "/reference");
        benchmark::RegisterBenchmark(name.c_str(), Time, test, kernels,
                                     backward)
            ->UseRealTime();
      }
    }
  }
}

}  // namespace
}  // namespace caffe

int main(int argc, char** argv) {
  caffe::RegisterAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
