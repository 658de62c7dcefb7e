#ifndef CAFFE_BATCH_SOURCE_HPP_
#define CAFFE_BATCH_SOURCE_HPP_

#include <vector>

#include "caffe/blob.hpp"

namespace caffe {

// A layer that makes batches, and can make larger or smaller ones.
template <typename Dtype>
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  // Images of a batch; 0 when nobody knows, and then it cannot be changed.
  virtual int batch_size() const = 0;
  // Makes batches of so many images from the next Forward on, which goes on
  // with the image after the last one given out, and reshapes the layer's tops.
  virtual void SetBatchSize(int batch_size,
                            const std::vector<Blob<Dtype>*>& top) = 0;

 protected:
  static void ReshapeTops(int batch_size,
                          const std::vector<Blob<Dtype>*>& top) {
    for (Blob<Dtype>* const blob : top) {
      std::vector<int> shape = blob->shape();
      if (shape.empty()) continue;
      shape[0] = batch_size;
      blob->Reshape(shape);
    }
  }
};

}  // namespace caffe

#endif  // CAFFE_BATCH_SOURCE_HPP_
