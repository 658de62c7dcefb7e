// Nets and solvers as a user of Caffe 1.0 uses them: pointers are Boost's,
// callbacks are bound, settings are texts.

#include <cmath>
#include <string>
#include <vector>

#include "boost/bind/bind.hpp"
#include "boost/function.hpp"
#include "boost/scoped_ptr.hpp"
#include "boost/shared_ptr.hpp"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "opencv2/core/core.hpp"

#include "caffe/caffe.hpp"
#include "caffe/layers/memory_data_layer.hpp"
#include "caffe/sgd_solvers.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/insert_splits.hpp"
#include "caffe/util/signal_handler.h"

namespace caffe {

using boost::scoped_ptr;

// Counts the calls around layers.
class CountCalls : public Net<float>::Callback {
 public:
  std::vector<int> layers;

 protected:
  virtual void run(int layer) { layers.push_back(layer); }
};

template <typename TypeParam>
class CaffeStyleNetTest : public MultiDeviceTest<TypeParam> {
  typedef typename TypeParam::Dtype Dtype;

 protected:
  void Build(const string& text) {
    NetParameter param;
    CHECK(google::protobuf::TextFormat::ParseFromString(text, &param));
    net_.reset(new Net<Dtype>(param));
  }

  // Six random numbers of four images, and one of twenty classes.
  void BuildClassifier(const string& more = "") {
    Caffe::set_random_seed(1701);
    Build(more +
          "layer { name: 'noise' type: 'DummyData' top: 'x' top: 'y' "
          "  dummy_data_param { shape { dim: 4 dim: 6 } shape { dim: 4 } "
          "    data_filler { type: 'uniform' min: -1 max: 1 } "
          "    data_filler { type: 'constant' value: 7 } } } "
          "layer { name: 'fc' type: 'InnerProduct' bottom: 'x' top: 'scores' "
          "  param { lr_mult: 1 } param { lr_mult: 2 decay_mult: 0 } "
          "  inner_product_param { num_output: 20 "
          "    weight_filler { type: 'gaussian' std: 0.01 } } } "
          "layer { name: 'softmax' type: 'SoftmaxWithLoss' bottom: 'scores' "
          "  bottom: 'y' top: 'loss' } ");
  }

