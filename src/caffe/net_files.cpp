#include <algorithm>

#include "caffe/net.hpp"
#include "caffe/util/upgrade_proto.hpp"
#include "naming.hpp"

namespace caffe {

template <typename Dtype>
Net<Dtype>::Net(const string& param_file, Phase phase, const int level,
                const vector<string>* stages) {
  NetParameter param;
  ReadNetParamsFromTextFileOrDie(param_file, &param);
  NetState* const state = param.mutable_state();
  state->set_phase(phase);
  state->set_level(level);
  if (stages != nullptr) {
    for (const string& stage : *stages) state->add_stage(stage);
  }
  NamingFile(param_file, [&] { Init(param); });
}

template <typename Dtype>
void Net<Dtype>::CopyTrainedLayersFrom(const string& trained_filename) {
  CopyTrainedLayersFromBinaryProto(trained_filename);
}

template <typename Dtype>
void Net<Dtype>::CopyTrainedLayersFromBinaryProto(
    const string& trained_filename) {
  NetParameter param;
  ReadNetParamsFromBinaryFileOrDie(trained_filename, &param);
  // Layers that are missing here are left out on purpose, but not all of them.
  const bool is_of_use =
      params_.empty() ||
      std::any_of(param.layer().begin(), param.layer().end(),
                  [this](const LayerParameter& layer) {
                    return layer.blobs_size() > 0 && has_layer(layer.name());
                  });
  Require(is_of_use, trained_filename,
          ": has no weights for any layer of this net");
  NamingFile(trained_filename, [&] { CopyTrainedLayersFrom(param); });
}

template class Net<float>;
template class Net<double>;

}  // namespace caffe
