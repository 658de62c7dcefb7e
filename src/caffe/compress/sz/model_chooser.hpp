#ifndef CAFFE_SRC_COMPRESS_SZ_MODEL_CHOOSER_HPP_
#define CAFFE_SRC_COMPRESS_SZ_MODEL_CHOOSER_HPP_

#include <array>
#include <span>

#include "compress/sz/model.hpp"

namespace caffe::codec::sz {

// Chooses a model from a sample: whether predicting pays, and the thresholds
// and frequencies that come with it.
class ModelChooser {
 public:
  // The sample is kept in memory of the caller's.
  ModelChooser(const Kernels& kernels, std::span<int8_t> memory);
  static size_t MemoryFor(size_t tokens) { return 3 * tokens; }

  // Puts the tokens of rows [first, last) of a block at `to` of the sample.
  // Several threads may put tokens to different places.
  void Add(size_t to, const int8_t* rows, size_t first, size_t last,
           size_t row);

  // Fills in the model for a tensor of `values` values and returns about how
  // many bits each of them takes.
  double Choose(uint64_t values, Model* model) const;

 private:
  // Counts of every symbol in every context, one context after the other.
  using Counts = std::array<uint32_t, kMaxContexts * kSymbols>;

  double Try(bool predict, int activity_classes, int level_classes,
             uint64_t values, Model* model) const;
  // With about so many classes, as even as the sample allows.
  ContextModel ContextFor(bool predict, int activity_classes,
                          int level_classes) const;
  Counts CountsFor(const ContextModel& context) const;

  const Kernels& kernels_;
  const size_t size_;
  int8_t* const tokens_;
  int8_t* const predictions_;
  uint8_t* const activities_;
};

}  // namespace caffe::codec::sz

#endif  // CAFFE_SRC_COMPRESS_SZ_MODEL_CHOOSER_HPP_
