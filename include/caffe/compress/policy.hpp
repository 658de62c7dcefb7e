#ifndef CAFFE_COMPRESS_POLICY_HPP_
#define CAFFE_COMPRESS_POLICY_HPP_

#include <string>
#include <vector>

#include "caffe/compress/codec.hpp"

namespace caffe {

// How a tensor is to be packed. Without a codec it stays as it is.
struct Packing {
  const codec::Codec* codec = nullptr;
  codec::Settings settings;
  // Whether the errors are to be measured.
  bool is_checked = false;
  // Whether the exact values are to be kept, too, for a Backward to compare
  // with.
  bool keeps_exact = false;
};

// A tensor that is about to be put away, and the layers, by their index in the
// net, whose Backward will read its values.
struct PackRequest {
  std::string name;
  std::vector<int> readers;
  codec::ConstTensor values;
  // Of the batch, where layers run over parts of it.
  int part = 0;
};

// Decides how activations are packed.
class PackingPolicy {
 public:
  virtual ~PackingPolicy() = default;
  virtual Packing Choose(const PackRequest& request) = 0;
};

}  // namespace caffe

#endif  // CAFFE_COMPRESS_POLICY_HPP_
