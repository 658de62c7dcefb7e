#ifndef CAFFE_TOOLS_STAND_IN_DATA_HPP_
#define CAFFE_TOOLS_STAND_IN_DATA_HPP_

#include <vector>

#include "caffe/net.hpp"

namespace caffe {

// Replaces the layers of a net that read data by ones that only have their
// shapes. The shapes come from `image_shape` (channels, height, width) unless
// it is empty, else from the data if they are there, else from crop_size.
// Throws Error when nothing tells.
void StandInForData(const std::vector<int>& image_shape, NetParameter* net);

// Gives the layers of the training phase that have, or read, data another batch
// size.
void SetTrainingBatchSize(int batch_size, NetParameter* net);

// Images of one batch, by the layers without bottoms; 0 when there are none.
int BatchSizeOf(const Net<float>& net);
// Makes the batches of such layers as large as that, and reshapes the net.
void SetBatchSize(int batch_size, Net<float>* net);

}  // namespace caffe

#endif  // CAFFE_TOOLS_STAND_IN_DATA_HPP_
