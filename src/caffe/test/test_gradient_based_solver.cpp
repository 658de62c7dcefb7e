#include <cmath>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "caffe/sgd_solvers.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "solver_test_util.hpp"

// Fits y = w x + b by least squares with every solver, and does the same by
// the definitions, in double, on the batches that the net has seen.

namespace caffe {

namespace {

constexpr int kBatch = 4;
constexpr int kFeatures = 5;
// Multipliers of the two parameters in kLeastSquares.
constexpr double kLrMult[] = {1, 2};
constexpr double kDecayMult[] = {1, 0.5};

constexpr const char* kLeastSquares = R"(
  layer { name: 'data' type: 'DummyData' top: 'x' top: 'target'
          dummy_data_param {
            shape { dim: 4 dim: 5 }
            data_filler { type: 'gaussian' mean: 0.5 std: 2 } } }
  layer { name: 'affine' type: 'Affine' bottom: 'x' top: 'y'
          power_param { scale: -0.5 shift: 0.3 }
          param { lr_mult: 1 decay_mult: 1 }
          param { lr_mult: 2 decay_mult: 0.5 } }
  layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 'target' })";

struct Settings {
  string type = "SGD";
  double rate = 0.125;
  double momentum = 0;
  double weight_decay = 0;
  string regularization = "L2";
  int iter_size = 1;
  double clip_gradients = -1;
  double delta = 1e-8;
  double rms_decay = 0.875;
  double momentum2 = 0.75;
};

std::ostream& operator<<(std::ostream& out, const Settings& s) {
  return out << s.type << " momentum " << s.momentum << " decay "
             << s.weight_decay << " " << s.regularization << " iter_size "
             << s.iter_size << " clip " << s.clip_gradients;
}

SolverParameter ToParameter(const Settings& s) {
  SolverParameter param;
  param.set_type(s.type);
  param.set_lr_policy("fixed");
  param.set_base_lr(s.rate);
  param.set_momentum(s.momentum);
  param.set_weight_decay(s.weight_decay);
  param.set_regularization_type(s.regularization);
  param.set_iter_size(s.iter_size);
  param.set_clip_gradients(s.clip_gradients);
  param.set_delta(s.delta);
  param.set_rms_decay(s.rms_decay);
  param.set_momentum2(s.momentum2);
  param.set_random_seed(1701);
  *param.mutable_net_param() = ParseNet(kLeastSquares);
  return param;
}

using Values = vector<vector<double>>;  // For each of the two parameters.

struct Batch {
  vector<double> x;
  vector<double> target;
};

// The solvers by their definitions.
class Reference {
 public:
  explicit Reference(const Settings& settings) : s_(settings) {}

  const Values& params() const { return params_; }

  void Iterate(const vector<Batch>& batches) {
    Values gradients = Zeros();
    for (const Batch& batch : batches) AddGradients(batch, &gradients);
    Clip(&gradients);
    ++t_;
    for (int p = 0; p < 2; ++p) {
      for (int i = 0; i < kFeatures; ++i) {
        double& w = params_[p][i];
        double g = gradients[p][i] / batches.size();
        const double decay = s_.weight_decay * kDecayMult[p];
        g += s_.regularization == "L1" ? decay * (w > 0   ? 1
                                                  : w < 0 ? -1
                                                          : 0)
                                       : decay * w;
        w -= Update(g, s_.rate * kLrMult[p], &first_[p][i], &second_[p][i]);
      }
    }
  }

 private:
  static Values Zeros() { return Values(2, vector<double>(kFeatures, 0.)); }

  // Of 1 / (2 N) * sum of (w x + b - target)^2.
  void AddGradients(const Batch& batch, Values* gradients) const {
    for (int n = 0; n < kBatch; ++n) {
      for (int i = 0; i < kFeatures; ++i) {
        const double x = batch.x[n * kFeatures + i];
        const double error =
            params_[0][i] * x + params_[1][i] - batch.target[n * kFeatures + i];
        (*gradients)[0][i] += error * x / kBatch;
        (*gradients)[1][i] += error / kBatch;
      }
    }
  }

