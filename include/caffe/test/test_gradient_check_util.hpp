#ifndef CAFFE_TEST_GRADIENT_CHECK_UTIL_H_
#define CAFFE_TEST_GRADIENT_CHECK_UTIL_H_

#include <glog/logging.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "caffe/layer.hpp"
#include "caffe/net.hpp"

namespace caffe {

// Compares a layer's Backward with central differences of its Forward. The
// objective is half the sum of the squared tops (or twice the value of one top,
// see GetObjAndGradient). Near a kink, where |feature| is within `kink_range`
// of `kink`, nothing is compared.
template <typename Dtype>
class GradientChecker {
 public:
  GradientChecker(const Dtype stepsize, const Dtype threshold,
                  const unsigned int seed = 1701, const Dtype kink = 0.,
                  const Dtype kink_range = -1)
      : stepsize_(stepsize),
        threshold_(threshold),
        seed_(seed),
        kink_(kink),
        kink_range_(kink_range) {}

  // Checks the objective over all tops. check_bottom: one bottom's index, -1
  // for all bottoms, -2 for parameters only.
  void CheckGradient(Layer<Dtype>* layer, const vector<Blob<Dtype>*>& bottom,
                     const vector<Blob<Dtype>*>& top, int check_bottom = -1) {
    layer->SetUp(bottom, top);
    CheckGradientSingle(layer, bottom, top, check_bottom, -1, -1);
  }

  // Checks every value of every top by itself.
  void CheckGradientExhaustive(Layer<Dtype>* layer,
                               const vector<Blob<Dtype>*>& bottom,
                               const vector<Blob<Dtype>*>& top,
                               int check_bottom = -1) {
    layer->SetUp(bottom, top);
    ASSERT_GT(top.size(), 0u) << "the layer has no top to check";
    for (size_t i = 0; i < top.size(); ++i) {
      for (int j = 0; j < top[i]->count(); ++j) {
        CheckGradientSingle(layer, bottom, top, check_bottom, i, j);
      }
    }
  }

  // For layers that treat every value by itself: top j depends on bottom j
  // only, which saves most of the work.
  void CheckGradientEltwise(Layer<Dtype>* layer,
                            const vector<Blob<Dtype>*>& bottom,
                            const vector<Blob<Dtype>*>& top) {
    layer->SetUp(bottom, top);
    ASSERT_GT(top.size(), 0u) << "the layer has no top to check";
    const int check_bottom = -1;
    const bool element_wise = true;
    for (size_t i = 0; i < top.size(); ++i) {
      for (int j = 0; j < top[i]->count(); ++j) {
        CheckGradientSingle(layer, bottom, top, check_bottom, i, j,
                            element_wise);
      }
    }
  }

  // Checks one value of one top (or all, for top_id -1).
  void CheckGradientSingle(Layer<Dtype>* layer,
                           const vector<Blob<Dtype>*>& bottom,
                           const vector<Blob<Dtype>*>& top, int check_bottom,
                           int top_id, int top_data_id,
                           bool element_wise = false) {
    if (element_wise) {
      ASSERT_EQ(0u, layer->blobs().size());
      ASSERT_LE(0, top_id);
      ASSERT_LE(0, top_data_id);
      for (const Blob<Dtype>* b : bottom) {
        ASSERT_EQ(top[top_id]->count(), b->count());
      }
    }
    const vector<Blob<Dtype>*> checked =
        CheckedBlobs(layer, bottom, check_bottom);
    ASSERT_GT(checked.size(), 0u) << "no blobs to check";

    const vector<shared_ptr<Blob<Dtype>>> computed = ComputeGradients(
        layer, bottom, top, check_bottom, top_id, top_data_id, checked);
    for (size_t b = 0; b < checked.size(); ++b) {
      for (int i = 0; i < checked[b]->count(); ++i) {
        // A value that cannot reach the top has gradient zero for sure.
        const bool reaches = !element_wise || top_data_id == i;
        const Dtype estimated = reaches ? Estimate(layer, bottom, top, top_id,
                                                   top_data_id, checked[b], i)
                                        : Dtype(0);
        const Dtype feature = checked[b]->cpu_data()[i];
        if (kink_ - kink_range_ <= std::fabs(feature) &&
            std::fabs(feature) <= kink_ + kink_range_) {
          continue;
        }
        const Dtype gradient = computed[b]->cpu_data()[i];
        // Relative for large gradients, absolute for small ones.
        const Dtype scale = std::max<Dtype>(
            std::max(std::fabs(gradient), std::fabs(estimated)), Dtype(1));
        EXPECT_NEAR(gradient, estimated, threshold_ * scale)
            << "top_id, top_data_id = " << top_id << ", " << top_data_id
            << "; blob, index = " << b << ", " << i
            << "; feature = " << feature;
      }
    }
  }

