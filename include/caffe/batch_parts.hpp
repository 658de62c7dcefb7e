#ifndef CAFFE_BATCH_PARTS_HPP_
#define CAFFE_BATCH_PARTS_HPP_

#include <map>
#include <memory>
#include <vector>

#include "caffe/blob.hpp"

namespace caffe {

template <typename Dtype>
class Net;

// Layers, from the first to the last, that run over one part of the batch after
// the other instead of over all of it at once, so that what they hand to each
// other takes memory for a part only.
struct Stretch {
  int first = 0;
  int last = -1;
  int parts = 1;
  bool operator==(const Stretch&) const = default;
};

// Stand-ins for the blobs of a stretch: each has the shape of a part, and the
// images of one part at a time. Where their memory is, is the business of
// whoever made the net run in parts.
template <typename Dtype>
class BatchParts {
 public:
  BatchParts(const Net<Dtype>& net, const Stretch& stretch);

  const Stretch& stretch() const { return stretch_; }
  bool Has(int layer) const {
    return layer >= stretch_.first && layer <= stretch_.last;
  }
  // Of a layer of the stretch.
  const vector<Blob<Dtype>*>& bottoms(int layer) const {
    return bottoms_[layer - stretch_.first];
  }
  const vector<Blob<Dtype>*>& tops(int layer) const {
    return tops_[layer - stretch_.first];
  }
  // REQUIRES: a layer of the stretch reads or writes the blob of that index.
  Blob<Dtype>* blob(int id) const { return blobs_.at(id).get(); }
  // All of them, by their index in the net.
  const std::map<int, std::unique_ptr<Blob<Dtype>>>& blobs() const {
    return blobs_;
  }

  // Whether the batch, as it is now, can be divided.
  bool Fits() const;
  // Shapes the stand-ins for what comes from before the stretch.
  void ShapeInputs();
  // Shapes the layer, its parts, and the whole tops as they must be then.
  void ShapeLayer(int layer);

  // Whether the last Forward of these layers was in parts.
  bool has_run() const { return has_run_; }
  void set_has_run(bool has_run) { has_run_ = has_run; }

 private:
  const Net<Dtype>& net_;
  const Stretch stretch_;
  std::map<int, std::unique_ptr<Blob<Dtype>>> blobs_;
  // Blobs that come from before the stretch.
  std::vector<int> inputs_;
  vector<vector<Blob<Dtype>*>> bottoms_;
  vector<vector<Blob<Dtype>*>> tops_;
  bool has_run_ = false;
};

}  // namespace caffe

#endif  // CAFFE_BATCH_PARTS_HPP_
