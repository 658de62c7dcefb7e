#include <algorithm>

#include "caffe/net.hpp"
#include "naming.hpp"

// Running stretches of layers over one part of the batch after the other.

namespace caffe {

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
  parts->set_has_run(true);
  parts->ShapeInputs();
  ForEachPart(parts, [&] {
    for (int i = parts->stretch().first; i <= parts->stretch().last; ++i) {
      NamingLayer(layers_[i]->layer_param(), [&] { parts->ShapeLayer(i); });
      ForwardLayer(i);
    }
  });
}

template <typename Dtype>
void Net<Dtype>::BackwardInParts(BatchParts<Dtype>* parts) {
  ForEachPart(parts, [&] {
    for (int i = parts->stretch().last; i >= parts->stretch().first; --i) {
      BackwardLayer(i);
    }
  });
}

template class Net<float>;
template class Net<double>;

}  // namespace caffe
