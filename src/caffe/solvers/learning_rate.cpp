#include "solvers/learning_rate.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "caffe/error.hpp"

namespace caffe {

namespace {

using Policy = double (*)(const SolverParameter&, int iter, int current_step);

// Powers and exponentials are taken in double, of settings that are float.
double Fixed(const SolverParameter& param, int /*iter*/, int /*step*/) {
  return param.base_lr();
}

double Step(const SolverParameter& param, int /*iter*/, int step) {
  return param.base_lr() * std::pow(double(param.gamma()), step);
}

double Exp(const SolverParameter& param, int iter, int /*step*/) {
  return param.base_lr() * std::pow(double(param.gamma()), iter);
}

double Inv(const SolverParameter& param, int iter, int /*step*/) {
  return param.base_lr() *
         std::pow(1 + double(param.gamma()) * iter, -double(param.power()));
}

double Poly(const SolverParameter& param, int iter, int /*step*/) {
  // Zero, not a complex number, for those who go on after the end.
  const double left = std::max(0., 1 - double(iter) / param.max_iter());
  return param.base_lr() * std::pow(left, double(param.power()));
}

double Sigmoid(const SolverParameter& param, int iter, int /*step*/) {
  const double argument = -double(param.gamma()) * (iter - param.stepsize());
  return param.base_lr() / (1 + std::exp(argument));
}

const std::map<std::string, Policy>& Policies() {
  static const std::map<std::string, Policy> policies = {
      {"exp", Exp},        {"fixed", Fixed}, {"inv", Inv},
      {"multistep", Step}, {"poly", Poly},   {"step", Step},
      {"sigmoid", Sigmoid}};
  return policies;
}

}  // namespace

void CheckLearningRatePolicy(const SolverParameter& param) {
  const std::string& policy = param.lr_policy();
  if (Policies().count(policy) == 0) {
    std::string names;
    for (const auto& entry : Policies()) {
      names += (names.empty() ? "" : ", ") + entry.first;
    }
    Require(param.has_lr_policy(), "the solver has no lr_policy; use one of ",
            names);
    Fail("unknown lr_policy '", policy, "'; use one of ", names);
  }
  Require(policy != "step" || param.stepsize() > 0,
          "lr_policy 'step' needs a positive stepsize, not ", param.stepsize());
  Require(policy != "poly" || param.max_iter() > 0,
          "lr_policy 'poly' needs a positive max_iter, not ", param.max_iter());
}

int LearningRateStep(const SolverParameter& param, int iter, int current_step) {
  if (param.lr_policy() == "step") return iter / param.stepsize();
  if (param.lr_policy() != "multistep") return current_step;
  const bool is_due = current_step < param.stepvalue_size() &&
                      iter >= param.stepvalue(current_step);
  return is_due ? current_step + 1 : current_step;
}

double LearningRate(const SolverParameter& param, int iter, int current_step) {
  return Policies().at(param.lr_policy())(param, iter, current_step);
}

}  // namespace caffe
