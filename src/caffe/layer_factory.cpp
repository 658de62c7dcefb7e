#include "caffe/layer_factory.hpp"

#include "caffe/layer.hpp"

namespace caffe {

template <typename Dtype>
typename LayerRegistry<Dtype>::CreatorRegistry&
LayerRegistry<Dtype>::Registry() {
  // Never destroyed: layers in other libraries may outlive this one's statics.
  static CreatorRegistry* const registry = new CreatorRegistry();
  return *registry;
}

template <typename Dtype>
void LayerRegistry<Dtype>::AddCreator(const string& type, Creator creator) {
  const bool is_new = Registry().emplace(type, creator).second;
  CHECK(is_new) << "Layer type " << type << " already registered.";
}

template <typename Dtype>
shared_ptr<Layer<Dtype>> LayerRegistry<Dtype>::CreateLayer(
    const LayerParameter& param) {
  const auto found = Registry().find(param.type());
  Require(found != Registry().end() || param.type() != "Python",
          "layers of type 'Python' need Python: use the net from there "
          "(import caffe), or a caffe program built with CAFFE_BUILD_PYTHON");
  Require(found != Registry().end(), "unknown layer type '", param.type(),
          "' (known types: ", LayerTypeListString(), ")");
  return found->second(param);
}

template <typename Dtype>
vector<string> LayerRegistry<Dtype>::LayerTypeList() {
  vector<string> types;
  for (const auto& entry : Registry()) types.push_back(entry.first);
  return types;
}

template <typename Dtype>
string LayerRegistry<Dtype>::LayerTypeListString() {
  string list;
  for (const string& type : LayerTypeList()) {
    if (!list.empty()) list += ", ";
    list += type;
  }
  return list;
}

template class LayerRegistry<float>;
template class LayerRegistry<double>;

}  // namespace caffe
