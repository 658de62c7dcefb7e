#include <string>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "net_test_util.hpp"

namespace caffe {

// Running nets in whole and in part, and what is called on the way.
template <typename TypeParam>
class NetRunTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  NetRunTest() : net_(MakeNet<Dtype>(kNet)) {
    Set<Dtype>({3}, net_->blob_by_name("x").get());
    Set<Dtype>({4}, net_->blob_by_name("target").get());
  }

  Dtype At(const string& blob) const {
    return net_->blob_by_name(blob)->cpu_data()[0];
  }

  // a = 2 x, b = 5 a, loss = (b - target)^2 / 2 + 10 a.
  static constexpr const char* kNet = R"(
    layer { name: 'in' type: 'Input' top: 'x' top: 'target'
            input_param { shape { dim: 1 dim: 1 } } }
    layer { name: 'a' type: 'Affine' bottom: 'x' top: 'a' loss_weight: 10
            power_param { scale: 2 } }
    layer { name: 'b' type: 'Affine' bottom: 'a' top: 'b'
            power_param { scale: 5 } }
    layer { name: 'loss' type: 'EuclideanLoss' bottom: 'b' bottom: 'target'
            top: 'loss' })";
  enum LayerIds { kIn, kA, kSplit, kB, kLoss };

  std::unique_ptr<Net<Dtype>> net_;
};

TYPED_TEST_SUITE(NetRunTest, TestDtypesAndDevices);

TYPED_TEST(NetRunTest, ForwardReturnsOutputsAndLoss) {
  typedef typename TypeParam::Dtype Dtype;
  Dtype loss;
  const vector<Blob<Dtype>*>& outputs = this->net_->Forward(&loss);
  EXPECT_EQ(26 * 26 / 2 + 60, loss);
  EXPECT_EQ(&this->net_->output_blobs(), &outputs);
  EXPECT_EQ(338, this->At("loss"));
  EXPECT_EQ(&outputs, &this->net_->Forward());
  EXPECT_EQ(&outputs, &this->net_->ForwardPrefilled(&loss));
  EXPECT_EQ(398, loss);
}

TYPED_TEST(NetRunTest, ForwardTakesInputs) {
  typedef typename TypeParam::Dtype Dtype;
  Blob<Dtype> x(vector<int>{1, 1});
  Blob<Dtype> target(vector<int>{1, 1});
  Set<Dtype>({1}, &x);
  Set<Dtype>({10}, &target);
  Dtype loss;
  this->net_->Forward({&x, &target}, &loss);
  EXPECT_EQ(20, loss);
  EXPECT_EQ("the net has 2 input(s), not 1",
            ErrorOf([&] { this->net_->Forward({&x}, &loss); }));
}

TYPED_TEST(NetRunTest, ForwardInParts) {
  EXPECT_EQ(0, this->net_->ForwardTo(this->kA));
  EXPECT_EQ(6, this->At("a"));
  EXPECT_EQ(0, this->At("b"));
  // The loss of `a` is counted where it is split.
  EXPECT_EQ(60, this->net_->ForwardFromTo(this->kSplit, this->kSplit));
  EXPECT_EQ(338, this->net_->ForwardFrom(this->kB));
  EXPECT_EQ(30, this->At("b"));
  // From what somebody changed in the middle.
  this->net_->blob_by_name("b")->mutable_cpu_data()[0] = 8;
  EXPECT_EQ(8, this->net_->ForwardFrom(this->kLoss));
}

TYPED_TEST(NetRunTest, BackwardInParts) {
  this->net_->Forward();
  const auto& a = *this->net_->params()[0];
  const auto& b = *this->net_->params()[2];
  this->net_->BackwardTo(this->kB);
  EXPECT_EQ(0, a.cpu_diff()[0]);
  EXPECT_EQ(26 * 6, b.cpu_diff()[0]);
  this->net_->BackwardFromTo(this->kSplit, this->kSplit);
  EXPECT_EQ(0, a.cpu_diff()[0]);
  this->net_->BackwardFrom(this->kA);
  EXPECT_EQ((26 * 5 + 10) * 3, a.cpu_diff()[0]);
  EXPECT_EQ(26 * 6, b.cpu_diff()[0]);
}

TYPED_TEST(NetRunTest, RefusesLayersThatAreNotThere) {
  EXPECT_EQ("cannot run layers -1 to 4 forward: the net has 5",
            ErrorOf([&] { this->net_->ForwardFrom(-1); }));
  EXPECT_EQ("cannot run layers 0 to 5 forward: the net has 5",
            ErrorOf([&] { this->net_->ForwardTo(5); }));
  EXPECT_EQ("cannot run layers 5 to 0 backward: the net has 5",
            ErrorOf([&] { this->net_->BackwardFrom(5); }));
  EXPECT_EQ("cannot run layers 4 to -1 backward: the net has 5",
            ErrorOf([&] { this->net_->BackwardTo(-1); }));
}

