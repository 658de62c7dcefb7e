#ifndef CAFFE_SRC_LAYERS_UNROLLING_HPP_
#define CAFFE_SRC_LAYERS_UNROLLING_HPP_

#include <string>
#include <vector>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"

namespace caffe {

// Writes the net of a recurrent layer step by step. Names of parameters, blobs
// and layers are Caffe's: W_xc is the matrix from x to c, W_xc_x its product
// with x, W_xc_x_3 that of the third step.
class Unrolling {
 public:
  Unrolling(const RecurrentParameter& param, int steps, bool has_static,
            NetParameter* net)
      : param_(param), steps_(steps), has_static_(has_static), net_(net) {}

  LayerParameter* Add(const string& type, const string& name,
                      const vector<string>& bottoms,
                      const vector<string>& tops);

  // The states before the first step.
  void AddStates(const vector<string>& names, const vector<BlobShape>& shapes);

  // An InnerProduct along `axis` with parameters of these names: weights and
  // perhaps a bias.
  LayerParameter* AddProduct(const string& name,
                             const vector<string>& parameters, int num_output,
                             int axis, const string& bottom, const string& top);

  // Products of `weights` and x, plus a bias, and of the static weights and
  // x_static, and the indicators: all of them cut into steps.
  void AddInputs(const string& weights, const string& bias, int num_output);

  // The hidden values from before the step, or zeros where a sequence begins:
  // h_conted_0 for step 1.
  string AddContinued(int step);

  // The sum of the step's product with x, the static one if there is one, and
  // `other`.
  void AddSum(const string& weights, int step, const string& other,
              const string& top);

  // All steps of a blob, one after the other.
  void AddConcat(const string& blob);

 private:
  void AddSlice(const string& name, const string& bottom);

  const RecurrentParameter& param_;
  const int steps_;
  const bool has_static_;
  NetParameter* const net_;
};

// "h_3", and so on.
inline string AtStep(const string& blob, int step) {
  return blob + "_" + std::to_string(step);
}

// A state of N streams: (1, N, num_output).
inline BlobShape StateShape(int streams, uint32_t num_output) {
  BlobShape shape;
  shape.add_dim(1);
  shape.add_dim(streams);
  shape.add_dim(num_output);
  return shape;
}

}  // namespace caffe

#endif  // CAFFE_SRC_LAYERS_UNROLLING_HPP_
