#include "caffe/layers/recurrent_layer.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace caffe {

// The net of all steps, which can leave out gradients of its inputs.
template <typename Dtype>
class RecurrentLayer<Dtype>::Unrolled : public Net<Dtype> {
 public:
  explicit Unrolled(const NetParameter& param)
      : Net<Dtype>(param), can_propagate_(this->bottom_need_backward_) {}

  void WantGradient(const Blob<Dtype>* input, bool wanted) {
    for (size_t i = 0; i < this->bottom_vecs_.size(); ++i) {
      for (size_t k = 0; k < this->bottom_vecs_[i].size(); ++k) {
        if (this->bottom_vecs_[i][k] != input) continue;
        this->bottom_need_backward_[i][k] = wanted && can_propagate_[i][k];
      }
    }
  }

 private:
  const vector<vector<bool>> can_propagate_;
};

template <typename Dtype>
int RecurrentLayer<Dtype>::MinBottomBlobs() const {
  vector<string> states;
  if (this->layer_param_.recurrent_param().expose_hidden()) {
    RecurrentInputBlobNames(&states);
  }
  return 2 + static_cast<int>(states.size());
}

template <typename Dtype>
int RecurrentLayer<Dtype>::ExactNumTopBlobs() const {
  vector<string> tops;
  if (this->layer_param_.recurrent_param().expose_hidden()) {
    RecurrentOutputBlobNames(&tops);
  }
  return 1 + static_cast<int>(tops.size());
}

template <typename Dtype>
void RecurrentLayer<Dtype>::CheckBottoms(
    const vector<Blob<Dtype>*>& bottom) const {
  Require(bottom[0]->num_axes() >= 2,
          "takes inputs of at least 2 axes (time steps, streams), not ",
          bottom[0]->shape_string());
  Require(bottom[0]->shape(0) > 0, "takes at least one time step");
  const vector<int> steps = {bottom[0]->shape(0), bottom[0]->shape(1)};
  Require(bottom[1]->shape() == steps, "needs ", steps[0], " x ", steps[1],
          " indicators (time steps, streams), not ", bottom[1]->shape_string());
  if (!static_input_) return;
  Require(bottom[2]->num_axes() >= 1 && bottom[2]->shape(0) == steps[1],
          "needs a static input for each of the ", steps[1],
          " streams, not one of shape ", bottom[2]->shape_string());
}

template <typename Dtype>
void RecurrentLayer<Dtype>::LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                                       const vector<Blob<Dtype>*>& /*top*/) {
  static_input_ = static_cast<int>(bottom.size()) > MinBottomBlobs();
  CheckBottoms(bottom);
  T_ = bottom[0]->shape(0);
  N_ = bottom[0]->shape(1);
  expose_hidden_ = this->layer_param_.recurrent_param().expose_hidden();
  vector<string> outputs;
  OutputBlobNames(&outputs);
  vector<string> ends = outputs;
  if (expose_hidden_) {
    vector<string> states;
    RecurrentOutputBlobNames(&states);
    ends.insert(ends.end(), states.begin(), states.end());
  }
  unrolled_net_ =
      boost::make_shared<Unrolled>(UnrolledNetParameter(bottom, ends));
  unrolled_net_->set_debug_info(
      this->layer_param_.recurrent_param().debug_info());
  last_layer_index_ =
      static_cast<int>(unrolled_net_->layers().size() - ends.size()) - 1;
  FindBlobs(outputs);
  TakeParameters();
}

