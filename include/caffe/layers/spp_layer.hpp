#ifndef CAFFE_SPP_LAYER_HPP_
#define CAFFE_SPP_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"
#include "caffe/layers/pooling_layer.hpp"

namespace caffe {

// Spatial pyramid pooling: makes vectors of one length of images of any size.
// Level l, from 0 to spp_param.pyramid_height - 1, pools (N, C, H, W) images to
// 2^l x 2^l values a channel, as spp_param.pool says; the top has the values of
// all levels one after the other, (N, C * (1 + 4 + 16 + ...)).
//
// Images must not be much smaller than the finest grid: the padding that makes
// its windows cover them must be smaller than a window.
//
// Backward reads what the pooling layers of the levels keep, the places of
// maxima.
template <typename Dtype>
class SPPLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "SPP"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override;
  // STOCHASTIC draws in the order of the images.
  bool works_per_image() const override {
    return this->layer_param_.spp_param().pool() != SPPParameter::STOCHASTIC;
  }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  // The settings of the pooling layer of a level, for images of that size.
  virtual LayerParameter GetPoolingParam(const int pyramid_level,
                                         const int bottom_h, const int bottom_w,
                                         const SPPParameter& spp_param);

  int pyramid_height_ = 0;
  int bottom_h_ = 0, bottom_w_ = 0;
  // For every level.
  vector<shared_ptr<Layer<Dtype>>> pooling_layers_;

 private:
  // Calls work(layer, pooled, column) for every level: its layer, a blob of the
  // shape of its top, and where in a row of the top its values begin.
  template <typename Work>
  void ForLevels(const Work& work);

  // Of the tops of the levels.
  vector<vector<int>> pooled_shapes_;
};

}  // namespace caffe

#endif  // CAFFE_SPP_LAYER_HPP_
