#ifndef CAFFE_CROP_LAYER_HPP_
#define CAFFE_CROP_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

namespace cpu {
struct Box;
}

// Cuts its first bottom to the size of its second, along the axes from
// crop_param.axis on. crop_param.offset says where the cut begins: once for all
// these axes, once for each, or not at all, for 0. The other axes stay as they
// are.
//
// Of the second bottom only the shape counts. Backward reads neither.
template <typename Dtype>
class CropLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "Crop"; }
  int ExactNumBottomBlobs() const override { return 2; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override {
    return BackwardReads::Nothing();
  }
  bool works_per_image() const override { return axis_ > 0; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

 private:
  // What Forward cuts out of the first bottom.
  cpu::Box Cut(const Blob<Dtype>& bottom, const Blob<Dtype>& top) const;

  int axis_ = 0;
  // One for each axis of the first bottom.
  vector<int> offsets_;
};

}  // namespace caffe

#endif  // CAFFE_CROP_LAYER_HPP_
