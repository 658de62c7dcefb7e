#ifndef CAFFE_LAYER_H_
#define CAFFE_LAYER_H_

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "caffe/backward_reads.hpp"
#include "caffe/blob.hpp"
#include "caffe/common.hpp"
#include "caffe/layer_factory.hpp"
#include "caffe/proto/caffe.pb.h"
#include "caffe/util/math_functions.hpp"

namespace caffe {

// One node of a net: computes its tops from its bottoms and its parameters
// (Forward), and the gradients of both from the gradients of its tops
// (Backward). A subclass implements LayerSetUp, Reshape, Forward_cpu and
// Backward_cpu. A layer belongs to one net and one thread.
//
// LayerSetUp and Reshape throw Error when bottoms or settings do not fit; the
// net puts the layer's name in front.
template <typename Dtype>
class Layer {
 public:
  explicit Layer(const LayerParameter& param);
  virtual ~Layer() = default;

  // Checks the numbers of bottoms and tops, then calls LayerSetUp, Reshape and
  // sets up the loss weights.
  void SetUp(const vector<Blob<Dtype>*>& bottom,
             const vector<Blob<Dtype>*>& top);

  // Done once, before the first Reshape: reads the settings, makes parameters.
  virtual void LayerSetUp(const vector<Blob<Dtype>*>& /*bottom*/,
                          const vector<Blob<Dtype>*>& /*top*/) {}

  // Shapes the tops, and whatever else depends on the shapes of the bottoms.
  virtual void Reshape(const vector<Blob<Dtype>*>& bottom,
                       const vector<Blob<Dtype>*>& top) = 0;

  // Reshapes, computes the tops, and returns their weighted loss.
  Dtype Forward(const vector<Blob<Dtype>*>& bottom,
                const vector<Blob<Dtype>*>& top);

  // Computes the diffs of those bottoms for which propagate_down is set, and
  // adds to the diffs of the parameters.
  void Backward(const vector<Blob<Dtype>*>& top,
                const vector<bool>& propagate_down,
                const vector<Blob<Dtype>*>& bottom);

  vector<shared_ptr<Blob<Dtype>>>& blobs() { return blobs_; }
  const LayerParameter& layer_param() const { return layer_param_; }
  virtual void ToProto(LayerParameter* param, bool write_diff = false);

  Dtype loss(const int top_index) const;
  void set_loss(const int top_index, const Dtype value);

  virtual const char* type() const { return ""; }

  // How many bottoms and tops the layer takes; -1 means any number.
  virtual int ExactNumBottomBlobs() const { return -1; }
  virtual int MinBottomBlobs() const { return -1; }
  virtual int MaxBottomBlobs() const { return -1; }
  virtual int ExactNumTopBlobs() const { return -1; }
  virtual int MinTopBlobs() const { return -1; }
  virtual int MaxTopBlobs() const { return -1; }
  virtual bool EqualNumBottomTopBlobs() const { return false; }
  // Whether the net makes up tops that the prototxt does not name.
  virtual bool AutoTopBlobs() const { return false; }

  // Whether force_backward makes sense for that bottom (not for labels).
  virtual bool AllowForceBackward(const int /*bottom_index*/) const {
    return true;
  }

  // What Backward reads of what Forward left; asked after Reshape and after
  // Forward. Overriding it lets the net drop or compress the rest.
  virtual BackwardReads backward_reads() const { return BackwardReads(); }

  // Whether Forward and Backward over some of the images (along the first axis)
  // after the other, with the same settings, do what they do over all at once.
  // Between the two such a layer keeps nothing that backward_reads() does not
  // list.
  virtual bool works_per_image() const { return false; }