TYPED_TEST(NetRunTest, ReshapeCarriesNewShapesThrough) {
  typedef typename TypeParam::Dtype Dtype;
  for (Blob<Dtype>* input : this->net_->input_blobs()) input->Reshape({2, 1});
  this->net_->Reshape();
  EXPECT_EQ((vector<int>{2, 1}), this->net_->blob_by_name("b")->shape());
  EXPECT_EQ(vector<int>{}, this->net_->blob_by_name("loss")->shape());
  Set<Dtype>({3, 1}, this->net_->input_blobs()[0]);
  Set<Dtype>({4, 20}, this->net_->input_blobs()[1]);
  this->net_->Forward();
  EXPECT_EQ((26 * 26 + 10 * 10) / 4, this->At("loss"));
  // Without Reshape, Forward does it as it goes.
  for (Blob<Dtype>* input : this->net_->input_blobs()) input->Reshape({1, 1});
  Set<Dtype>({1}, this->net_->input_blobs()[0]);
  Set<Dtype>({8}, this->net_->input_blobs()[1]);
  this->net_->Forward();
  EXPECT_EQ(2, this->At("loss"));
}

// Writes down when it is called.
template <typename Dtype>
class Recorder : public Net<Dtype>::Callback {
 public:
  Recorder(const string& what, vector<string>* calls)
      : what_(what), calls_(calls) {}

 protected:
  void run(int layer) override {
    calls_->push_back(what_ + std::to_string(layer));
  }

 private:
  const string what_;
  vector<string>* const calls_;
};

TYPED_TEST(NetRunTest, CallbacksSurroundEveryLayer) {
  typedef typename TypeParam::Dtype Dtype;
  vector<string> calls;
  Recorder<Dtype> before_forward("f", &calls);
  Recorder<Dtype> after_forward("F", &calls);
  Recorder<Dtype> after_forward_too("G", &calls);
  Recorder<Dtype> before_backward("b", &calls);
  Recorder<Dtype> after_backward("B", &calls);
  this->net_->add_before_forward(&before_forward);
  this->net_->add_after_forward(&after_forward);
  this->net_->add_after_forward(&after_forward_too);
  this->net_->add_before_backward(&before_backward);
  this->net_->add_after_backward(&after_backward);
  EXPECT_EQ(1u, this->net_->before_forward().size());
  EXPECT_EQ(2u, this->net_->after_forward().size());
  EXPECT_EQ(&before_backward, this->net_->before_backward()[0]);
  EXPECT_EQ(&after_backward, this->net_->after_backward()[0]);

  this->net_->Forward();
  EXPECT_EQ((vector<string>{"f0", "F0", "G0", "f1", "F1", "G1", "f2", "F2",
                            "G2", "f3", "F3", "G3", "f4", "F4", "G4"}),
            calls);
  calls.clear();
  // Also for layers, such as the input, that run nothing backward.
  this->net_->Backward();
  EXPECT_EQ((vector<string>{"b4", "B4", "b3", "B3", "b2", "B2", "b1", "B1",
                            "b0", "B0"}),
            calls);
  calls.clear();
  this->net_->ForwardFromTo(2, 2);
  this->net_->BackwardFromTo(3, 3);
  EXPECT_EQ((vector<string>{"f2", "F2", "G2", "b3", "B3"}), calls);
}

// Sees values as they are at that moment.
template <typename Dtype>
class Watcher : public Net<Dtype>::Callback {
 public:
  Watcher(const Net<Dtype>* net, const string& blob, int layer)
      : net_(net), blob_(blob), layer_(layer) {}
  Dtype seen = -1;

 protected:
  void run(int layer) override {
    if (layer == layer_) seen = net_->blob_by_name(blob_)->cpu_data()[0];
  }

 private:
  const Net<Dtype>* const net_;
  const string blob_;
  const int layer_;
};

TYPED_TEST(NetRunTest, CallbacksSeeWhatTheLayerDid) {
  typedef typename TypeParam::Dtype Dtype;
  Watcher<Dtype> before(this->net_.get(), "b", this->kB);
  Watcher<Dtype> after(this->net_.get(), "b", this->kB);
  this->net_->add_before_forward(&before);
  this->net_->add_after_forward(&after);
  this->net_->Forward();
  EXPECT_EQ(0, before.seen);
  EXPECT_EQ(30, after.seen);
}

}  // namespace caffe
