#ifndef CAFFE_TEST_COMPRESSED_TRAINING_TEST_UTIL_HPP_
#define CAFFE_TEST_COMPRESSED_TRAINING_TEST_UTIL_HPP_

#include <string>

#include "solver_test_util.hpp"

// A net and a solver for tests of compressed training.

namespace caffe {

// Every way in which layers share, copy, overwrite and read activations.
inline constexpr const char* kEveryUseNet = R"(
  layer { name: 'data' type: 'DummyData' top: 'data' top: 'label'
          dummy_data_param {
            shape { dim: 8 dim: 3 dim: 20 dim: 20 } shape { dim: 8 }
            data_filler { type: 'gaussian' } data_filler { value: 1 } } }
  layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'
          convolution_param { num_output: 8 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'bn1' type: 'BatchNorm' bottom: 'conv1' top: 'conv1' }
  layer { name: 'scale1' type: 'Scale' bottom: 'conv1' top: 'conv1'
          scale_param { bias_term: true } }
  layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'conv1' }
  layer { name: 'conv2a' type: 'Convolution' bottom: 'conv1' top: 'conv2a'
          convolution_param { num_output: 8 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu2' type: 'ReLU' bottom: 'conv2a' top: 'relu2' }
  layer { name: 'sum' type: 'Eltwise' bottom: 'conv1' bottom: 'relu2'
          top: 'sum' }
  layer { name: 'leaky' type: 'ReLU' bottom: 'sum' top: 'sum'
          relu_param { negative_slope: 0.1 } }
  layer { name: 'norm' type: 'LRN' bottom: 'sum' top: 'norm' }
  layer { name: 'pool' type: 'Pooling' bottom: 'norm' top: 'pool'
          pooling_param { kernel_size: 2 stride: 2 } }
  layer { name: 'left' type: 'Convolution' bottom: 'pool' top: 'left'
          convolution_param { num_output: 4 kernel_size: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'bn2' type: 'BatchNorm' bottom: 'pool' top: 'bn2' }
  layer { name: 'both' type: 'Concat' bottom: 'left' bottom: 'bn2'
          top: 'both' }
  layer { name: 'flat' type: 'Flatten' bottom: 'both' top: 'flat' }
  layer { name: 'hidden' type: 'InnerProduct' bottom: 'flat' top: 'hidden'
          inner_product_param { num_output: 600
                                weight_filler { type: 'xavier' } } }
  layer { name: 'relu3' type: 'ReLU' bottom: 'hidden' top: 'hidden' }
  layer { name: 'drop' type: 'Dropout' bottom: 'hidden' top: 'hidden' }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'hidden' top: 'scores'
          inner_product_param { num_output: 5
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores' bottom: 'label'
          top: 'loss' }
  layer { name: 'accuracy' type: 'Accuracy' bottom: 'scores' bottom: 'label'
          top: 'accuracy' } )";

inline constexpr const char* kMomentumSolver = R"(
  base_lr: 0.01 momentum: 0.9 weight_decay: 0.001 lr_policy: 'fixed'
  random_seed: 7 snapshot_after_train: false
  test_iter: 2 test_interval: 3 )";

// The settings go before those above.
inline SolverParameter SolverFor(const string& settings,
                                 const string& net_settings,
                                 const string& net = kEveryUseNet) {
  SolverParameter param = ParseSolver(kMomentumSolver);
  param.MergeFrom(
      ParseSolver(settings + " net_param {" + net_settings + net + "}"));
  return param;
}

template <typename Dtype>
vector<Dtype> TrainedWeights(const string& settings, const string& net_settings,
                             int iterations, const string& net = kEveryUseNet) {
  const auto solver = MakeSolver<Dtype>(SolverFor(settings, net_settings, net));
  solver->Step(iterations);
  return WeightsOf(*solver);
}

}  // namespace caffe

#endif  // CAFFE_TEST_COMPRESSED_TRAINING_TEST_UTIL_HPP_
