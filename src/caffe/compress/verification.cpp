#include "compress/verification.hpp"

#include <algorithm>
#include <cmath>

#include "caffe/util/rng.hpp"
#include "compress/layer_weights.hpp"
#include "util/text_table.hpp"

namespace caffe {

namespace {

// So many gradients tell a standard deviation well enough.
constexpr int kMaxSamples = 1 << 20;

// Some of the blob's gradients, evenly spread.
template <typename Dtype>
std::vector<Dtype> SampleDiff(const Blob<Dtype>& blob) {
  const int step = 1 + (blob.count() - 1) / kMaxSamples;
  const Dtype* const diff = blob.cpu_diff();
  std::vector<Dtype> sample;
  sample.reserve(blob.count() / step + 1);
  for (int i = 0; i < blob.count(); i += step) sample.push_back(diff[i]);
  return sample;
}

template <typename Dtype>
double RootMeanSquareDifference(const std::vector<Dtype>& a,
                                const std::vector<Dtype>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - b[i];
    sum += difference * difference;
  }
  return std::sqrt(sum / static_cast<double>(a.size()));
}

}  // namespace

template <typename Dtype>
Verification<Dtype>::Verification(Net<Dtype>* net,
                                  ActivationStore<Dtype>* store)
    : net_(net), store_(store) {
  for (int layer = 0; layer < static_cast<int>(net->layers().size()); ++layer) {
    const int id = WeightsId(*net, layer);
    if (id < 0) continue;
    Blob<Dtype>* const blob = net->learnable_params()[id];
    auto found = std::find_if(weights_.begin(), weights_.end(),
                              [&](const Weights& w) { return w.blob == blob; });
    if (found == weights_.end()) {
      found = weights_.emplace(weights_.end());
      found->blob = blob;
    }
    found->layers.push_back(layer);
  }
}

template <typename Dtype>
void Verification<Dtype>::Rehearse() {
  // A layer may draw random numbers even now.
  const rng_t random = *caffe_rng();
  const bool debug_info = net_->debug_info();
  net_->set_debug_info(false);
  store_->set_rehearsal(true);
  net_->Backward();
  store_->set_rehearsal(false);
  net_->set_debug_info(debug_info);
  *caffe_rng() = random;
  for (Weights& weights : weights_) {
    weights.exact = SampleDiff(*weights.blob);
    weights.predicted_variance = 0;
  }
  net_->ClearParamDiffs();
}

template <typename Dtype>
void Verification<Dtype>::Compare(int layer, double predicted) {
  for (Weights& weights : weights_) {
    const bool is_its =
        std::count(weights.layers.begin(), weights.layers.end(), layer) > 0;
    if (!is_its || weights.exact.empty()) continue;
    weights.predicted_variance += predicted * predicted;
    if (layer != weights.layers.front()) continue;
    weights.sigma = {
        std::sqrt(weights.predicted_variance),
        RootMeanSquareDifference(SampleDiff(*weights.blob), weights.exact)};
    weights.exact = {};
  }
}

template <typename Dtype>
void Verification<Dtype>::Log(int iteration) const {
  TextTable table(1);
  table.Add({"layer", "sigma predicted", "sigma measured", "ratio"});
  for (int layer = 0; layer < static_cast<int>(net_->layers().size());
       ++layer) {
    const std::optional<GradientSigma> found = sigma(layer);
    if (!found) continue;
    table.Add({net_->layer_names()[layer], Significant(found->predicted),
               Significant(found->measured),
               found->predicted > 0
                   ? Fixed(found->measured / found->predicted, 3)
                   : "-"});
  }
  LOG(INFO) << "Errors of the weights' gradients in iteration " << iteration
            << ":";
  for (const std::string& line : table.Lines()) LOG(INFO) << "    " << line;
}

template <typename Dtype>
std::optional<GradientSigma> Verification<Dtype>::sigma(int layer) const {
  for (const Weights& weights : weights_) {
    if (std::count(weights.layers.begin(), weights.layers.end(), layer) > 0) {
      return weights.sigma;
    }
  }
  return std::nullopt;
}

template class Verification<float>;
template class Verification<double>;

}  // namespace caffe