  // Checks the input blobs of a whole net by the tops of its layers.
  void CheckGradientNet(const Net<Dtype>& net,
                        const vector<Blob<Dtype>*>& input) {
    const vector<shared_ptr<Layer<Dtype>>>& layers = net.layers();
    for (size_t i = 0; i < layers.size(); ++i) {
      CheckGradientExhaustive(layers[i].get(), net.bottom_vecs()[i],
                              net.top_vecs()[i]);
    }
    (void)input;
  }

 protected:
  // The value of the objective; sets the diffs of the tops to its gradient.
  Dtype GetObjAndGradient(const Layer<Dtype>& /*layer*/,
                          const vector<Blob<Dtype>*>& top, int top_id = -1,
                          int top_data_id = -1) {
    Dtype objective = 0;
    if (top_id < 0) {
      for (Blob<Dtype>* blob : top) {
        const Dtype* data = blob->cpu_data();
        Dtype* diff = blob->mutable_cpu_diff();
        for (int i = 0; i < blob->count(); ++i) {
          objective += data[i] * data[i];
          diff[i] = data[i];
        }
      }
      return objective / 2;
    }
    for (Blob<Dtype>* blob : top) {
      caffe_set(blob->count(), Dtype(0), blob->mutable_cpu_diff());
    }
    // A factor that is not 1 catches layers that ignore the top diff.
    const Dtype weight = 2;
    top[top_id]->mutable_cpu_diff()[top_data_id] = weight;
    return top[top_id]->cpu_data()[top_data_id] * weight;
  }

  Dtype stepsize_;
  Dtype threshold_;
  unsigned int seed_;
  Dtype kink_;
  Dtype kink_range_;

 private:
  vector<Blob<Dtype>*> CheckedBlobs(Layer<Dtype>* layer,
                                    const vector<Blob<Dtype>*>& bottom,
                                    int check_bottom) {
    vector<Blob<Dtype>*> checked;
    for (const auto& blob : layer->blobs()) {
      caffe_set(blob->count(), Dtype(0), blob->mutable_cpu_diff());
      checked.push_back(blob.get());
    }
    if (check_bottom == -1) {
      checked.insert(checked.end(), bottom.begin(), bottom.end());
    } else if (check_bottom >= 0) {
      CHECK_LT(check_bottom, static_cast<int>(bottom.size()));
      checked.push_back(bottom[check_bottom]);
    }
    return checked;
  }

  vector<shared_ptr<Blob<Dtype>>> ComputeGradients(
      Layer<Dtype>* layer, const vector<Blob<Dtype>*>& bottom,
      const vector<Blob<Dtype>*>& top, int check_bottom, int top_id,
      int top_data_id, const vector<Blob<Dtype>*>& checked) {
    Caffe::set_random_seed(seed_);
    layer->Forward(bottom, top);
    GetObjAndGradient(*layer, top, top_id, top_data_id);
    vector<bool> propagate_down(bottom.size(), check_bottom == -1);
    if (check_bottom >= 0) propagate_down[check_bottom] = true;
    layer->Backward(top, propagate_down, bottom);
    vector<shared_ptr<Blob<Dtype>>> gradients;
    for (const Blob<Dtype>* blob : checked) {
      gradients.emplace_back(new Blob<Dtype>(blob->shape()));
      caffe_copy(blob->count(), blob->cpu_diff(),
                 gradients.back()->mutable_cpu_data());
    }
    return gradients;
  }

  Dtype Estimate(Layer<Dtype>* layer, const vector<Blob<Dtype>*>& bottom,
                 const vector<Blob<Dtype>*>& top, int top_id, int top_data_id,
                 Blob<Dtype>* blob, int index) {
    const Dtype value = blob->cpu_data()[index];
    const auto objective_at = [&](Dtype x) {
      blob->mutable_cpu_data()[index] = x;
      Caffe::set_random_seed(seed_);
      layer->Forward(bottom, top);
      return GetObjAndGradient(*layer, top, top_id, top_data_id);
    };
    const Dtype above = objective_at(value + stepsize_);
    const Dtype below = objective_at(value - stepsize_);
    blob->mutable_cpu_data()[index] = value;
    return (above - below) / stepsize_ / 2;
  }
};

}  // namespace caffe

#endif  // CAFFE_TEST_GRADIENT_CHECK_UTIL_H_
