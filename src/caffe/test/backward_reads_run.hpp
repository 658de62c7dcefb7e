#ifndef CAFFE_SRC_TEST_BACKWARD_READS_RUN_HPP_
#define CAFFE_SRC_TEST_BACKWARD_READS_RUN_HPP_

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "caffe/backward_reads.hpp"
#include "caffe/filler.hpp"
#include "caffe/layer.hpp"

// How test_backward_reads.cpp runs a layer.
namespace caffe {

struct Case {
  string prototxt;
  // The shapes of the bottoms.
  vector<vector<int>> bottoms;
  // What the layer must declare, as Describe puts it.
  string reads;
  int tops = 1;
  // Whether the first top is the first bottom.
  bool in_place = false;
  // The bottoms that have labels, which get no gradient.
  vector<int> labels = {};
  // Whether the other bottoms get gradients.
  bool propagates = true;
  // The parameters that do not learn.
  vector<int> frozen = {};
};

inline void PrintTo(const Case& test, std::ostream* stream) {
  *stream << test.prototxt;
}

// "VE/N copy:V": the values of bottom 0, bottom 1 exactly, nothing of the top,
// and the values of a buffer.
inline string Describe(const BackwardReads& reads, size_t bottoms,
                       size_t tops) {
  if (!reads.is_declared) return "undeclared";
  const auto letter = [](BackwardRead read) {
    return "NZSVE"[static_cast<int>(read)];
  };
  string text;
  for (size_t i = 0; i < bottoms; ++i) text += letter(reads.OfBottom(i));
  text += '/';
  for (size_t i = 0; i < tops; ++i) text += letter(reads.OfTop(i));
  for (const BackwardReads::Buffer& buffer : reads.buffers) {
    text += " " + buffer.name + ":" + letter(buffer.read);
  }
  return text;
}

inline LayerParameter Parse(const string& prototxt) {
  LayerParameter param;
  CHECK(google::protobuf::TextFormat::ParseFromString(prototxt, &param))
      << prototxt;
  return param;
}

// One layer with its blobs, taken through Forward and Backward.
template <typename Dtype>
class LayerRun {
 public:
  // With `spoil`, overwrites all that the layer's promises allow to.
  LayerRun(const Case& test, bool spoil) {
    Caffe::set_random_seed(1701);
    MakeBlobs(test);
    layer_ = LayerRegistry<Dtype>::CreateLayer(Parse(test.prototxt));
    layer_->SetUp(bottoms_, tops_);
    for (const auto& param : layer_->blobs()) {
      caffe_rng_uniform(param->count(), Dtype(0.5), Dtype(1.5),
                        param->mutable_cpu_data());
    }
    for (const int i : test.frozen) layer_->set_param_propagate_down(i, false);
    const bool may_spoil = spoil && layer_->backward_reads().is_declared;
    if (may_spoil) SpoilTops();
    layer_->Forward(bottoms_, tops_);
    reads_ = layer_->backward_reads();
    for (const Blob<Dtype>* top : tops_) Keep(top->count(), top->cpu_data());
    for (Blob<Dtype>* top : tops_) FillNormal(top, top->mutable_cpu_diff());
    if (may_spoil) SpoilData();
    if (may_spoil) SpoilDiffs();
    layer_->Backward(tops_, propagate_down_, bottoms_);
    for (size_t i = 0; i < bottoms_.size(); ++i) {
      if (!propagate_down_[i]) continue;
      Keep(bottoms_[i]->count(), bottoms_[i]->cpu_diff());
    }
    for (const auto& param : layer_->blobs()) {
      Keep(param->count(), param->cpu_diff());
    }
  }

  string reads() const {
    return Describe(reads_, bottoms_.size(), tops_.size());
  }
  // The values of tops, then the gradients of bottoms and of parameters.
  const vector<vector<Dtype>>& results() const { return results_; }

 private:
  static constexpr Dtype kNaN = std::numeric_limits<Dtype>::quiet_NaN();

