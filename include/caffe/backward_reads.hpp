#ifndef CAFFE_BACKWARD_READS_HPP_
#define CAFFE_BACKWARD_READS_HPP_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe/syncedmem.hpp"

namespace caffe {

// What Backward reads of values that Forward left: it decides in what form
// they are kept in between.
enum class BackwardRead : uint8_t {
  // Nothing: they may be dropped.
  kNothing,
  // Which of them are zero.
  kNonZero,
  // Which of them are positive.
  kSign,
  // The values, within an error bound. Zeros stay zeros, but signs may flip.
  kValues,
  // The very values.
  kExact,
};

// What a layer's Backward reads. A layer that says nothing is taken to read
// everything exactly, and to expect its memory as it left it: its bottoms, tops
// and their gradients are never touched.
//
// Layers that do declare their reads promise more: Forward and Backward write
// every value of their tops and of the bottom diffs they are asked for.
struct BackwardReads {
  // Memory of the layer's own that it keeps from Forward to Backward.
  struct Buffer {
    std::string name;
    shared_ptr<SyncedMemory> memory;
    BackwardRead read;
  };

  // The last entry also stands for the bottoms, or tops, after it.
  std::vector<BackwardRead> bottoms = {BackwardRead::kExact};
  std::vector<BackwardRead> tops = {BackwardRead::kExact};
  // Only what the layer's last Forward made; those to be kept exactly need not
  // be listed.
  std::vector<Buffer> buffers;
  bool is_declared = false;

  BackwardRead OfBottom(size_t i) const { return At(bottoms, i); }
  BackwardRead OfTop(size_t i) const { return At(tops, i); }

  // Declares reads of bottoms and tops.
  static BackwardReads Of(std::vector<BackwardRead> bottoms,
                          std::vector<BackwardRead> tops) {
    return {.bottoms = std::move(bottoms),
            .tops = std::move(tops),
            .buffers = {},
            .is_declared = true};
  }
  // For layers whose Backward reads all bottoms alike and no top.
  static BackwardReads OfBottoms(BackwardRead read) {
    return Of({read}, {BackwardRead::kNothing});
  }
  // For layers whose Backward only looks at gradients.
  static BackwardReads Nothing() { return OfBottoms(BackwardRead::kNothing); }

 private:
  static BackwardRead At(const std::vector<BackwardRead>& reads, size_t i) {
    return reads.empty() ? BackwardRead::kNothing
                         : reads[std::min(i, reads.size() - 1)];
  }
};

}  // namespace caffe

#endif  // CAFFE_BACKWARD_READS_HPP_
