#ifndef CAFFE_NET_HPP_
#define CAFFE_NET_HPP_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe/batch_parts.hpp"
#include "caffe/blob.hpp"
#include "caffe/common.hpp"
#include "caffe/layer.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

// Layers connected into a directed acyclic graph by the names of their blobs,
// run in the order of the prototxt forward and in reverse backward. A net
// belongs to one thread.
//
// Errors name the net's file (when it was read from one) and the layer.
template <typename Dtype>
class Net {
 public:
  explicit Net(const NetParameter& param);
  // Reads the net from a file, upgrading old formats.
  explicit Net(const string& param_file, Phase phase, const int level = 0,
               const vector<string>* stages = nullptr);
  virtual ~Net() = default;

  void Init(const NetParameter& param);

  // Runs the whole net and returns its output blobs; the weighted loss goes to
  // `loss`.
  const vector<Blob<Dtype>*>& Forward(Dtype* loss = nullptr);
  const vector<Blob<Dtype>*>& ForwardPrefilled(Dtype* loss = nullptr) {
    return Forward(loss);
  }
  // Runs the layers from start to end, both included.
  Dtype ForwardFromTo(int start, int end);
  Dtype ForwardFrom(int start);
  Dtype ForwardTo(int end);
  // Copies the blobs into the net's inputs first. Kept for old sources.
  const vector<Blob<Dtype>*>& Forward(const vector<Blob<Dtype>*>& bottom,
                                      Dtype* loss = nullptr);

  void ClearParamDiffs();

  void Backward();
  // Runs the layers from start down to end, both included.
  void BackwardFromTo(int start, int end);
  void BackwardFrom(int start);
  void BackwardTo(int end);

  // Propagates changed input shapes without computing anything.
  void Reshape();

  Dtype ForwardBackward() {
    Dtype loss;
    Forward(&loss);
    Backward();
    return loss;
  }

  // parameter -= diff, for every parameter.
  void Update();
  // Makes parameters that share an owner use the owner's memory.
  void ShareWeights();
  // Uses the memory of the other net's parameters in layers of the same name.
  void ShareTrainedLayersWith(const Net* other);

  // Copies parameters into layers of the same name. Throws Error, naming file,
  // layer and shapes, when they do not fit.
  void CopyTrainedLayersFrom(const NetParameter& param);
  void CopyTrainedLayersFrom(const string& trained_filename);
  void CopyTrainedLayersFromBinaryProto(const string& trained_filename);
  void CopyTrainedLayersFromHDF5(const string& trained_filename);

  void ToProto(NetParameter* param, bool write_diff = false) const;
  // Written beside and renamed: the file is whole or not there.
  void ToHDF5(const string& filename, bool write_diff = false) const;

  const string& name() const { return name_; }
  const vector<string>& layer_names() const { return layer_names_; }
  const vector<string>& blob_names() const { return blob_names_; }
  const vector<shared_ptr<Blob<Dtype>>>& blobs() const { return blobs_; }
  const vector<shared_ptr<Layer<Dtype>>>& layers() const { return layers_; }
  Phase phase() const { return phase_; }
  const vector<vector<Blob<Dtype>*>>& bottom_vecs() const {
    return bottom_vecs_;
  }
  const vector<vector<Blob<Dtype>*>>& top_vecs() const { return top_vecs_; }
  // Indices into blobs() of the tops and bottoms of layer i.
  const vector<int>& top_ids(int i) const;
  const vector<int>& bottom_ids(int i) const;
  const vector<vector<bool>>& bottom_need_backward() const {
    return bottom_need_backward_;
  }
  const vector<Dtype>& blob_loss_weights() const { return blob_loss_weights_; }
  const vector<bool>& layer_need_backward() const {
    return layer_need_backward_;
  }

  // Every parameter of every layer; those with an owner share its memory.
  const vector<shared_ptr<Blob<Dtype>>>& params() const { return params_; }
  // Only the owners: what a solver updates.
  const vector<Blob<Dtype>*>& learnable_params() const {
    return learnable_params_;
  }
  const vector<float>& params_lr() const { return params_lr_; }
  const vector<bool>& has_params_lr() const { return has_params_lr_; }
  const vector<float>& params_weight_decay() const {
    return params_weight_decay_;
  }
  const vector<bool>& has_params_decay() const { return has_params_decay_; }
  const map<string, int>& param_names_index() const {
    return param_names_index_;
  }
  // Index of the owning parameter, or -1 for an owner.
  const vector<int>& param_owners() const { return param_owners_; }
  const vector<string>& param_display_names() const {
    return param_display_names_;
  }