template <typename Dtype>
NetParameter RecurrentLayer<Dtype>::UnrolledNetParameter(
    const vector<Blob<Dtype>*>& bottom, const vector<string>& ends) const {
  NetParameter net;
  net.mutable_state()->set_phase(this->phase_);
  // Inputs have gradients only where layers ask for them; states always.
  net.set_force_backward(expose_hidden_);
  LayerParameter* const input = net.add_layer();
  input->set_name("input");
  input->set_type("Input");
  const auto add_input = [&](const char* name, const Blob<Dtype>& like) {
    input->add_top(name);
    BlobShape* const shape = input->mutable_input_param()->add_shape();
    for (const int extent : like.shape()) shape->add_dim(extent);
  };
  add_input("x", *bottom[0]);
  add_input("cont", *bottom[1]);
  if (static_input_) add_input("x_static", *bottom[2]);
  FillUnrolledNet(&net);
  const string& name = this->layer_param_.name();
  if (!name.empty()) {
    for (LayerParameter& layer : *net.mutable_layer()) {
      layer.set_name(name + "_" + layer.name());
    }
  }
  // Never run: they stand for the layers above, without which there would be
  // no gradients.
  for (const string& end : ends) {
    LayerParameter* const loss = net.add_layer();
    loss->set_name(end + "_pseudoloss");
    loss->set_type("Reduction");
    loss->add_bottom(end);
    loss->add_top(end + "_pseudoloss");
    loss->add_loss_weight(1);
  }
  return net;
}

template <typename Dtype>
void RecurrentLayer<Dtype>::FindBlobs(const vector<string>& outputs) {
  const auto find = [this](const string& name) {
    Require(unrolled_net_->has_blob(name), "its net has no blob ", name);
    return unrolled_net_->blob_by_name(name).get();
  };
  x_input_blob_ = find("x");
  cont_input_blob_ = find("cont");
  x_static_input_blob_ = static_input_ ? find("x_static") : nullptr;
  vector<string> names;
  RecurrentInputBlobNames(&names);
  recur_input_blobs_.clear();
  for (const string& name : names) recur_input_blobs_.push_back(find(name));
  const int inputs =
      static_cast<int>(2 + names.size()) + (static_input_ ? 1 : 0);
  Require(unrolled_net_->num_inputs() == inputs, "its net has ",
          unrolled_net_->num_inputs(), " inputs instead of ", inputs);

  // What the layers above read, which has gradients of its own even where the
  // next step reads the same.
  int end = last_layer_index_;
  const auto next_end = [&] { return unrolled_net_->bottom_vecs()[++end][0]; };
  output_blobs_.clear();
  recur_output_blobs_.clear();
  for (size_t i = 0; i < outputs.size(); ++i) {
    output_blobs_.push_back(next_end());
  }
  names.clear();
  RecurrentOutputBlobNames(&names);
  for (const string& name : names) {
    recur_output_blobs_.push_back(expose_hidden_ ? next_end() : find(name));
  }
  Require(recur_input_blobs_.size() == recur_output_blobs_.size(),
          "its steps read ", recur_input_blobs_.size(), " states and leave ",
          recur_output_blobs_.size());
}

template <typename Dtype>
void RecurrentLayer<Dtype>::TakeParameters() {
  const vector<shared_ptr<Blob<Dtype>>> given = std::move(this->blobs_);
  this->blobs_.clear();
  for (size_t i = 0; i < unrolled_net_->params().size(); ++i) {
    if (unrolled_net_->param_owners()[i] >= 0) continue;
    this->blobs_.push_back(unrolled_net_->params()[i]);
  }
  this->param_propagate_down_.assign(this->blobs_.size(), true);
  if (given.empty()) return;
  Require(given.size() == this->blobs_.size(), "takes ", this->blobs_.size(),
          " parameter blob(s), not ", given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    Require(given[i]->shape() == this->blobs_[i]->shape(), "its parameter ", i,
            " must have the shape ", this->blobs_[i]->shape_string(), ", not ",
            given[i]->shape_string());
    this->blobs_[i]->CopyFrom(*given[i]);
  }
}

template <typename Dtype>
vector<Blob<Dtype>*> RecurrentLayer<Dtype>::Inputs() const {
  vector<Blob<Dtype>*> inputs = {x_input_blob_, cont_input_blob_};
  if (static_input_) inputs.push_back(x_static_input_blob_);
  if (expose_hidden_) {
    inputs.insert(inputs.end(), recur_input_blobs_.begin(),
                  recur_input_blobs_.end());
  }
  return inputs;
}

template <typename Dtype>
vector<Blob<Dtype>*> RecurrentLayer<Dtype>::Outputs() const {
  vector<Blob<Dtype>*> outputs = output_blobs_;
  if (expose_hidden_) {
    outputs.insert(outputs.end(), recur_output_blobs_.begin(),
                   recur_output_blobs_.end());
  }
  return outputs;
}

