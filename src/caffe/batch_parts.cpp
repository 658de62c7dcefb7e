#include "caffe/batch_parts.hpp"

#include <algorithm>

#include "caffe/net.hpp"

namespace caffe {

template <typename Dtype>
BatchParts<Dtype>::BatchParts(const Net<Dtype>& net, const Stretch& stretch)
    : net_(net), stretch_(stretch) {
  const auto stand_in = [&](int id) {
    std::unique_ptr<Blob<Dtype>>& blob = blobs_[id];
    if (blob == nullptr) blob = std::make_unique<Blob<Dtype>>();
    return blob.get();
  };
  for (int layer = stretch.first; layer <= stretch.last; ++layer) {
    vector<Blob<Dtype>*>& bottoms = bottoms_.emplace_back();
    for (const int id : net.bottom_ids(layer)) {
      if (blobs_.count(id) == 0) inputs_.push_back(id);
      bottoms.push_back(stand_in(id));
    }
    vector<Blob<Dtype>*>& tops = tops_.emplace_back();
    for (const int id : net.top_ids(layer)) tops.push_back(stand_in(id));
  }
}

template <typename Dtype>
bool BatchParts<Dtype>::Fits() const {
  return std::all_of(inputs_.begin(), inputs_.end(), [&](int id) {
    const Blob<Dtype>& whole = *net_.blobs()[id];
    return whole.num_axes() > 0 && whole.shape(0) > 0 &&
           whole.shape(0) % stretch_.parts == 0;
  });
}

template <typename Dtype>
void BatchParts<Dtype>::ShapeInputs() {
  for (const int id : inputs_) {
    vector<int> shape = net_.blobs()[id]->shape();
    shape[0] /= stretch_.parts;
    blob(id)->Reshape(shape);
    // What shares memory does so in part, too.
    for (const int other : inputs_) {
      if (other == id) break;
      if (net_.blobs()[other]->data() == net_.blobs()[id]->data()) {
        blob(id)->ShareData(*blob(other));
      }
    }
  }
}

template <typename Dtype>
void BatchParts<Dtype>::ShapeLayer(int layer) {
  net_.layers()[layer]->Reshape(bottoms(layer), tops(layer));
  const vector<int>& ids = net_.top_ids(layer);
  for (size_t k = 0; k < ids.size(); ++k) {
    vector<int> shape = tops(layer)[k]->shape();
    shape[0] *= stretch_.parts;
    net_.blobs()[ids[k]]->Reshape(shape);
  }
}

INSTANTIATE_CLASS(BatchParts);

}  // namespace caffe
