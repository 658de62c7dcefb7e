#ifndef CAFFE_BATCHNORM_LAYER_HPP_
#define CAFFE_BATCHNORM_LAYER_HPP_

#include <vector>

#include "caffe/layer.hpp"

namespace caffe {

// Normalizes every channel (axis 1) to mean 0 and variance 1, over all other
// axes; a Scale layer usually follows. While training, with the statistics of
// the batch, which also go into running averages; in the test phase, or as
// batch_norm_param.use_global_stats says, with those averages.
//
// The parameters are the sums of the means and of the variances, weighted by
// powers of moving_average_fraction, and the sum of the weights. No solver may
// change them: their lr_mult is 0.
//
// Backward reads the bottom; in place, where the bottom is gone, a copy of the
// normalized values.
template <typename Dtype>
class BatchNormLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;

  const char* type() const override { return "BatchNorm"; }
  int ExactNumBottomBlobs() const override { return 1; }
  int ExactNumTopBlobs() const override { return 1; }
  BackwardReads backward_reads() const override;
  bool works_per_image() const override { return use_global_stats_; }
  bool gathers_first() const override;
  void StartForward(const vector<Blob<Dtype>*>& bottom) override;
  void StartBackward() override;
  void GatherBackward(const vector<Blob<Dtype>*>& top,
                      const vector<Blob<Dtype>*>& bottom) override;
  void EndParts() override { runs_in_parts_ = false; }

 protected:
  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  // The statistics last used; variance_ then holds sqrt(variance + eps).
  Blob<Dtype> mean_;
  Blob<Dtype> variance_;
  // The normalized values, kept in place only.
  Blob<Dtype> x_norm_;
  bool keeps_copy_ = false;
  bool use_global_stats_ = false;
  Dtype moving_average_fraction_ = 0;
  int channels_ = 0;
  Dtype eps_ = 0;

 private:
  void FreezeParameters();
  // mean_ and variance_ from the running averages, and the other way round.
  void UseAverages();
  void UpdateAverages(int values);
  void RequireChannels(const Blob<Dtype>& bottom) const;
  // variance_ becomes what Backward divides by.
  void TakeRoots();
  // What Backward reads of Forward, and the mean of it, or nullptr.
  const Dtype* KeptInput(const Blob<Dtype>& bottom) const;
  const Dtype* MeanOfKept() const;

  // Over parts of the batch: what has been gathered of all of them.
  bool runs_in_parts_ = false;
  vector<Dtype> factors_;
  int64_t gathered_values_ = 0;
  vector<double> sums_;
  vector<double> products_;
};

}  // namespace caffe

#endif  // CAFFE_BATCHNORM_LAYER_HPP_
