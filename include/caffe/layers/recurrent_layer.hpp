#ifndef CAFFE_RECURRENT_LAYER_HPP_
#define CAFFE_RECURRENT_LAYER_HPP_

#include <string>
#include <vector>

#include "caffe/layer.hpp"
#include "caffe/net.hpp"

namespace caffe {

// What recurrent layers share. A layer is a net of its own inside, with one
// copy of the same layers for every time step; a subclass says which
// (FillUnrolledNet).
//
// Bottoms: x, (T, N, ...), the inputs of N independent streams over T time
// steps; cont, (T, N), 0 where a sequence begins and 1 where it goes on; and,
// if there is a third, x_static, (N, ...), an input that is the same at all
// steps. Top: the outputs, (T, N, ...). T cannot change; N can.
//
// What a step hands to the next, the last step of a batch hands to the first of
// the next batch: a sequence may be longer than T. With
// recurrent_param.expose_hidden these states are further bottoms, behind the
// others, and further tops instead; they have gradients then, unlike Caffe's.
//
// Backward reads what the layers inside read. Their blobs are this layer's
// buffers.
template <typename Dtype>
class RecurrentLayer : public Layer<Dtype> {
 public:
  using Layer<Dtype>::Layer;
  void LayerSetUp(const vector<Blob<Dtype>*>& bottom,
                  const vector<Blob<Dtype>*>& top) override;
  void Reshape(const vector<Blob<Dtype>*>& bottom,
               const vector<Blob<Dtype>*>& top) override;
  // Forgets what the last batch handed on.
  virtual void Reset();
  // Of all steps. Its inputs and outputs use the memory of bottoms and tops.
  const Net<Dtype>& unrolled_net() const { return *unrolled_net_; }

  const char* type() const override { return "Recurrent"; }
  int MinBottomBlobs() const override;
  int MaxBottomBlobs() const override { return MinBottomBlobs() + 1; }
  int ExactNumTopBlobs() const override;
  bool AllowForceBackward(const int bottom_index) const override {
    return bottom_index != 1;
  }
  BackwardReads backward_reads() const override;

  string SaveState() const override;
  void RestoreState(const string& state) override;

 protected:
  // Adds the layers of all steps. x, cont and x_static are there already; the
  // inputs of RecurrentInputBlobNames are not.
  virtual void FillUnrolledNet(NetParameter* net_param) const = 0;
  // The blobs that the first step reads and that the last one leaves, in the
  // same order, and the shapes of the former.
  virtual void RecurrentInputBlobNames(vector<string>* names) const = 0;
  virtual void RecurrentInputShapes(vector<BlobShape>* shapes) const = 0;
  virtual void RecurrentOutputBlobNames(vector<string>* names) const = 0;
  virtual void OutputBlobNames(vector<string>* names) const = 0;

  void Forward_cpu(const vector<Blob<Dtype>*>& bottom,
                   const vector<Blob<Dtype>*>& top) override;
  void Backward_cpu(const vector<Blob<Dtype>*>& top,
                    const vector<bool>& propagate_down,
                    const vector<Blob<Dtype>*>& bottom) override;

  shared_ptr<Net<Dtype>> unrolled_net_;
  // Streams and time steps.
  int N_ = 0;
  int T_ = 0;
  bool static_input_ = false;
  bool expose_hidden_ = false;
  // Of unrolled_net_, without what only stands for the layers above.
  int last_layer_index_ = -1;
  vector<Blob<Dtype>*> recur_input_blobs_;
  vector<Blob<Dtype>*> recur_output_blobs_;
  vector<Blob<Dtype>*> output_blobs_;
  Blob<Dtype>* x_input_blob_ = nullptr;
  Blob<Dtype>* x_static_input_blob_ = nullptr;
  Blob<Dtype>* cont_input_blob_ = nullptr;

 private:
  class Unrolled;

  void CheckBottoms(const vector<Blob<Dtype>*>& bottom) const;
  NetParameter UnrolledNetParameter(const vector<Blob<Dtype>*>& bottom,
                                    const vector<string>& ends) const;
  void FindBlobs(const vector<string>& outputs);
  void TakeParameters();
  // Makes the layers inside leave out gradients of parameters that do not
  // learn.
  void PassOnWhatLearns();
  void ReshapeStates();
  // The blobs inside that use the memory of bottoms, and of tops, in the same
  // order.
  vector<Blob<Dtype>*> Inputs() const;
  vector<Blob<Dtype>*> Outputs() const;

  // What the last batch handed on, unless it is exposed.
  vector<shared_ptr<Blob<Dtype>>> states_;
};

}  // namespace caffe

#endif  // CAFFE_RECURRENT_LAYER_HPP_