  shared_ptr<Net<Dtype> > net_;
};

TYPED_TEST_CASE(CaffeStyleNetTest, TestDtypesAndDevices);

TYPED_TEST(CaffeStyleNetTest, TestPointersAreBoosts) {
  typedef typename TypeParam::Dtype Dtype;
  this->BuildClassifier();
  const boost::shared_ptr<Blob<Dtype> > scores =
      this->net_->blob_by_name("scores");
  EXPECT_EQ(scores->shape(1), 20);
  EXPECT_FALSE(this->net_->blob_by_name("softmax"));
  const vector<boost::shared_ptr<Layer<Dtype> > >& layers =
      this->net_->layers();
  EXPECT_EQ(layers[1], this->net_->layer_by_name("fc"));
  const vector<boost::shared_ptr<Blob<Dtype> > >& params = this->net_->params();
  EXPECT_EQ(params.size(), 2);
  EXPECT_EQ(params[0], layers[1]->blobs()[0]);
}

TYPED_TEST(CaffeStyleNetTest, TestLossAndGradientsOfUniformScores) {
  typedef typename TypeParam::Dtype Dtype;
  this->BuildClassifier("force_backward: true ");
  EXPECT_TRUE(this->net_->bottom_need_backward()[1][0]);
  EXPECT_FALSE(this->net_->bottom_need_backward()[2][1]);
  caffe_set(120, Dtype(0), this->net_->params()[0]->mutable_cpu_data());
  Dtype loss;
  const vector<Blob<Dtype>*>& outputs = this->net_->Forward(&loss);
  EXPECT_NEAR(loss, std::log(20.), 1e-5);
  EXPECT_EQ(outputs[0]->cpu_data()[0], loss);
  this->net_->Backward();
  // Probability less truth, over four images.
  const Blob<Dtype>& scores = *this->net_->blob_by_name("scores");
  for (int i = 0; i < scores.count(); ++i) {
    EXPECT_NEAR(scores.cpu_diff()[i], (0.05 - (i % 20 == 7)) / 4, 1e-6);
  }
  this->BuildClassifier();
  EXPECT_FALSE(this->net_->bottom_need_backward()[1][0]);
}

TYPED_TEST(CaffeStyleNetTest, TestUpdateSubtractsGradients) {
  typedef typename TypeParam::Dtype Dtype;
  this->BuildClassifier();
  Blob<Dtype>* weights = this->net_->learnable_params()[0];
  Blob<Dtype> before;
  before.CopyFrom(*weights, false, true);
  this->net_->ClearParamDiffs();
  this->net_->ForwardBackward();
  EXPECT_GT(weights->asum_diff(), 0);
  this->net_->Update();
  for (int i = 0; i < before.count(); ++i) {
    EXPECT_EQ(weights->cpu_data()[i],
              before.cpu_data()[i] - weights->cpu_diff()[i]);
  }
  NetParameter param;
  this->net_->ToProto(&param);
  Net<Dtype> copy(param);
  EXPECT_EQ(copy.params()[0]->asum_data(), weights->asum_data());
}

TEST(CaffeStyleTest, TestCallbacksRunAroundLayers) {
  NetParameter param;
  CHECK(google::protobuf::TextFormat::ParseFromString(
      "force_backward: true "
      "layer { name: 'in' type: 'Input' top: 'x' "
      "        input_param { shape { dim: 2 dim: 3 } } } "
      "layer { name: 'relu' type: 'ReLU' bottom: 'x' top: 'y' } "
      "layer { name: 'loss' type: 'Flatten' bottom: 'y' top: 'z' "
      "        loss_weight: 1 }",
      &param));
  Net<float> net(param);
  CountCalls before_forward, after_forward, before_backward, after_backward;
  net.add_before_forward(&before_forward);
  net.add_after_forward(&after_forward);
  net.add_before_backward(&before_backward);
  net.add_after_backward(&after_backward);
  net.ForwardBackward();
  const int forward[] = {0, 1, 2};
  EXPECT_EQ(before_forward.layers, std::vector<int>(forward, forward + 3));
  EXPECT_EQ(after_forward.layers, before_forward.layers);
  EXPECT_EQ(before_backward.layers, after_backward.layers);
  EXPECT_EQ(before_backward.layers[0], 2);
}

// Images from the program's own memory.
TYPED_TEST(CaffeStyleNetTest, TestMemoryData) {
  typedef typename TypeParam::Dtype Dtype;
  this->Build(
      "layer { name: 'data' type: 'MemoryData' top: 'data' top: 'label' "
      "        memory_data_param { batch_size: 2 channels: 3 "
      "                            height: 4 width: 5 } } "
      "layer { name: 'pool' type: 'Pooling' bottom: 'data' top: 'pool' "
      "        pooling_param { pool: AVE global_pooling: true } } "
      "layer { name: 'silence' type: 'Silence' bottom: 'label' }");
  boost::shared_ptr<MemoryDataLayer<Dtype> > memory_data =
      boost::dynamic_pointer_cast<MemoryDataLayer<Dtype> >(
          this->net_->layers()[0]);
  ASSERT_TRUE(memory_data);
  std::vector<cv::Mat> mats;
  std::vector<int> labels;
  for (int i = 0; i < 2; ++i) {
    mats.push_back(cv::Mat(4, 5, CV_8UC3, cv::Scalar(10 + i, 20 + i, 30 + i)));
    labels.push_back(i);
  }
  memory_data->AddMatVector(mats, labels);
  const vector<Blob<Dtype>*>& result = this->net_->Forward();
  ASSERT_EQ(result.size(), 1);
  for (int i = 0; i < 2; ++i) {
    for (int c = 0; c < 3; ++c) {
      EXPECT_NEAR(result[0]->data_at(i, c, 0, 0), 10 * (c + 1) + i, 1e-4);
    }
    EXPECT_EQ(this->net_->blob_by_name("label")->cpu_data()[i], i);
  }
  // And from any pointer.
  vector<Dtype> data(2 * 60, 3), label(2, 1);
  memory_data->Reset(&data[0], &label[0], 2);
  EXPECT_NEAR(this->net_->Forward()[0]->asum_data(), 2 * 3 * 3, 1e-4);
}

// What InsertSplits gives, name by name, is what Caffe prints: a blob that is
// used twice, one that is changed in place between its uses, and a loss that
// goes on.
TEST(CaffeStyleTest, TestInsertSplits) {
  NetParameter before;
  CHECK(google::protobuf::TextFormat::ParseFromString(
      "name: 'Diamond' "
      "layer { name: 'source' type: 'Input' top: 'a' top: 'b' } "
      "layer { name: 'left' type: 'InnerProduct' bottom: 'b' top: 'l' } "
      "layer { name: 'right' type: 'InnerProduct' bottom: 'b' top: 'r' } "
      "layer { name: 'bend' type: 'ReLU' bottom: 'r' top: 'r' } "
      "layer { name: 'join' type: 'Eltwise' bottom: 'l' bottom: 'r' top: 'j' } "
      "layer { name: 'gap' type: 'EuclideanLoss' loss_weight: 1.5 "
      "  bottom: 'r' bottom: 'a' top: 'gap' } "
      "layer { name: 'tail' type: 'Power' bottom: 'gap' top: 'tail' } ",
      &before));
  NetParameter expected;
  CHECK(google::protobuf::TextFormat::ParseFromString(
      "name: 'Diamond' "
      "layer { name: 'source' type: 'Input' top: 'a' top: 'b' } "
      "layer { name: 'b_source_1_split' type: 'Split' bottom: 'b' "
      "  top: 'b_source_1_split_0' top: 'b_source_1_split_1' } "
      "layer { name: 'left' type: 'InnerProduct' "
      "  bottom: 'b_source_1_split_0' top: 'l' } "
      "layer { name: 'right' type: 'InnerProduct' "
      "  bottom: 'b_source_1_split_1' top: 'r' } "
      "layer { name: 'bend' type: 'ReLU' bottom: 'r' top: 'r' } "
      "layer { name: 'r_bend_0_split' type: 'Split' bottom: 'r' "
      "  top: 'r_bend_0_split_0' top: 'r_bend_0_split_1' } "
      "layer { name: 'join' type: 'Eltwise' "
      "  bottom: 'l' bottom: 'r_bend_0_split_0' top: 'j' } "
      "layer { name: 'gap' type: 'EuclideanLoss' "
      "  bottom: 'r_bend_0_split_1' bottom: 'a' top: 'gap' } "
      "layer { name: 'gap_gap_0_split' type: 'Split' bottom: 'gap' "
      "  top: 'gap_gap_0_split_0' top: 'gap_gap_0_split_1' "
      "  loss_weight: 1.5 loss_weight: 0 } "
      "layer { name: 'tail' type: 'Power' "
      "  bottom: 'gap_gap_0_split_1' top: 'tail' } ",
      &expected));
  NetParameter after;
  InsertSplits(before, &after);
  EXPECT_EQ(expected.DebugString(), after.DebugString());
}

// A solver of the user's own: plain descent by the sign of the gradient.
template <typename Dtype>
class SignSolver : public SGDSolver<Dtype> {
 public:
  explicit SignSolver(const SolverParameter& param) : SGDSolver<Dtype>(param) {}
  explicit SignSolver(const string& param_file)
      : SGDSolver<Dtype>(param_file) {}
  virtual inline const char* type() const { return "Sign"; }

