#include "caffe/layers/dummy_data_layer.hpp"

#include <algorithm>
#include <vector>

namespace caffe {

namespace {

// The i-th of values that are given once for all tops or once for each.
template <typename Values>
auto OneOrEach(const Values& values, int i) {
  return values.Get(values.size() == 1 ? 0 : i);
}

void RequireOneOrEach(const char* field, int size, int num_top) {
  Require(size == 1 || size == num_top, "dummy_data_param has ", size, " ",
          field, " for ", num_top,
          " tops; give one for all or one for each top");
}

}  // namespace

template <typename Dtype>
void DummyDataLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                                       const vector<Blob<Dtype>*>& top) {
  ShapeTops(top);
  MakeFillers(static_cast<int>(top.size()));
  for (size_t i = 0; i < top.size(); ++i) {
    Require(top[i]->count() > 0, "dummy_data_param gives top ", i,
            " the shape ", top[i]->shape_string(), ", which holds no values");
  }
  batch_size_ = top[0]->num_axes() > 0 ? top[0]->shape(0) : 0;
  Fill(/*refilled=*/false, top);
}

template <typename Dtype>
void DummyDataLayer<Dtype>::SetBatchSize(int batch_size,
                                         const vector<Blob<Dtype>*>& top) {
  Require(batch_size_ > 0 && batch_size > 0, "cannot change its batch size");
  vector<Blob<Dtype>*> changing;
  for (Blob<Dtype>* const blob : top) {
    if (blob->num_axes() > 0 && blob->shape(0) == batch_size_) {
      changing.push_back(blob);
    }
  }
  batch_size_ = batch_size;
  BatchSource<Dtype>::ReshapeTops(batch_size, changing);
  Fill(/*refilled=*/false, top);
}

template <typename Dtype>
void DummyDataLayer<Dtype>::ShapeTops(const vector<Blob<Dtype>*>& top) {
  const DummyDataParameter& param = this->layer_param_.dummy_data_param();
  const int num_top = static_cast<int>(top.size());
  const bool legacy = param.num_size() > 0 || param.channels_size() > 0 ||
                      param.height_size() > 0 || param.width_size() > 0;
  if (!legacy) {
    RequireOneOrEach("shapes", param.shape_size(), num_top);
    for (int i = 0; i < num_top; ++i) {
      top[i]->Reshape(OneOrEach(param.shape(), i));
    }
    return;
  }
  Require(param.shape_size() == 0,
          "dummy_data_param gives both shape and num, channels, height or "
          "width; give one of them");
  RequireOneOrEach("nums", param.num_size(), num_top);
  RequireOneOrEach("channels", param.channels_size(), num_top);
  RequireOneOrEach("heights", param.height_size(), num_top);
  RequireOneOrEach("widths", param.width_size(), num_top);
  for (int i = 0; i < num_top; ++i) {
    top[i]->Reshape(OneOrEach(param.num(), i), OneOrEach(param.channels(), i),
                    OneOrEach(param.height(), i), OneOrEach(param.width(), i));
  }
}

template <typename Dtype>
void DummyDataLayer<Dtype>::MakeFillers(int num_top) {
  const DummyDataParameter& param = this->layer_param_.dummy_data_param();
  const int num_fillers = param.data_filler_size();
  Require(num_fillers == 0 || num_fillers == 1 || num_fillers == num_top,
          "dummy_data_param has ", num_fillers, " data_fillers for ", num_top,
          " tops; give none, one for all, or one for each top");
  fillers_.clear();
  refill_.clear();
  const auto add = [this](const FillerParameter& filler) {
    fillers_.emplace_back(GetFiller<Dtype>(filler));
    refill_.push_back(filler.type() != "constant");
  };
  // The default filler parameter is the constant zero.
  if (num_fillers == 0) add(FillerParameter());
  for (const FillerParameter& filler : param.data_filler()) add(filler);
}

template <typename Dtype>
BackwardReads DummyDataLayer<Dtype>::backward_reads() const {
  const bool refills_all =
      std::find(refill_.begin(), refill_.end(), false) == refill_.end();
  return refills_all ? BackwardReads::Nothing() : BackwardReads();
}

template <typename Dtype>
void DummyDataLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& /*bottom*/,
                                        const vector<Blob<Dtype>*>& top) {
  Fill(/*refilled=*/true, top);
}

template <typename Dtype>
void DummyDataLayer<Dtype>::Fill(bool refilled,
                                 const vector<Blob<Dtype>*>& top) {
  for (size_t i = 0; i < top.size(); ++i) {
    const size_t f = fillers_.size() == 1 ? 0 : i;
    if (refill_[f] == refilled) fillers_[f]->Fill(top[i]);
  }
}

INSTANTIATE_CLASS(DummyDataLayer);
REGISTER_LAYER_CLASS(DummyData);

}  // namespace caffe
