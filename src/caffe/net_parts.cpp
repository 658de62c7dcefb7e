#include <algorithm>

#include "caffe/net.hpp"
#include "naming.hpp"

// Running stretches of layers over one part of the batch after the other.

namespace caffe {

namespace {

// While it is there, a layer may work on parts with what it has gathered.
template <typename Dtype>
class Gathering {
 public:
  explicit Gathering(Layer<Dtype>* layer) : layer_(layer) {}
  ~Gathering() { layer_->EndParts(); }
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

 private:
  Layer<Dtype>* const layer_;
};

}  // namespace

template <typename Dtype>
void Net<Dtype>::RunInParts(const vector<Stretch>& stretches) {
  const bool are_same = std::equal(
      stretches.begin(), stretches.end(), stretches_.begin(), stretches_.end(),
      [](const Stretch& stretch, const auto& parts) {
        return stretch == parts->stretch();
      });
  if (are_same) return;
  stretches_.clear();
  for (const Stretch& stretch : stretches) {
    stretches_.push_back(std::make_unique<BatchParts<Dtype>>(*this, stretch));
  }
}

template <typename Dtype>
BatchParts<Dtype>* Net<Dtype>::StretchOf(int i) const {
  for (const auto& parts : stretches_) {
    if (parts->Has(i)) return parts.get();
  }
  return nullptr;
}

template <typename Dtype>
bool Net<Dtype>::CanRunInParts() const {
  if (debug_info_) return false;
  for (const auto* callbacks : {&before_forward_, &after_forward_,
                                &before_backward_, &after_backward_}) {
    for (const Callback* callback : *callbacks) {
      if (!callback->sees_parts()) return false;
    }
  }
  return true;
}

template <typename Dtype>
template <typename Work>
void Net<Dtype>::ForEachPart(BatchParts<Dtype>* parts, const Work& work) {
  running_ = parts;
  try {
    for (part_ = 0; part_ < parts->stretch().parts; ++part_) work();
  } catch (...) {
    running_ = nullptr;
    throw;
  }
  running_ = nullptr;
}

template <typename Dtype>
void Net<Dtype>::ForwardInParts(BatchParts<Dtype>* parts) {
  const int first = parts->stretch().first;
  Layer<Dtype>* const layer = layers_[first].get();
  parts->set_has_run(true);
  parts->ShapeInputs();
  const Gathering<Dtype> gathering(layer);
  if (layer->gathers_first()) {
    NamingLayer(layer->layer_param(),
                [&] { layer->StartForward(bottom_vecs_[first]); });
  }
  ForEachPart(parts, [&] {
    for (int i = parts->stretch().first; i <= parts->stretch().last; ++i) {
      NamingLayer(layers_[i]->layer_param(), [&] { parts->ShapeLayer(i); });
      ForwardLayer(i);
    }
  });
}

template <typename Dtype>
void Net<Dtype>::BackwardInParts(BatchParts<Dtype>* parts) {
  const int first = parts->stretch().first;
  Layer<Dtype>* const layer = layers_[first].get();
  const bool gathers = layer->gathers_first() && layer_need_backward_[first];
  const Gathering<Dtype> gathering(layer);
  if (gathers) layer->StartBackward();
  ForEachPart(parts, [&] {
    for (int i = parts->stretch().last; i > first; --i) BackwardLayer(i);
    if (!gathers) return BackwardLayer(first);
    for (Callback* callback : before_backward_) callback->run(first);
    layer->GatherBackward(working_tops(first), working_bottoms(first));
  });
  if (gathers) ForEachPart(parts, [&] { BackwardLayer(first); });
}

template class Net<float>;
template class Net<double>;

}  // namespace caffe
