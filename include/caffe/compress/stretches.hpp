#ifndef CAFFE_COMPRESS_STRETCHES_HPP_
#define CAFFE_COMPRESS_STRETCHES_HPP_

#include <cstddef>
#include <vector>

#include "caffe/batch_parts.hpp"
#include "caffe/proto/compress.pb.h"

namespace caffe {

// Which layers of a net should run in parts, so that none of what they read and
// write takes more than `most` bytes at a time: those that have larger blobs,
// one after the other, and work on every image by itself. Parts are of equal
// size. From the shapes that the net's blobs have now.
template <typename Dtype>
std::vector<Stretch> FindStretches(const Net<Dtype>& net, size_t most);

// What solvers take for `most`, by the settings of the net; unless they tell,
// only compressed nets run in parts.
size_t LargestTensor(const MemoryParameter& param, bool compresses);

}  // namespace caffe

#endif  // CAFFE_COMPRESS_STRETCHES_HPP_