  static void FillNormal(Blob<Dtype>* shape, Dtype* values) {
    caffe_rng_gaussian(shape->count(), Dtype(0), Dtype(1), values);
  }

  void MakeBlobs(const Case& test) {
    for (const vector<int>& shape : test.bottoms) {
      bottoms_.push_back(NewBlob());
      bottoms_.back()->Reshape(shape);
      FillNormal(bottoms_.back(), bottoms_.back()->mutable_cpu_data());
    }
    propagate_down_.assign(bottoms_.size(), test.propagates);
    for (const int k : test.labels) {
      propagate_down_[k] = false;
      Dtype* const labels = bottoms_[k]->mutable_cpu_data();
      for (int i = 0; i < bottoms_[k]->count(); ++i) labels[i] = i % 3;
    }
    for (int i = 0; i < test.tops; ++i) {
      tops_.push_back(i == 0 && test.in_place ? bottoms_[0] : NewBlob());
    }
  }

  Blob<Dtype>* NewBlob() {
    blobs_.push_back(std::make_unique<Blob<Dtype>>());
    return blobs_.back().get();
  }

  void Keep(int count, const Dtype* values) {
    results_.emplace_back(values, values + count);
  }

  // Before Forward: it must write them all.
  void SpoilTops() {
    std::set<const SyncedMemory*> inputs;
    for (const Blob<Dtype>* bottom : bottoms_) {
      inputs.insert(bottom->data().get());
    }
    for (Blob<Dtype>* top : tops_) {
      if (inputs.count(top->data().get()) > 0) continue;
      caffe_set(top->count(), kNaN, top->mutable_cpu_data());
    }
  }

  // After Forward: what remains of memory is what its keenest reader asks for.
  void SpoilData() {
    std::map<SyncedMemory*, BackwardRead> readers;
    const auto add = [&](SyncedMemory* memory, BackwardRead read) {
      BackwardRead& keenest = readers[memory];
      keenest = std::max(keenest, read);
    };
    for (size_t i = 0; i < bottoms_.size(); ++i) {
      add(bottoms_[i]->data().get(), reads_.OfBottom(i));
    }
    for (size_t i = 0; i < tops_.size(); ++i) {
      add(tops_[i]->data().get(), reads_.OfTop(i));
    }
    for (const BackwardReads::Buffer& buffer : reads_.buffers) {
      add(buffer.memory.get(), buffer.read);
    }
    for (const auto& [memory, read] : readers) Reduce(read, memory);
  }

  static void Reduce(BackwardRead read, SyncedMemory* memory) {
    const int count = static_cast<int>(memory->size() / sizeof(Dtype));
    auto* const values = static_cast<Dtype*>(memory->mutable_cpu_data());
    if (read == BackwardRead::kNothing) caffe_set(count, kNaN, values);
    for (int i = 0; i < count; ++i) {
      if (read == BackwardRead::kNonZero && values[i] != 0) {
        values[i] = i % 2 == 0 ? -1 : 7;
      } else if (read == BackwardRead::kSign) {
        values[i] = values[i] > 0 ? 7 : 0;
      }
    }
  }

  // Before Backward: it must write them all.
  void SpoilDiffs() {
    std::set<const SyncedMemory*> inputs;
    for (const Blob<Dtype>* top : tops_) inputs.insert(top->diff().get());
    for (size_t i = 0; i < bottoms_.size(); ++i) {
      if (inputs.count(bottoms_[i]->diff().get()) > 0) continue;
      caffe_set(bottoms_[i]->count(), kNaN, bottoms_[i]->mutable_cpu_diff());
    }
  }

  vector<std::unique_ptr<Blob<Dtype>>> blobs_;
  vector<Blob<Dtype>*> bottoms_;
  vector<Blob<Dtype>*> tops_;
  vector<bool> propagate_down_;
  shared_ptr<Layer<Dtype>> layer_;
  BackwardReads reads_;
  vector<vector<Dtype>> results_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_TEST_BACKWARD_READS_RUN_HPP_