 protected:
  virtual void ComputeUpdateValue(int param_id, Dtype rate) {
    const vector<Blob<Dtype>*>& net_params = this->net_->learnable_params();
    const Dtype local_rate = rate * this->net_->params_lr()[param_id];
    Blob<Dtype>* param = net_params[param_id];
    caffe_cpu_sign(param->count(), param->cpu_diff(),
                   this->update_[param_id]->mutable_cpu_data());
    caffe_cpu_axpby(param->count(), local_rate,
                    this->update_[param_id]->cpu_data(), Dtype(0),
                    param->mutable_cpu_diff());
  }

  DISABLE_COPY_AND_ASSIGN(SignSolver);
};

INSTANTIATE_CLASS(SignSolver);
REGISTER_SOLVER_CLASS(Sign);

template <typename Dtype>
class GradientsSeen : public Solver<Dtype>::Callback {
 public:
  GradientsSeen() : starts_(0), gradients_(0) {}
  int starts_, gradients_;

 protected:
  virtual void on_start() { ++starts_; }
  virtual void on_gradients_ready() { ++gradients_; }
};

// Asks for a stop when it has been asked so many times.
class StopAfter {
 public:
  explicit StopAfter(int asked) : asked_(asked) {}
  SolverAction::Enum Ask() {
    return --asked_ <= 0 ? SolverAction::STOP : SolverAction::NONE;
  }