  void Clip(Values* gradients) const {
    if (s_.clip_gradients < 0) return;
    double sum = 0;
    for (const auto& values : *gradients) {
      for (const double g : values) sum += g * g;
    }
    if (std::sqrt(sum) <= s_.clip_gradients) return;
    for (auto& values : *gradients) {
      for (double& g : values) g *= s_.clip_gradients / std::sqrt(sum);
    }
  }

  double Update(double g, double rate, double* first, double* second) const {
    const double before = *first;
    if (s_.type == "SGD") {
      *first = s_.momentum * before + rate * g;
      return *first;
    }
    if (s_.type == "Nesterov") {
      *first = s_.momentum * before + rate * g;
      return (1 + s_.momentum) * *first - s_.momentum * before;
    }
    if (s_.type == "AdaGrad") {
      *first += g * g;
      return rate * g / (std::sqrt(*first) + s_.delta);
    }
    if (s_.type == "RMSProp") {
      *first = s_.rms_decay * before + (1 - s_.rms_decay) * g * g;
      return rate * g / (std::sqrt(*first) + s_.delta);
    }
    if (s_.type == "AdaDelta") {
      *first = s_.momentum * before + (1 - s_.momentum) * g * g;
      const double step =
          g * std::sqrt((*second + s_.delta) / (*first + s_.delta));
      *second = s_.momentum * *second + (1 - s_.momentum) * step * step;
      return rate * step;
    }
    CHECK_EQ("Adam", s_.type);
    *first = s_.momentum * before + (1 - s_.momentum) * g;
    *second = s_.momentum2 * *second + (1 - s_.momentum2) * g * g;
    const double mean = *first / (1 - std::pow(s_.momentum, t_));
    const double square = *second / (1 - std::pow(s_.momentum2, t_));
    // Caffe adds delta to the uncorrected root; it is tiny.
    return rate * mean / (std::sqrt(square) + s_.delta);
  }

  const Settings s_;
  int t_ = 0;
  Values params_ = {vector<double>(kFeatures, -0.5F),
                    vector<double>(kFeatures, 0.3F)};
  Values first_ = Zeros();
  Values second_ = Zeros();
};

// Keeps the batches that the net's data layer gave.
template <typename Dtype>
class BatchRecorder : public Net<Dtype>::Callback {
 public:
  explicit BatchRecorder(Net<Dtype>* net) : net_(net) {
    net_->add_after_forward(this);
  }
  vector<Batch> Take() { return std::exchange(batches_, {}); }

 protected:
  void run(int layer) override {
    if (layer != 0) return;
    const vector<Blob<Dtype>*>& tops = net_->top_vecs()[0];
    const vector<Dtype> x = DataOf(*tops[0]);
    const vector<Dtype> target = DataOf(*tops[1]);
    batches_.push_back({{x.begin(), x.end()}, {target.begin(), target.end()}});
  }

 private:
  Net<Dtype>* const net_;
  vector<Batch> batches_;
};

// All solvers, those that may with momentum.
vector<Settings> AllTypes() {
  vector<Settings> all(6);
  all[0].momentum = 0.5;
  all[1].type = "Nesterov";
  all[1].momentum = 0.75;
  all[2].type = "AdaGrad";
  all[3].type = "RMSProp";
  all[4].type = "AdaDelta";
  all[4].momentum = 0.875;
  all[4].delta = 1e-3;
  all[5].type = "Adam";
  all[5].momentum = 0.5;
  return all;
}

}  // namespace

template <typename TypeParam>
class GradientBasedSolverTest : public MultiDeviceTest<TypeParam> {
 protected:
  typedef typename TypeParam::Dtype Dtype;

