#include "caffe/layers/hdf5_output_layer.hpp"

#include "util/hdf5_file.hpp"

namespace caffe {

template <typename Dtype>
HDF5OutputLayer<Dtype>::HDF5OutputLayer(const LayerParameter& param)
    : Layer<Dtype>(param), file_name_(param.hdf5_output_param().file_name()) {}

template <typename Dtype>
HDF5OutputLayer<Dtype>::~HDF5OutputLayer() {
  if (data_.values.size() == saved_values_) return;
  try {
    HDF5OutputLayer<Dtype>::SaveBlobs();
  } catch (const Error& error) {
    LOG(ERROR) << error.what();
  }
}

template <typename Dtype>
void HDF5OutputLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                        const vector<Blob<Dtype>*>& /*top*/) {
  Require(!file_name_.empty(), "hdf5_output_param has no file_name");
  // Where the file cannot be written, nobody wants to find out hours later.
  Hdf5Output(file_name_).Commit();
}

template <typename Dtype>
vector<int> HDF5OutputLayer<Dtype>::ShapeWith(const Blob<Dtype>& bottom,
                                              const Rows& rows) const {
  vector<int> shape = {bottom.num(), bottom.channels(), bottom.height(),
                       bottom.width()};
  if (rows.shape.empty()) return shape;
  Require(std::equal(shape.begin() + 1, shape.end(), rows.shape.begin() + 1),
          "cannot add rows of shape ", bottom.shape_string(), " to ",
          file_name_, ", which has others");
  shape[0] += rows.shape[0];
  return shape;
}

template <typename Dtype>
void HDF5OutputLayer<Dtype>::SaveBlobs() {
  Hdf5Output file(file_name_);
  const auto save = [&](const char* name, Rows* rows) {
    Blob<Dtype> blob(rows->shape);
    if (blob.count() > 0) blob.set_cpu_data(rows->values.data());
    hdf5_save_nd_dataset(file.root().id(), name, blob);
  };
  save(HDF5_DATA_DATASET_NAME, &data_);
  save(HDF5_DATA_LABEL_NAME, &labels_);
  file.Commit();
  saved_values_ = data_.values.size();
  LOG(INFO) << "Saved " << data_.shape[0] << " rows to " << file_name_;
}

template <typename Dtype>
void HDF5OutputLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                                         const vector<Blob<Dtype>*>& /*top*/) {
  Require(bottom[0]->num() == bottom[1]->num(), "has ", bottom[0]->num(),
          " rows of data and ", bottom[1]->num(), " labels");
  // Both or none.
  const vector<int> data_shape = ShapeWith(*bottom[0], data_);
  const vector<int> label_shape = ShapeWith(*bottom[1], labels_);
  const auto append = [](const Blob<Dtype>& from, const vector<int>& shape,
                         Rows* to) {
    to->shape = shape;
    to->values.insert(to->values.end(), from.cpu_data(),
                      from.cpu_data() + from.count());
  };
  append(*bottom[0], data_shape, &data_);
  append(*bottom[1], label_shape, &labels_);
  if (data_.values.size() >= 2 * saved_values_) SaveBlobs();
}

template <typename Dtype>
void HDF5OutputLayer<Dtype>::Backward_cpu(const vector<Blob<Dtype>*>& /*top*/,
                                          const vector<bool>& propagate_down,
                                          const vector<Blob<Dtype>*>& bottom) {
  for (size_t i = 0; i < bottom.size(); ++i) {
    if (!propagate_down[i]) continue;
    caffe_set(bottom[i]->count(), Dtype(0), bottom[i]->mutable_cpu_diff());
  }
}

INSTANTIATE_CLASS(HDF5OutputLayer);
REGISTER_LAYER_CLASS(HDF5Output);

}  // namespace caffe