 private:
  int asked_;
};

TYPED_TEST(CaffeStyleNetTest, TestOwnSolver) {
  typedef typename TypeParam::Dtype Dtype;
  SolverParameter param;
  CHECK(google::protobuf::TextFormat::ParseFromString(
      "type: 'Sign' base_lr: 0.25 lr_policy: 'fixed' max_iter: 8 "
      "snapshot_after_train: false "
      "net_param { "
      "  layer { name: 'in' type: 'DummyData' top: 'one' top: 'target' "
      "    dummy_data_param { shape { dim: 1 dim: 1 } shape { dim: 1 dim: 1 } "
      "      data_filler { type: 'constant' value: 1 } "
      "      data_filler { type: 'constant' value: 3 } } } "
      "  layer { name: 'ip' type: 'InnerProduct' bottom: 'one' top: 'ip' "
      "    inner_product_param { num_output: 1 bias_term: false } } "
      "  layer { name: 'loss' type: 'EuclideanLoss' bottom: 'ip' "
      "    bottom: 'target' top: 'loss' } "
      "}",
      &param));
  shared_ptr<Solver<Dtype> > solver(SolverRegistry<Dtype>::CreateSolver(param));
  GradientsSeen<Dtype> seen;
  solver->add_callback(&seen);
  solver->Solve();
  // Eight steps of 0.25 towards 3.
  EXPECT_EQ(solver->iter(), 8);
  EXPECT_EQ(solver->net()->params()[0]->cpu_data()[0], 2);
  EXPECT_EQ(seen.starts_, 8);
  EXPECT_EQ(seen.gradients_, 8);

  scoped_ptr<Solver<Dtype> > stopped(
      SolverRegistry<Dtype>::CreateSolver(param));
  StopAfter stop(3);
  boost::function<SolverAction::Enum()> ask =
      boost::bind(&StopAfter::Ask, &stop);
  stopped->SetActionFunction(ask);
  stopped->Solve();
  EXPECT_EQ(stopped->iter(), 3);
}

TEST(CaffeStyleTest, TestSignalsBecomeActions) {
  SignalHandler handler(SolverAction::STOP, SolverAction::SNAPSHOT);
  ActionCallback action = handler.GetActionFunction();
  EXPECT_EQ(action(), SolverAction::NONE);
  raise(SIGHUP);
  EXPECT_EQ(action(), SolverAction::SNAPSHOT);
  raise(SIGINT);
  EXPECT_EQ(action(), SolverAction::STOP);
  EXPECT_EQ(action(), SolverAction::NONE);
}

TEST(CaffeStyleTest, TestSettingsOfTheThread) {
  Caffe& caffe = Caffe::Get();
  EXPECT_EQ(&caffe, &Caffe::Get());
  Caffe::set_mode(Caffe::CPU);
  EXPECT_EQ(Caffe::mode(), Caffe::CPU);
  EXPECT_EQ(Caffe::solver_count(), 1);
  EXPECT_TRUE(Caffe::root_solver());
  EXPECT_FALSE(Caffe::multiprocess());
}

}  // namespace caffe
