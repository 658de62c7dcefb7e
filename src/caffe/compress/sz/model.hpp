#ifndef CAFFE_SRC_COMPRESS_SZ_MODEL_HPP_
#define CAFFE_SRC_COMPRESS_SZ_MODEL_HPP_

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

}  // namespace caffe::codec::sz

#endif  // CAFFE_SRC_COMPRESS_SZ_MODEL_HPP_
