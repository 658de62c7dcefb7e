#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "caffe/compress/activation_store.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "net_test_util.hpp"
#include "solver_test_util.hpp"

// What somebody outside holds the address of, in nets whose memory is planned.

namespace caffe {

namespace {

constexpr const char* kNet = R"(
  layer { name: 'data' type: 'DummyData' top: 'data'
          dummy_data_param { shape { dim: 8 dim: 4 dim: 16 dim: 16 }
                             data_filler { type: 'gaussian' } } }
  layer { name: 'label' type: 'DummyData' top: 'label'
          dummy_data_param { shape { dim: 8 } data_filler { value: 2 } } }
  layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'
          convolution_param { num_output: 8 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'conv1' }
  layer { name: 'conv2' type: 'Convolution' bottom: 'conv1' top: 'conv2'
          convolution_param { num_output: 8 kernel_size: 3 pad: 1
                              weight_filler { type: 'xavier' } } }
  layer { name: 'relu2' type: 'ReLU' bottom: 'conv2' top: 'relu2'
          relu_param { negative_slope: 0.2 } }
  layer { name: 'pool' type: 'Pooling' bottom: 'relu2' top: 'pool'
          pooling_param { kernel_size: 3 stride: 2 } }
  layer { name: 'scores' type: 'InnerProduct' bottom: 'pool' top: 'scores'
          inner_product_param { num_output: 5
                                weight_filler { type: 'xavier' } } }
  layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'scores'
          bottom: 'label' top: 'loss' } )";

constexpr float kBound = 0.2;

class LossyPolicy : public PackingPolicy {
 public:
  Packing Choose(const PackRequest& /*request*/) override {
    return Packing{&codec::FindCodec("sz"), {.bound = kBound}};
  }
};

std::unique_ptr<Net<float>> Make() {
  Caffe::set_random_seed(3);
  return MakeNet<float>("state { phase: TRAIN } " + string(kNet));
}

void Attach(Net<float>* net, size_t largest_tensor = SIZE_MAX) {
  ActivationStore<float>::Attach(net, boost::make_shared<ActivationMemory>(),
                                 boost::make_shared<LossyPolicy>(),
                                 {.largest_tensor = largest_tensor});
}

void RunPass(Net<float>* net) {
  Caffe::set_random_seed(5);
  net->ClearParamDiffs();
  net->ForwardBackward();
}

// Holds the data and diff of all blobs.
class Holder {
 public:
  explicit Holder(const Net<float>& net) {
    for (const auto& blob : net.blobs()) {
      for (const auto& memory : {blob->data(), blob->diff()}) {
        pins_.push_back(std::make_unique<MemoryPin>(memory));
        counts_.push_back(blob->count());
      }
    }
  }
  vector<vector<float>> Values() const {
    vector<vector<float>> values;
    for (size_t i = 0; i < pins_.size(); ++i) {
      const auto* const first = static_cast<const float*>(pins_[i]->data());
      values.emplace_back(first, first + counts_[i]);
    }
    return values;
  }

 private:
  vector<std::unique_ptr<MemoryPin>> pins_;
  vector<int> counts_;
};

vector<vector<float>> GradientsOf(const Net<float>& net) {
  vector<vector<float>> gradients;
  for (const Blob<float>* param : net.learnable_params()) {
    gradients.push_back(DiffOf(*param));
  }
  return gradients;
}

float LargestDifference(const vector<vector<float>>& some,
                        const vector<vector<float>>& others) {
  float largest = 0;
  for (size_t i = 0; i < some.size(); ++i) {
    for (size_t k = 0; k < some[i].size(); ++k) {
      largest = std::max(largest, std::abs(some[i][k] - others[i][k]));
    }
  }
  return largest;
}

