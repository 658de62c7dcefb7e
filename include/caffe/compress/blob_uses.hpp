#ifndef CAFFE_COMPRESS_BLOB_USES_HPP_
#define CAFFE_COMPRESS_BLOB_USES_HPP_

#include <vector>

#include "caffe/net.hpp"

namespace caffe {

// When the layers of a net need one of its blobs.
struct BlobUse {
  struct Reader {
    int layer;
    BackwardRead read;
  };

  // Whether its memory may be taken away when it is not needed. Not so for
  // blobs that users put values into or take results from, and for those of
  // layers that do not say what they read.
  bool is_managed = true;
  // The first and the last layer that read or write it in Forward.
  int first_forward = -1;
  int last_forward = -1;
  // The layers whose Backward reads it.
  std::vector<Reader> readers;
};

// Whether a net is ever run backward.
enum class Passes { kForwardOnly, kForwardAndBackward };

// One for every blob of the net.
template <typename Dtype>
std::vector<BlobUse> FindBlobUses(const Net<Dtype>& net, Passes passes);

}  // namespace caffe

#endif  // CAFFE_COMPRESS_BLOB_USES_HPP_
