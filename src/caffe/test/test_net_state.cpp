#include <string>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "net_test_util.hpp"

namespace caffe {

// Counts its Forward calls, and keeps the count from run to run.
template <typename Dtype>
class CounterLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;

  void Reshape(const vector<Blob<Dtype>*>& /*bottom*/,
               const vector<Blob<Dtype>*>& top) override {
    top[0]->Reshape(vector<int>());
  }
  string SaveState() const override {
    return count_ == 0 ? string() : std::to_string(count_);
  }
  void RestoreState(const string& state) override {
    Require(!state.empty() && std::isdigit(state[0]), "'", state,
            "' is not a count");
    count_ = std::stoi(state);
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& /*bottom*/,
                   const vector<Blob<Dtype>*>& top) override {
    top[0]->mutable_cpu_data()[0] = ++count_;
  }
  void Backward_cpu(const vector<Blob<Dtype>*>& /*top*/,
                    const vector<bool>& /*propagate_down*/,
                    const vector<Blob<Dtype>*>& /*bottom*/) override {}

 private:
  int count_ = 0;
};

REGISTER_LAYER_CLASS(Counter);

static const char* const kCounters = R"(
  layer { name: 'a' type: 'Counter' top: 'a' }
  layer { name: 'none' type: 'Input' top: 'b' }
  layer { name: 'c' type: 'Counter' top: 'c' })";

TEST(NetStateTest, LayersGoOnWhereTheyWere) {
  auto net = MakeNet<float>(kCounters);
  net->Forward();
  net->ForwardFrom(2);
  NetResumeState state;
  state.add_layer()->set_name("to be overwritten");
  net->SaveState(&state);
  ASSERT_EQ(2, state.layer_size());
  EXPECT_EQ("a", state.layer(0).name());
  EXPECT_EQ("1", state.layer(0).state());
  EXPECT_EQ("c", state.layer(1).name());
  EXPECT_EQ("2", state.layer(1).state());

  net = MakeNet<float>(kCounters);
  net->RestoreState(state);
  net->Forward();
  EXPECT_EQ(2, net->blob_by_name("a")->cpu_data()[0]);
  EXPECT_EQ(3, net->blob_by_name("c")->cpu_data()[0]);
}

TEST(NetStateTest, FindsLayersByName) {
  const auto net = MakeNet<float>(kCounters);
  NetResumeState state;
  state.add_layer()->set_name("c");
  state.mutable_layer(0)->set_state("41");
  state.add_layer()->set_name("gone");
  state.mutable_layer(1)->set_state("99");
  net->RestoreState(state);
  net->Forward();
  EXPECT_EQ(1, net->blob_by_name("a")->cpu_data()[0]);
  EXPECT_EQ(42, net->blob_by_name("c")->cpu_data()[0]);
}

TEST(NetStateTest, KeepsLayersOfOneNameApart) {
  const char* const twins = R"(
    layer { name: 'x' type: 'Counter' top: 'a' }
    layer { name: 'x' type: 'Counter' top: 'b' })";
  auto net = MakeNet<float>(twins);
  net->Forward();
  net->ForwardTo(0);
  NetResumeState state;
  net->SaveState(&state);
  net = MakeNet<float>(twins);
  net->RestoreState(state);
  net->Forward();
  EXPECT_EQ(3, net->blob_by_name("a")->cpu_data()[0]);
  EXPECT_EQ(2, net->blob_by_name("b")->cpu_data()[0]);
}

TEST(NetStateTest, NamesTheLayerWhoseStateIsBad) {
  const auto net = MakeNet<float>(kCounters);
  NetResumeState state;
  state.add_layer()->set_name("c");
  state.mutable_layer(0)->set_state("junk");
  EXPECT_EQ("layer 'c' (Counter): 'junk' is not a count",
            ErrorOf([&] { net->RestoreState(state); }));
}

}  // namespace caffe