  // The same for layers that do so once they know sums over the whole batch.
  // StartForward makes those of Forward from the whole bottoms; Forward then
  // runs over the parts. Backward needs two rounds over the parts: one of
  // GatherBackward, which StartBackward begins, then one of Backward. EndParts
  // comes after either, and after errors.
  virtual bool gathers_first() const { return false; }
  virtual void StartForward(const vector<Blob<Dtype>*>& /*bottom*/) {}
  virtual void StartBackward() {}
  virtual void GatherBackward(const vector<Blob<Dtype>*>& /*top*/,
                              const vector<Blob<Dtype>*>& /*bottom*/) {}
  virtual void EndParts() {}

  // Whether AddRowGradients can give the gradient of a parameter for some of
  // its rows, along the first axis, at a time. Then Backward must leave it out
  // while leaves_to_rows() says so.
  virtual bool has_row_gradients(const int /*param_id*/) const { return false; }
  // Adds the gradient of `rows` rows of a parameter, from `first` on, to
  // `diff`, which is that of these rows only. Called after Backward, with its
  // blobs.
  virtual void AddRowGradients(const int /*param_id*/,
                               const vector<Blob<Dtype>*>& /*top*/,
                               const vector<Blob<Dtype>*>& /*bottom*/,
                               int /*first*/, int /*rows*/, Dtype* /*diff*/) {}
  // Whether Backward is to leave the gradient of a parameter to
  // AddRowGradients.
  bool leaves_to_rows(const int param_id) const {
    return param_id < static_cast<int>(left_to_rows_.size()) &&
           left_to_rows_[param_id];
  }
  void set_leaves_to_rows(const int param_id, const bool value);

  bool param_propagate_down(const int param_id) const {
    return param_id < static_cast<int>(param_propagate_down_.size()) &&
           param_propagate_down_[param_id];
  }
  void set_param_propagate_down(const int param_id, const bool value);

  // Position and random state between two iterations, for exact resumes, in a
  // form only this layer knows; empty when there is nothing to keep. What the
  // thread's own generator and blobs() hold is kept by others.
  virtual string SaveState() const { return string(); }
  // Throws Error when the state is not one that SaveState gave for this layer.
  virtual void RestoreState(const string& /*state*/) {}

 protected:
  LayerParameter layer_param_;
  Phase phase_;
  vector<shared_ptr<Blob<Dtype>>> blobs_;
  vector<bool> param_propagate_down_;
  // Weight of each top in the objective; zero for most.
  vector<Dtype> loss_;

  virtual void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                           const vector<Blob<Dtype>*>& top) = 0;
  virtual void Forward_gpu(const vector<Blob<Dtype>*>& bottom,
                           const vector<Blob<Dtype>*>& top) {
    Forward_cpu(bottom, top);
  }
  virtual void Backward_cpu(const vector<Blob<Dtype>*>& top,
                            const vector<bool>& propagate_down,
                            const vector<Blob<Dtype>*>& bottom) = 0;
  virtual void Backward_gpu(const vector<Blob<Dtype>*>& top,
                            const vector<bool>& propagate_down,
                            const vector<Blob<Dtype>*>& bottom) {
    Backward_cpu(top, propagate_down, bottom);
  }

  virtual void CheckBlobCounts(const vector<Blob<Dtype>*>& bottom,
                               const vector<Blob<Dtype>*>& top);

  // Fills the diffs of tops that count as loss with their weights, so that
  // Backward starts from them.
  void SetLossWeights(const vector<Blob<Dtype>*>& top);

 private:
  // The same again for tops that have another size, or memory, since.
  void RefreshLossWeights(const vector<Blob<Dtype>*>& top);
  void FillWithLossWeight(int index, Blob<Dtype>* top);

  // What has been filled with loss weights, and with how many; empty for other
  // tops.
  struct Weighted {
    boost::weak_ptr<SyncedMemory> diff;
    int count = 0;
  };
  vector<Weighted> weighted_;
  vector<bool> left_to_rows_;

  DISABLE_COPY_AND_ASSIGN(Layer);
};

}  // namespace caffe

#endif  // CAFFE_LAYER_H_
