#include <algorithm>

#include "caffe/net.hpp"
#include "caffe/util/hdf5.hpp"
#include "caffe/util/upgrade_proto.hpp"
#include "naming.hpp"
#include "util/hdf5_file.hpp"

// Nets and weights in files.
//
// In HDF5, parameter 1 of layer conv1 is the data set /data/conv1/1 and its
// gradient, when that is saved too, /diff/conv1/1. A shared parameter is stored
// with its owner only.

namespace caffe {

namespace {

// Layers that are missing here may be left out on purpose, but not all of them.
void RequireOfUse(bool is_of_use, const string& filename) {
  Require(is_of_use, filename, ": has no weights for any layer of this net");
}

// The group of a layer, made when it is not there. Layer names with slashes,
// such as GoogLeNet's, are groups within groups.
Hdf5Group GroupOfLayer(const Hdf5Group& in, const string& name) {
  const size_t slash = name.find('/');
  const string first = name.substr(0, slash);
  Hdf5Group group = in.Has(first) ? in.OpenGroup(first) : in.CreateGroup(first);
  if (slash == string::npos) return group;
  return GroupOfLayer(group, name.substr(slash + 1));
}

void LogIgnoredGroups(const Hdf5Group& data,
                      const vector<string>& layer_names) {
  const int num_groups = hdf5_get_num_links(data.id());
  for (int i = 0; i < num_groups; ++i) {
    const string group = hdf5_get_name_by_idx(data.id(), i);
    const bool is_known = std::any_of(
        layer_names.begin(), layer_names.end(), [&](const string& name) {
          return name == group || name.starts_with(group + "/");
        });
    LOG_IF(INFO, !is_known) << "Ignoring source layer " << group;
  }
}

}  // namespace

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
  if (trained_filename.ends_with(".h5")) {
    CopyTrainedLayersFromHDF5(trained_filename);
  } else {
    CopyTrainedLayersFromBinaryProto(trained_filename);
  }
}

template <typename Dtype>
void Net<Dtype>::CopyTrainedLayersFromBinaryProto(
    const string& trained_filename) {
  NetParameter param;
  ReadNetParamsFromBinaryFileOrDie(trained_filename, &param);
  const bool is_of_use =
      params_.empty() ||
      std::any_of(param.layer().begin(), param.layer().end(),
                  [this](const LayerParameter& layer) {
                    return layer.blobs_size() > 0 && has_layer(layer.name());
                  });
  RequireOfUse(is_of_use, trained_filename);
  NamingFile(trained_filename, [&] { CopyTrainedLayersFrom(param); });
}

template <typename Dtype>
void Net<Dtype>::ToHDF5(const string& filename, bool write_diff) const {
  Hdf5Output file(filename);
  const auto write = [&](const char* group_name, bool diff) {
    const Hdf5Group group = file.root().CreateGroup(group_name);
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (param_id_vecs_[i].empty()) continue;
      const Hdf5Group layer = GroupOfLayer(group, layer_names_[i]);
      for (size_t j = 0; j < param_id_vecs_[i].size(); ++j) {
        const int param_id = param_id_vecs_[i][j];
        if (param_owners_[param_id] >= 0) continue;
        hdf5_save_nd_dataset(layer.id(), std::to_string(j), *params_[param_id],
                             diff);
      }
    }
  };
  write("data", false);
  if (write_diff) write("diff", true);
  file.Commit();
}

template <typename Dtype>
void Net<Dtype>::CopyTrainedLayersFromHDF5(const string& trained_filename) {
  const Hdf5Group data = OpenHdf5(trained_filename).OpenGroup("data");
  bool is_of_use = params_.empty();
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (param_id_vecs_[i].empty() || !data.Has(layer_names_[i])) continue;
    is_of_use = true;
    const Hdf5Group group = data.OpenGroup(layer_names_[i]);
    const int num_params = static_cast<int>(param_id_vecs_[i].size());
    NamingLayer(layers_[i]->layer_param(), [&] {
      for (int j = 0; j < num_params; ++j) {
        const int param_id = param_id_vecs_[i][j];
        const string name = std::to_string(j);
        // Only a shared parameter need not be there.
        if (param_owners_[param_id] >= 0 && !group.Has(name)) continue;
        hdf5_load_nd_dataset(group.id(), name.c_str(), 0, kMaxBlobAxes,
                             params_[param_id].get());
      }
      Require(!group.Has(std::to_string(num_params)), "has ", num_params,
              " parameter blob(s) here but more in ", trained_filename);
    });
  }
  RequireOfUse(is_of_use, trained_filename);
  LogIgnoredGroups(data, layer_names_);
}

template class Net<float>;
template class Net<double>;

}  // namespace caffe