  // Trains for some iterations and compares after each.
  void Compare(const Settings& settings) {
    SCOPED_TRACE(::testing::PrintToString(settings));
    const std::unique_ptr<Solver<Dtype>> solver(
        SolverRegistry<Dtype>::CreateSolver(ToParameter(settings)));
    EXPECT_EQ(settings.type, solver->type());
    CompareWithReference(settings, solver.get());
  }

  void CompareWithReference(const Settings& settings, Solver<Dtype>* solver) {
    Net<Dtype>* const net = solver->net().get();
    BatchRecorder<Dtype> recorder(net);
    Reference reference(settings);
    for (int iter = 0; iter < 6; ++iter) {
      solver->Step(1);
      EXPECT_EQ(iter + 1, solver->iter());
      const vector<Batch> batches = recorder.Take();
      ASSERT_EQ(settings.iter_size, batches.size());
      reference.Iterate(batches);
      for (int p = 0; p < 2; ++p) {
        for (int i = 0; i < kFeatures; ++i) {
          const double expected = reference.params()[p][i];
          ASSERT_NEAR(expected, net->learnable_params()[p]->cpu_data()[i],
                      1e-4 * (1 + std::fabs(expected)))
              << "iteration " << iter << ", parameter " << p << ", value " << i;
        }
      }
    }
  }
};

TYPED_TEST_SUITE(GradientBasedSolverTest, TestDtypesAndDevices);

TYPED_TEST(GradientBasedSolverTest, AllSolversFollowTheirDefinitions) {
  for (const Settings& settings : AllTypes()) this->Compare(settings);
}

TYPED_TEST(GradientBasedSolverTest, WithoutMomentum) {
  for (Settings settings : AllTypes()) {
    settings.momentum = 0;
    this->Compare(settings);
  }
}

TYPED_TEST(GradientBasedSolverTest, WithWeightDecay) {
  for (Settings settings : AllTypes()) {
    settings.weight_decay = 0.5;
    this->Compare(settings);
    settings.regularization = "L1";
    this->Compare(settings);
  }
}

TYPED_TEST(GradientBasedSolverTest, GradientsOfSeveralBatchesAreAveraged) {
  for (Settings settings : AllTypes()) {
    settings.iter_size = 3;
    settings.weight_decay = 0.25;
    this->Compare(settings);
  }
}

TYPED_TEST(GradientBasedSolverTest, LargeGradientsAreClipped) {
  for (Settings settings : AllTypes()) {
    // Small enough for most gradients, large enough for some.
    settings.clip_gradients = 6;
    settings.weight_decay = 0.25;
    this->Compare(settings);
    // What counts is the gradient before it is averaged.
    settings.iter_size = 2;
    this->Compare(settings);
  }
}

// Nothing is overridden, but the base cannot know.
template <typename Dtype>
class SubclassedSolver : public SGDSolver<Dtype> {
 public:
  using SGDSolver<Dtype>::SGDSolver;
};

TYPED_TEST(GradientBasedSolverTest, StepByStepIsTheSameAsInOnePass) {
  typedef typename TypeParam::Dtype Dtype;
  Settings settings;
  settings.momentum = 0.75;
  settings.weight_decay = 0.5;
  settings.iter_size = 2;
  settings.clip_gradients = 8;
  for (const char* const regularization : {"L1", "L2"}) {
    settings.regularization = regularization;
    this->Compare(settings);
    SubclassedSolver<Dtype> solver(ToParameter(settings));
    this->CompareWithReference(settings, &solver);
    SolverParameter debugged = ToParameter(settings);
    debugged.set_debug_info(true);
    SGDSolver<Dtype> debugged_solver(debugged);
    this->CompareWithReference(settings, &debugged_solver);
  }
}

// A solver as a user of Caffe writes one: other regularization, other rule.
template <typename Dtype>
class SignSolver : public SGDSolver<Dtype> {
 public:
  using SGDSolver<Dtype>::SGDSolver;

