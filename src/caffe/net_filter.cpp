#include <algorithm>

#include "caffe/net.hpp"
#include "naming.hpp"

namespace caffe {

namespace {

// Why the state does not meet the rule; empty when it does.
string Mismatch(const NetState& state, const NetStateRule& rule) {
  if (rule.has_phase() && rule.phase() != state.phase()) {
    return Concat("the net's phase is ", Phase_Name(state.phase()), ", not ",
                  Phase_Name(rule.phase()));
  }
  if (rule.has_min_level() && state.level() < rule.min_level()) {
    return Concat("the net's level ", state.level(), " is below ",
                  rule.min_level());
  }
  if (rule.has_max_level() && state.level() > rule.max_level()) {
    return Concat("the net's level ", state.level(), " is above ",
                  rule.max_level());
  }
  const auto has_stage = [&state](const string& stage) {
    return std::count(state.stage().begin(), state.stage().end(), stage) > 0;
  };
  for (const string& stage : rule.stage()) {
    if (!has_stage(stage)) return Concat("the net is not in stage ", stage);
  }
  for (const string& stage : rule.not_stage()) {
    if (has_stage(stage)) return Concat("the net is in stage ", stage);
  }
  return string();
}

}  // namespace

template <typename Dtype>
bool Net<Dtype>::StateMeetsRule(const NetState& state, const NetStateRule& rule,
                                const string& layer_name) {
  const string mismatch = Mismatch(state, rule);
  LOG_IF(INFO, !mismatch.empty() && Caffe::root_solver())
      << "A rule of layer " << layer_name << " does not apply: " << mismatch;
  return mismatch.empty();
}

template <typename Dtype>
void Net<Dtype>::FilterNet(const NetParameter& param,
                           NetParameter* param_filtered) {
  param_filtered->CopyFrom(param);
  param_filtered->clear_layer();
  for (const LayerParameter& layer : param.layer()) {
    Require(layer.include_size() == 0 || layer.exclude_size() == 0,
            LayerTitle(layer),
            ": has both include and exclude rules; give one kind only");
    const auto applies = [&](const NetStateRule& rule) {
      return StateMeetsRule(param.state(), rule, layer.name());
    };
    const auto any_applies = [&](const auto& rules) {
      return std::any_of(rules.begin(), rules.end(), applies);
    };
    const bool included = layer.include_size() > 0
                              ? any_applies(layer.include())
                              : !any_applies(layer.exclude());
    if (included) *param_filtered->add_layer() = layer;
  }
}

template class Net<float>;
template class Net<double>;

}  // namespace caffe
