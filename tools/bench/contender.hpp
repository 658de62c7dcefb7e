#ifndef CAFFE_TOOLS_BENCH_CONTENDER_HPP_
#define CAFFE_TOOLS_BENCH_CONTENDER_HPP_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor_file.hpp"

namespace caffe {

// Something that codec_bench measures: a codec of ours with its settings, or a
// rival. One object serves one tensor after the other.
class Contender {
 public:
  virtual ~Contender() = default;

  virtual std::string name() const = 0;
  // Whether it uses more than one thread.
  virtual bool is_parallel() const { return false; }
  // Whether there is something to time and to compare, and not only a size.
  virtual bool is_real() const { return true; }
  virtual bool supports(codec::DataType type) const {
    return type == codec::DataType::kFloat32;
  }

  virtual size_t MaxBytes(const Tensor& tensor) const = 0;
  // Writes to `out` and returns how much.
  virtual size_t Compress(const Tensor& tensor, double bound,
                          std::span<uint8_t> out) = 0;
  virtual void Decompress(std::span<const uint8_t> packed, double bound,
                          Tensor* tensor) = 0;
};

using Contenders = std::vector<std::unique_ptr<Contender>>;

// Adds a maker of contenders while the program starts; those whose libraries
// are not there are not linked.
struct ContenderMaker {
  ContenderMaker(int order, std::function<void(Contenders*)> make);
};

// New ones of all kinds, in the order the makers asked for.
Contenders MakeContenders();

}  // namespace caffe

#endif  // CAFFE_TOOLS_BENCH_CONTENDER_HPP_
