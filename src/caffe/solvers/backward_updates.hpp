#ifndef CAFFE_SRC_SOLVERS_BACKWARD_UPDATES_HPP_
#define CAFFE_SRC_SOLVERS_BACKWARD_UPDATES_HPP_

#include <functional>
#include <memory>
#include <vector>

#include "caffe/memory/arena.hpp"
#include "caffe/net.hpp"
#include "caffe/param_slice.hpp"

namespace caffe {

// Which layers of a net use one of its learnable parameters.
struct ParamUse {
  // Of all that share it. Backward comes to the highest first, and when it has
  // run the lowest the gradient is complete.
  int highest_layer = -1;
  int lowest_layer = -1;
  // Whether the memory of its gradient may be taken away: all these layers
  // declare what they read.
  bool is_managed = true;
  // Rows of which the gradient is computed, and the parameter updated, at a
  // time, where its one layer can do so and it is large; otherwise 0.
  int rows_at_a_time = 0;
  // Its index in that layer.
  int index_in_layer = -1;
};

// One for every learnable parameter.
template <typename Dtype>
std::vector<ParamUse> FindParamUses(const Net<Dtype>& net);

// Updates the parameters of a net while it runs backward, each as soon as no
// layer still to come adds to its gradient or reads its values. The gradient
// has memory, from an arena, only from the first layer that adds to it until
// the update; whoever asks for it later gets an Error. That of a large one
// never has memory for all of its values, if its layer can give it for some
// rows at a time. Parameters of layers that do not declare what they read keep
// the memory of their gradients.
//
// It sees the net through the callbacks around every layer and lives as long as
// the net. Layers' tops and bottoms must still be there when its callbacks run.
// Runs on the net's thread.
template <typename Dtype>
class BackwardUpdates {
 public:
  // Turns the gradient of a learnable parameter, or of some of its values, into
  // an update and applies it. False when the rest of the parameter is to stay
  // as it is.
  using Update = std::function<bool(const ParamSlice<Dtype>& slice)>;

  static shared_ptr<BackwardUpdates> Attach(Net<Dtype>* net,
                                            shared_ptr<memory::Arena> arena);
  ~BackwardUpdates();
  BackwardUpdates(const BackwardUpdates&) = delete;
  BackwardUpdates& operator=(const BackwardUpdates&) = delete;

  // Runs the net backward, updating every learnable parameter once: large ones
  // in slices, if that is allowed.
  // REQUIRES: gradients are cleared.
  void RunBackward(const Update& update, bool in_slices);

 private:
  class Hook;
  struct Gradient {
    shared_ptr<SyncedMemory> memory;
    void* block = nullptr;
  };

  BackwardUpdates(Net<Dtype>* net, shared_ptr<memory::Arena> arena);
  void BeforeBackward(int layer);
  void AfterBackward(int layer);
  // Makes the layer of a parameter that is updated in slices leave its gradient
  // out of Backward.
  void LeaveToRows(const ParamUse& use, bool on) const;
  void UpdateWhole(int id);
  void UpdateInSlices(int id);
  void Drop(Gradient* gradient);
  void DropAll();

  Net<Dtype>* const net_;
  const shared_ptr<memory::Arena> arena_;
  std::vector<std::unique_ptr<Hook>> hooks_;
  // One for every learnable parameter.
  std::vector<ParamUse> uses_;
  std::vector<Gradient> gradients_;
  // Null while others run the net.
  const Update* update_ = nullptr;
};

}  // namespace caffe

#endif  // CAFFE_SRC_SOLVERS_BACKWARD_UPDATES_HPP_