template <typename Dtype>
void RecurrentLayer<Dtype>::Reshape(const vector<Blob<Dtype>*>& bottom,
                                    const vector<Blob<Dtype>*>& top) {
  CheckBottoms(bottom);
  Require(bottom[0]->shape(0) == T_, "was set up for ", T_,
          " time steps, not for inputs of shape ", bottom[0]->shape_string());
  N_ = bottom[0]->shape(1);
  vector<BlobShape> shapes;
  RecurrentInputShapes(&shapes);
  for (size_t i = 0; i < recur_input_blobs_.size(); ++i) {
    recur_input_blobs_[i]->Reshape(shapes[i]);
  }
  x_input_blob_->ReshapeLike(*bottom[0]);
  cont_input_blob_->ReshapeLike(*bottom[1]);
  if (static_input_) x_static_input_blob_->ReshapeLike(*bottom[2]);
  const vector<Blob<Dtype>*> inputs = Inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    Require(inputs[i]->shape() == bottom[i]->shape(), "needs a state of shape ",
            inputs[i]->shape_string(), ", not ", bottom[i]->shape_string());
    inputs[i]->ShareData(*bottom[i]);
    inputs[i]->ShareDiff(*bottom[i]);
  }
  unrolled_net_->Reshape();
  const vector<Blob<Dtype>*> outputs = Outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    top[i]->ReshapeLike(*outputs[i]);
    top[i]->ShareData(*outputs[i]);
    top[i]->ShareDiff(*outputs[i]);
  }
  ReshapeStates();
  PassOnWhatLearns();
}

template <typename Dtype>
void RecurrentLayer<Dtype>::ReshapeStates() {
  if (expose_hidden_) return;
  states_.resize(recur_output_blobs_.size());
  for (size_t i = 0; i < states_.size(); ++i) {
    const vector<int>& shape = recur_output_blobs_[i]->shape();
    if (states_[i] != nullptr && states_[i]->shape() == shape) continue;
    // Zeros: other streams have nothing to do with those before.
    states_[i] = boost::make_shared<Blob<Dtype>>(shape);
  }
}

template <typename Dtype>
void RecurrentLayer<Dtype>::PassOnWhatLearns() {
  // Those who share a parameter may have lost touch with its owner, if that
  // uses other memory since.
  unrolled_net_->ShareWeights();
  for (const auto& layer : unrolled_net_->layers()) {
    for (size_t k = 0; k < layer->blobs().size(); ++k) {
      for (size_t i = 0; i < this->blobs_.size(); ++i) {
        if (layer->blobs()[k]->data() != this->blobs_[i]->data()) continue;
        layer->set_param_propagate_down(static_cast<int>(k),
                                        this->param_propagate_down_[i]);
      }
    }
  }
}

template <typename Dtype>
void RecurrentLayer<Dtype>::Reset() {
  for (const auto& state : states_) {
    caffe_set(state->count(), Dtype(0), state->mutable_cpu_data());
  }
}

template <typename Dtype>
string RecurrentLayer<Dtype>::SaveState() const {
  LayerParameter states;
  for (const auto& state : states_) state->ToProto(states.add_blobs());
  return states.SerializeAsString();
}

template <typename Dtype>
void RecurrentLayer<Dtype>::RestoreState(const string& state) {
  LayerParameter states;
  Require(states.ParseFromString(state) &&
              states.blobs_size() == static_cast<int>(states_.size()),
          "the saved states are not those of this layer");
  for (size_t i = 0; i < states_.size(); ++i) {
    states_[i]->FromProto(states.blobs(static_cast<int>(i)),
                          /*reshape=*/false);
  }
}