TEST(MemoryPinsTest, WhatIsHeldIsAsInAPlainNet) {
  const auto plain = Make();
  RunPass(plain.get());
  const auto expected = Holder(*plain).Values();
  for (const size_t largest : {SIZE_MAX, size_t{20000}}) {
    const auto net = Make();
    Attach(net.get(), largest);
    {
      const Holder holder(*net);
      for (int pass = 0; pass < 2; ++pass) {
        RunPass(net.get());
        EXPECT_EQ(expected, holder.Values());
        // Parts of a batch add up in another order.
        EXPECT_LE(LargestDifference(GradientsOf(*plain), GradientsOf(*net)),
                  largest == SIZE_MAX ? 0 : 1e-5);
      }
    }
    // Nobody looks any more.
    RunPass(net.get());
    EXPECT_TRUE(net->blob_by_name("conv1")->data()->is_evicted());
    EXPECT_GT(LargestDifference(GradientsOf(*plain), GradientsOf(*net)), 1e-4);
  }
}

TEST(MemoryPinsTest, ReadingACopyBetweenThePassesChangesNothing) {
  const auto plain = Make();
  RunPass(plain.get());
  const vector<float> exact = DataOf(*plain->blob_by_name("conv1"));
  for (const size_t largest : {SIZE_MAX, size_t{20000}}) {
    const auto undisturbed = Make();
    Attach(undisturbed.get(), largest);
    RunPass(undisturbed.get());

    const auto net = Make();
    Attach(net.get(), largest);
    Caffe::set_random_seed(5);
    net->ClearParamDiffs();
    net->Forward();
    SyncedMemory* const memory = net->blob_by_name("conv1")->data().get();
    vector<float> copy(exact.size());
    memory->CopyTo(copy.data());
    EXPECT_TRUE(memory->is_evicted());
    EXPECT_NE(exact, copy);
    for (size_t i = 0; i < copy.size(); ++i) {
      ASSERT_NEAR(exact[i], copy[i], kBound * 1.001F);
    }
    net->Backward();
    EXPECT_EQ(GradientsOf(*undisturbed), GradientsOf(*net));
  }
}

TEST(MemoryPinsTest, WhatIsRestoredForAPinStays) {
  const auto net = Make();
  Attach(net.get());
  net->Forward();
  const shared_ptr<Blob<float>> blob = net->blob_by_name("conv1");
  const MemoryPin pin(blob->data());
  const auto* const held = static_cast<const float*>(pin.data());
  const vector<float> before(held, held + blob->count());
  net->Backward();
  EXPECT_EQ(before, vector<float>(held, held + blob->count()));
  // The next pass writes there.
  net->Forward();
  EXPECT_EQ(held, blob->cpu_data());
  EXPECT_NE(before, vector<float>(held, held + blob->count()));
}

TEST(MemoryPinsTest, ValuesThatAreGoneCannotBeHeld) {
  const auto net = Make();
  Attach(net.get());
  RunPass(net.get());
  EXPECT_THROW(MemoryPin pin(net->blob_by_name("conv2")->data()), Error);
  EXPECT_THROW(MemoryPin pin(net->blob_by_name("conv2")->diff()), Error);
  EXPECT_FALSE(net->blob_by_name("conv2")->data()->is_pinned());
  vector<float> copy(net->blob_by_name("conv2")->count());
  EXPECT_THROW(net->blob_by_name("conv2")->data()->CopyTo(copy.data()), Error);
  EXPECT_THROW(net->blob_by_name("conv2")->diff()->CopyTo(copy.data()), Error);
}

TEST(MemoryPinsTest, GradientsThatAreHeldOutliveTheirUpdates) {
  SolverParameter param = ParseSolver(
      "base_lr: 0.01 lr_policy: 'fixed' momentum: 0.9 random_seed: 7 "
      "snapshot_after_train: false compression { }");
  param.MergeFrom(ParseSolver(Concat("net_param {", kNet, "}")));
  const auto make = [&] {
    return shared_ptr<Solver<float>>(
        SolverRegistry<float>::CreateSolver(param));
  };
  const auto undisturbed = make();
  undisturbed->Step(3);

  const auto solver = make();
  const Blob<float>& weights =
      *solver->net()->layer_by_name("scores")->blobs()[0];
  const MemoryPin pin(weights.diff());
  const auto* const held = static_cast<const float*>(pin.data());
  solver->Step(3);
  EXPECT_EQ(held, weights.cpu_diff());
  EXPECT_NE(0, weights.asum_diff());
  EXPECT_EQ(WeightsOf(*undisturbed), WeightsOf(*solver));
}

}  // namespace

}  // namespace caffe