  int num_inputs() const { return static_cast<int>(net_input_blobs_.size()); }
  int num_outputs() const { return static_cast<int>(net_output_blobs_.size()); }
  const vector<Blob<Dtype>*>& input_blobs() const { return net_input_blobs_; }
  const vector<Blob<Dtype>*>& output_blobs() const { return net_output_blobs_; }
  const vector<int>& input_blob_indices() const {
    return net_input_blob_indices_;
  }
  const vector<int>& output_blob_indices() const {
    return net_output_blob_indices_;
  }
  bool has_blob(const string& blob_name) const;
  // Null, with a warning, when there is none of that name.
  const shared_ptr<Blob<Dtype>> blob_by_name(const string& blob_name) const;
  bool has_layer(const string& layer_name) const;
  const shared_ptr<Layer<Dtype>> layer_by_name(const string& layer_name) const;

  // Logs mean absolute values of every blob as it is computed.
  void set_debug_info(const bool value) { debug_info_ = value; }
  bool debug_info() const { return debug_info_; }

  // Leaves out the layers whose rules exclude the net's state.
  static void FilterNet(const NetParameter& param,
                        NetParameter* param_filtered);
  static bool StateMeetsRule(const NetState& state, const NetStateRule& rule,
                             const string& layer_name);

  // Called around every layer, with the layer's index.
  class Callback {
   public:
    virtual ~Callback() = default;

   protected:
    virtual void run(int layer) = 0;
    // Whether it knows that layers may work on parts of the batch, and is to be
    // called for every part. As long as there is one that does not, none do.
    virtual bool sees_parts() const { return false; }

    template <typename T>
    friend class Net;
  };
  const vector<Callback*>& before_forward() const { return before_forward_; }
  void add_before_forward(Callback* value) { before_forward_.push_back(value); }
  const vector<Callback*>& after_forward() const { return after_forward_; }
  void add_after_forward(Callback* value) { after_forward_.push_back(value); }
  const vector<Callback*>& before_backward() const { return before_backward_; }
  void add_before_backward(Callback* value) {
    before_backward_.push_back(value);
  }
  const vector<Callback*>& after_backward() const { return after_backward_; }
  void add_after_backward(Callback* value) { after_backward_.push_back(value); }

  // Runs these layers in parts from now on, wherever a pass includes them all.
  // Whoever asks for it gives the stand-ins their memory, in callbacks.
  // REQUIRES: the layers work on every image by itself, and none is a loss.
  void RunInParts(const vector<Stretch>& stretches);
  // The stretch that is running in parts now, and the part it is at; nullptr
  // while layers work on the whole batch.
  const BatchParts<Dtype>* parts() const { return running_; }
  int part() const { return part_; }
  // Whether a layer is done with the batch after this part.
  bool is_at_last_part() const {
    return running_ == nullptr || part_ + 1 == running_->stretch().parts;
  }
  // What layer i works on now: its blobs, or their stand-ins.
  const vector<Blob<Dtype>*>& working_bottoms(int i) const {
    return running_ != nullptr ? running_->bottoms(i) : bottom_vecs_[i];
  }
  const vector<Blob<Dtype>*>& working_tops(int i) const {
    return running_ != nullptr ? running_->tops(i) : top_vecs_[i];
  }

  const MemoryParameter& memory_param() const { return memory_param_; }

  // Makes what a callback refers to live as long as the net.
  void KeepAlive(const shared_ptr<void>& companion) {
    companions_.push_back(companion);
  }

  // What the layers keep between iterations besides their blobs; for exact
  // resumes.
  void SaveState(NetResumeState* state) const;
  void RestoreState(const NetResumeState& state);

