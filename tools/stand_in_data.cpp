#include "stand_in_data.hpp"

#include <algorithm>
#include <memory>

#include "caffe/layers/base_data_layer.hpp"

namespace caffe {

// Has the tops of a data layer, but no data.
template <typename Dtype>
class StandInDataLayer : public BaseDataLayer<Dtype> {
 public:
  using BaseDataLayer<Dtype>::BaseDataLayer;
  void DataLayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                      const vector<Blob<Dtype>*>& top) override {
    for (size_t i = 0; i < top.size(); ++i) {
      top[i]->Reshape(this->layer_param_.dummy_data_param().shape(i));
    }
  }
  const char* type() const override { return "StandInData"; }
  // As those do for which it stands: Data and ImageData.
  bool waits_as_bytes() const override {
    return this->layer_param_.data_param().has_source() ||
           this->layer_param_.has_image_data_param();
  }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& /*bottom*/,
                   const vector<Blob<Dtype>*>& /*top*/) override {
    Fail("has no data");
  }
};

REGISTER_LAYER_CLASS(StandInData);

namespace {

using Shapes = vector<vector<int>>;

// The batch size in the settings of a layer that reads data; 0 for others.
uint32_t BatchSizeSetting(const LayerParameter& layer) {
  const string& type = layer.type();
  if (type == "Data") return layer.data_param().batch_size();
  if (type == "ImageData") return layer.image_data_param().batch_size();
  if (type == "WindowData") return layer.window_data_param().batch_size();
  if (type == "MemoryData") return layer.memory_data_param().batch_size();
  if (type == "HDF5Data") return layer.hdf5_data_param().batch_size();
  return 0;
}

void SetBatchSizeSetting(uint32_t batch_size, LayerParameter* layer) {
  const string& type = layer->type();
  if (type == "Data") layer->mutable_data_param()->set_batch_size(batch_size);
  if (type == "ImageData") {
    layer->mutable_image_data_param()->set_batch_size(batch_size);
  }
  if (type == "WindowData") {
    layer->mutable_window_data_param()->set_batch_size(batch_size);
  }
  if (type == "MemoryData") {
    layer->mutable_memory_data_param()->set_batch_size(batch_size);
  }
  if (type == "HDF5Data") {
    layer->mutable_hdf5_data_param()->set_batch_size(batch_size);
  }
}

// The shapes of the tops of a layer that is set up for a moment.
Shapes ShapesByTrying(LayerParameter param) {
  param.mutable_transform_param()->clear_mean_file();
  if (param.type() == "HDF5Data") param.clear_transform_param();
  if (param.type() == "Data") param.mutable_data_param()->set_prefetch(1);
  vector<std::unique_ptr<Blob<float>>> blobs;
  vector<Blob<float>*> tops;
  for (int i = 0; i < param.top_size(); ++i) {
    blobs.push_back(std::make_unique<Blob<float>>());
    tops.push_back(blobs.back().get());
  }
  LayerRegistry<float>::CreateLayer(param)->SetUp({}, tops);
  Shapes shapes;
  for (const auto& blob : blobs) shapes.push_back(blob->shape());
  return shapes;
}

int ChannelsOf(const LayerParameter& layer) {
  const TransformationParameter& transform = layer.transform_param();
  if (transform.force_gray()) return 1;
  if (layer.type() == "ImageData" && !layer.image_data_param().is_color()) {
    return 1;
  }
  return transform.mean_value_size() > 0 && !transform.force_color()
             ? transform.mean_value_size()
             : 3;
}

// What a layer would give for one image.
Shapes ShapesOf(const vector<int>& image_shape, LayerParameter layer) {
  SetBatchSizeSetting(1, &layer);
  vector<int> image = image_shape;
  if (image.empty()) {
    try {
      return ShapesByTrying(layer);
    } catch (const Error& error) {
      const int crop = static_cast<int>(layer.transform_param().crop_size());
      Require(crop > 0, "layer '", layer.name(), "': ", error.what(),
              "; without its data, give the shape of one image: "
              "--shape=CHANNELS,HEIGHT,WIDTH");
      image = {ChannelsOf(layer), crop, crop};
    }
  }
  image.insert(image.begin(), 1);
  Shapes shapes(layer.top_size(), {1});
  if (!shapes.empty()) shapes[0] = image;
  return shapes;
}

}  // namespace

void StandInForData(const vector<int>& image_shape, NetParameter* net) {
  for (LayerParameter& layer : *net->mutable_layer()) {
    const uint32_t batch_size = BatchSizeSetting(layer);
    if (batch_size == 0) continue;
    Require(batch_size <= INT_MAX, "layer '", layer.name(),
            "' has a batch_size out of range");
    DummyDataParameter* const dummy = layer.mutable_dummy_data_param();
    for (vector<int> shape : ShapesOf(image_shape, layer)) {
      shape[0] = static_cast<int>(batch_size);
      BlobShape* const extents = dummy->add_shape();
      for (const int extent : shape) extents->add_dim(extent);
    }
    if (layer.type() == "MemoryData")
      layer.mutable_data_param()->set_prefetch(0);
    if (layer.type() == "HDF5Data") layer.mutable_data_param()->set_prefetch(1);
    layer.clear_transform_param();
    layer.set_type("StandInData");
  }
}

void SetTrainingBatchSize(int batch_size, NetParameter* net) {
  const auto set = [batch_size](auto* shapes) {
    for (BlobShape& shape : *shapes) {
      if (shape.dim_size() > 0) shape.set_dim(0, batch_size);
    }
  };
  for (LayerParameter& layer : *net->mutable_layer()) {
    const auto trains = [](const NetStateRule& rule) {
      return !rule.has_phase() || rule.phase() == TRAIN;
    };
    const bool is_trained =
        layer.include_size() == 0 ||
        std::any_of(layer.include().begin(), layer.include().end(), trains);
    if (!is_trained) continue;
    SetBatchSizeSetting(static_cast<uint32_t>(batch_size), &layer);
    set(layer.mutable_dummy_data_param()->mutable_shape());
    set(layer.mutable_input_param()->mutable_shape());
  }
}

int BatchSizeOf(const Net<float>& net) {
  for (size_t i = 0; i < net.layers().size(); ++i) {
    if (!net.bottom_vecs()[i].empty()) continue;
    for (const Blob<float>* top : net.top_vecs()[i]) {
      if (top->num_axes() > 0) return top->shape(0);
    }
  }
  return 0;
}

void SetBatchSize(int batch_size, Net<float>* net) {
  for (size_t i = 0; i < net->layers().size(); ++i) {
    if (!net->bottom_vecs()[i].empty()) continue;
    for (Blob<float>* top : net->top_vecs()[i]) {
      vector<int> shape = top->shape();
      if (shape.empty()) continue;
      shape[0] = batch_size;
      top->Reshape(shape);
    }
  }
  net->Reshape();
}

}  // namespace caffe
