#ifndef CAFFE_SRC_COMPRESS_SZ_PLAN_HPP_
#define CAFFE_SRC_COMPRESS_SZ_PLAN_HPP_

#include "compress/sz/block.hpp"

namespace caffe::codec::sz {

// Scratch slots of the context: one for the frame, one for every thread.
constexpr int kFrameSlot = 0;
constexpr int kThreadSlot = 1;

// Everything about a frame that is chosen before its blocks are coded. It
// depends on the values and the settings alone.
struct Plan {
  BlockCoder coder;
  Model model;
  // About how many bits a value takes.
  double bits = 0;
};

// Chooses after a look at a part of the values.
template <typename T>
Plan MakePlan(const Kernels& kernels, const ConstTensor& in,
              const Settings& settings, Context& context);

}  // namespace caffe::codec::sz

#endif  // CAFFE_SRC_COMPRESS_SZ_PLAN_HPP_
