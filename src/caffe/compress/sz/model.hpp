#ifndef CAFFE_SRC_COMPRESS_SZ_MODEL_HPP_
#define CAFFE_SRC_COMPRESS_SZ_MODEL_HPP_

#include <span>
#include <vector>

#include "compress/frame.hpp"
#include "compress/sz/kernels.hpp"

namespace caffe::codec::sz {

// What DENSE sends once a frame: how contexts are made, and how frequent every
// symbol is in each of them.
struct Model {
  ContextModel context;
  // Out of kProbabilityScale, for each context; kEscape has one everywhere.
  uint16_t frequency[kMaxContexts][kSymbols];
};

void MakeTables(const Model& model, EncodeTables* tables);
void MakeTables(const Model& model, DecodeTables* tables);

// What WriteModel writes at most.
constexpr size_t kMaxModelBytes = 8 + 32 + kMaxContexts * kSymbols * 2;
// Returns the bytes written.
size_t WriteModel(const Model& model, uint8_t* to);
// Throws Error when it is not what WriteModel wrote.
void ReadModel(ByteReader* in, Model* model);

// Chooses a model from a sample: whether predicting pays, and the thresholds
// and frequencies that come with it.
class ModelChooser {
 public:
  // `sample` holds up to `capacity` tokens, in memory of the caller's.
  ModelChooser(const Kernels& kernels, std::span<int8_t> memory);
  static size_t MemoryFor(size_t capacity) { return 3 * capacity; }

  // Adds the tokens of rows [first, last) of a block.
  void Add(const int8_t* rows, size_t first, size_t last, size_t row);

  // Fills in the model for a tensor of `values` values and returns about how
  // many bits each of them takes.
  double Choose(uint64_t values, Model* model) const;

 private:
  double Try(bool predict, int activity_classes, int level_classes,
             uint64_t values, Model* model) const;

  const Kernels& kernels_;
  const size_t capacity_;
  int8_t* const tokens_;
  int8_t* const predictions_;
  uint8_t* const activities_;
  size_t size_ = 0;
};

}  // namespace caffe::codec::sz

#endif  // CAFFE_SRC_COMPRESS_SZ_MODEL_HPP_