 protected:
  void Regularize(int param_id) override {
    Blob<Dtype>* const param = this->net_->learnable_params()[param_id];
    caffe_add_scalar(param->count(), Dtype(1000), param->mutable_cpu_diff());
  }
  void ComputeUpdateValue(int param_id, Dtype rate) override {
    Blob<Dtype>* const param = this->net_->learnable_params()[param_id];
    caffe_cpu_sign(param->count(), param->cpu_diff(),
                   this->temp_[param_id]->mutable_cpu_data());
    caffe_cpu_scale(param->count(), rate, this->temp_[param_id]->cpu_data(),
                    param->mutable_cpu_diff());
  }
};

TYPED_TEST(GradientBasedSolverTest, SubclassesMayOverrideTheSteps) {
  typedef typename TypeParam::Dtype Dtype;
  SignSolver<Dtype> solver(ToParameter(Settings()));
  solver.Step(2);
  for (const Dtype weight : DataOf(*solver.net()->learnable_params()[0])) {
    EXPECT_NEAR(-0.5 - 2 * 0.125, weight, 1e-6);
  }
}

TYPED_TEST(GradientBasedSolverTest, UpdatesStayInTheDiffs) {
  typedef typename TypeParam::Dtype Dtype;
  Settings settings;
  settings.momentum = 0.5;
  SGDSolver<Dtype> solver(ToParameter(settings));
  solver.Step(1);
  const Blob<Dtype>& weights = *solver.net()->learnable_params()[0];
  const vector<Dtype> before = DataOf(weights);
  solver.Step(1);
  for (int i = 0; i < kFeatures; ++i) {
    EXPECT_NEAR(before[i] - weights.cpu_data()[i], weights.cpu_diff()[i], 1e-5);
    EXPECT_EQ(weights.cpu_diff()[i], solver.history()[0]->cpu_data()[i]);
  }
}

TYPED_TEST(GradientBasedSolverTest, TheRateFollowsThePolicy) {
  typedef typename TypeParam::Dtype Dtype;
  SolverParameter param = ToParameter(Settings());
  param.set_lr_policy("multistep");
  param.set_gamma(0.5);
  param.add_stepvalue(2);
  param.add_stepvalue(3);
  SGDSolver<Dtype> solver(param);
  vector<double> rates;
  for (int i = 0; i < 5; ++i) {
    solver.Step(1);
    rates.push_back(solver.learning_rate());
  }
  EXPECT_EQ((vector<double>{0.125, 0.125, 0.0625, 0.03125, 0.03125}), rates);
}

TYPED_TEST(GradientBasedSolverTest, RefusesSettingsThatMakeNoSense) {
  typedef typename TypeParam::Dtype Dtype;
  const auto error_of = [](const Settings& settings) {
    return ErrorOf([&] {
      delete SolverRegistry<Dtype>::CreateSolver(ToParameter(settings));
    });
  };
  Settings settings;
  settings.regularization = "L3";
  EXPECT_EQ("unknown regularization_type 'L3'; use L1 or L2",
            error_of(settings));
  settings = Settings();
  settings.momentum = 0.5;
  settings.type = "AdaGrad";
  EXPECT_EQ("the AdaGrad solver takes no momentum, but the solver has 0.5",
            error_of(settings));
  settings.type = "RMSProp";
  EXPECT_EQ("the RMSProp solver takes no momentum, but the solver has 0.5",
            error_of(settings));
  settings.momentum = 0;
  settings.rms_decay = 1;
  EXPECT_EQ("rms_decay must be at least 0 and below 1, not 1",
            error_of(settings));
  settings = Settings();
  settings.iter_size = 0;
  EXPECT_EQ("iter_size must be at least 1, not 0", error_of(settings));
}

TYPED_TEST(GradientBasedSolverTest, NeedsAPolicyOnlyToTrain) {
  typedef typename TypeParam::Dtype Dtype;
  SolverParameter param = ToParameter(Settings());
  param.clear_lr_policy();
  SGDSolver<Dtype> solver(param);
  solver.net()->Forward();
  EXPECT_THROW(solver.Step(1), Error);
}

}  // namespace caffe