 protected:
  // The steps of Init. Blobs that no layer has read yet are available; those
  // left over at the end are the net's outputs.
  void AppendTop(const NetParameter& param, const int layer_id,
                 const int top_id, set<string>* available_blobs,
                 map<string, int>* blob_name_to_idx);
  int AppendBottom(const NetParameter& param, const int layer_id,
                   const int bottom_id, set<string>* available_blobs,
                   map<string, int>* blob_name_to_idx);
  void AppendParam(const NetParameter& param, const int layer_id,
                   const int param_id);
  void AppendLayer(const NetParameter& param, const int layer_id,
                   set<string>* available_blobs,
                   map<string, int>* blob_name_to_idx);
  void AppendTops(const NetParameter& param, const int layer_id,
                  set<string>* available_blobs,
                  map<string, int>* blob_name_to_idx);
  // Notes and logs what setting the layer up made of its tops.
  void RecordTops(const int layer_id);
  // Returns whether the layer has parameters that learn.
  bool AppendParams(const NetParameter& param, const int layer_id);
  void ShareParam(const ParamSpec& spec, const int net_param_id,
                  const int owner_id);
  // Turns off backward where no loss comes back, or where nobody wants it.
  void PruneBackward();
  void ForceBackward();
  void IndexNames();
  // On what the layer works on now.
  Dtype ForwardLayer(int i);
  void BackwardLayer(int i);
  // The stretch that layer i belongs to, or nullptr.
  BatchParts<Dtype>* StretchOf(int i) const;
  bool CanRunInParts() const;
  void ForwardInParts(BatchParts<Dtype>* parts);
  void BackwardInParts(BatchParts<Dtype>* parts);
  // Does the work for every part.
  template <typename Work>
  void ForEachPart(BatchParts<Dtype>* parts, const Work& work);
  // Tells reports what the memory of activations and parameters is for.
  void LabelMemory();

  // The layer that takes the weights of a layer of that name elsewhere; null
  // when there is none.
  Layer<Dtype>* WeightsTarget(const string& source_layer) const;

  void BackwardDebugInfo(const int layer_id);
  void ForwardDebugInfo(const int layer_id);
  void UpdateDebugInfo(const int param_id);
  void FinalBackwardDebugInfo() const;

  string name_;
  Phase phase_ = TRAIN;
  vector<shared_ptr<Layer<Dtype>>> layers_;
  vector<string> layer_names_;
  map<string, int> layer_names_index_;
  vector<bool> layer_need_backward_;
  vector<shared_ptr<Blob<Dtype>>> blobs_;
  vector<string> blob_names_;
  map<string, int> blob_names_index_;
  vector<bool> blob_need_backward_;
  vector<vector<Blob<Dtype>*>> bottom_vecs_;
  vector<vector<int>> bottom_id_vecs_;
  vector<vector<bool>> bottom_need_backward_;
  vector<vector<Blob<Dtype>*>> top_vecs_;
  vector<vector<int>> top_id_vecs_;
  vector<Dtype> blob_loss_weights_;
  vector<vector<int>> param_id_vecs_;
  vector<int> param_owners_;
  vector<string> param_display_names_;
  vector<pair<int, int>> param_layer_indices_;
  map<string, int> param_names_index_;
  vector<int> net_input_blob_indices_;
  vector<int> net_output_blob_indices_;
  vector<Blob<Dtype>*> net_input_blobs_;
  vector<Blob<Dtype>*> net_output_blobs_;
  vector<shared_ptr<Blob<Dtype>>> params_;
  vector<Blob<Dtype>*> learnable_params_;
  // For every parameter, the index of its owner among the learnable ones.
  vector<int> learnable_param_ids_;
  vector<float> params_lr_;
  vector<bool> has_params_lr_;
  vector<float> params_weight_decay_;
  vector<bool> has_params_decay_;
  MemoryParameter memory_param_;
  // Bytes of all tops.
  size_t memory_used_ = 0;
  bool debug_info_ = false;
  vector<Callback*> before_forward_;
  vector<Callback*> after_forward_;
  vector<Callback*> before_backward_;
  vector<Callback*> after_backward_;
  vector<std::unique_ptr<BatchParts<Dtype>>> stretches_;
  BatchParts<Dtype>* running_ = nullptr;
  int part_ = 0;
  vector<shared_ptr<void>> companions_;

  DISABLE_COPY_AND_ASSIGN(Net);
};

}  // namespace caffe

#endif  // CAFFE_NET_HPP_