template <typename Dtype>
BackwardReads RecurrentLayer<Dtype>::backward_reads() const {
  if (unrolled_net_ == nullptr) return BackwardReads();
  std::map<const SyncedMemory*, BackwardRead> keenest;
  const auto note = [&](const Blob<Dtype>& blob, BackwardRead read) {
    BackwardRead& noted = keenest[blob.data().get()];
    noted = std::max(noted, read);
  };
  // Memory that is not this layer's, or that not every Forward writes.
  std::set<const SyncedMemory*> listed;
  const vector<Blob<Dtype>*> inputs = Inputs();
  const vector<Blob<Dtype>*> outputs = Outputs();
  for (const Blob<Dtype>* blob : inputs) listed.insert(blob->data().get());
  for (const Blob<Dtype>* blob : outputs) listed.insert(blob->data().get());
  BackwardReads reads = BackwardReads::Nothing();
  for (int i = 0; i <= last_layer_index_; ++i) {
    const BackwardReads inner = unrolled_net_->layers()[i]->backward_reads();
    const vector<Blob<Dtype>*>& bottoms = unrolled_net_->bottom_vecs()[i];
    const vector<Blob<Dtype>*>& tops = unrolled_net_->top_vecs()[i];
    if (!inner.is_declared) {
      if (!bottoms.empty()) return BackwardReads();
      for (const Blob<Dtype>* top : tops) listed.insert(top->data().get());
    }
    if (!inner.is_declared || !unrolled_net_->layer_need_backward()[i]) {
      continue;
    }
    for (size_t k = 0; k < bottoms.size(); ++k) {
      note(*bottoms[k], inner.OfBottom(k));
    }
    for (size_t k = 0; k < tops.size(); ++k) note(*tops[k], inner.OfTop(k));
    for (BackwardReads::Buffer buffer : inner.buffers) {
      buffer.name = unrolled_net_->layer_names()[i] + "." + buffer.name;
      reads.buffers.push_back(std::move(buffer));
    }
  }
  const auto read_of = [&](const Blob<Dtype>* blob) {
    const auto found = keenest.find(blob->data().get());
    return found == keenest.end() ? BackwardRead::kNothing : found->second;
  };
  reads.bottoms.clear();
  reads.tops.clear();
  for (const Blob<Dtype>* blob : inputs) reads.bottoms.push_back(read_of(blob));
  for (const Blob<Dtype>* blob : outputs) reads.tops.push_back(read_of(blob));
  for (int i = 0; i <= last_layer_index_; ++i) {
    for (const int id : unrolled_net_->top_ids(i)) {
      const Blob<Dtype>* const blob = unrolled_net_->blobs()[id].get();
      if (!listed.insert(blob->data().get()).second) continue;
      reads.buffers.push_back(
          {unrolled_net_->blob_names()[id], blob->data(), read_of(blob)});
    }
  }
  return reads;
}

template <typename Dtype>
void RecurrentLayer<Dtype>::Forward_cpu(const vector<Blob<Dtype>*>& /*bottom*/,
                                        const vector<Blob<Dtype>*>& /*top*/) {
  for (size_t i = 0; i < states_.size(); ++i) {
    recur_input_blobs_[i]->CopyFrom(*states_[i]);
  }
  unrolled_net_->ForwardTo(last_layer_index_);
  for (size_t i = 0; i < states_.size(); ++i) {
    states_[i]->CopyFrom(*recur_output_blobs_[i]);
  }
}

template <typename Dtype>
void RecurrentLayer<Dtype>::Backward_cpu(
    const vector<Blob<Dtype>*>& /*top*/, const vector<bool>& propagate_down,
    const vector<Blob<Dtype>*>& /*bottom*/) {
  Require(!propagate_down[1], "its indicators of sequences have no gradient");
  std::set<const SyncedMemory*> not_own;
  const vector<Blob<Dtype>*> inputs = Inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    static_cast<Unrolled*>(unrolled_net_.get())
        ->WantGradient(inputs[i], propagate_down[i]);
    not_own.insert(inputs[i]->diff().get());
  }
  for (const Blob<Dtype>* output : Outputs()) {
    not_own.insert(output->diff().get());
  }
  unrolled_net_->BackwardFrom(last_layer_index_);
  // Nobody reads the gradients inside again, and they are large.
  for (int i = 0; i <= last_layer_index_; ++i) {
    for (const Blob<Dtype>* blob : unrolled_net_->top_vecs()[i]) {
      if (not_own.count(blob->diff().get()) == 0) blob->diff()->Forget();
    }
  }
}

INSTANTIATE_CLASS(RecurrentLayer);

}  // namespace caffe
