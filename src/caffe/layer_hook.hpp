#ifndef CAFFE_SRC_LAYER_HOOK_HPP_
#define CAFFE_SRC_LAYER_HOOK_HPP_

#include <functional>
#include <utility>

#include "caffe/net.hpp"

namespace caffe {

// Calls a function around a layer, until it is disabled: the net outlives
// whoever made the function.
template <typename Dtype>
class LayerHook : public Net<Dtype>::Callback {
 public:
  explicit LayerHook(std::function<void(int)> function)
      : function_(std::move(function)) {}
  void Disable() {
    function_ = [](int /*layer*/) {};
  }

 protected:
  void run(int layer) override { function_(layer); }
  bool sees_parts() const override { return true; }

 private:
  std::function<void(int)> function_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_LAYER_HOOK_HPP_
