#ifndef CAFFE_TOOLS_TENSOR_FILE_HPP_
#define CAFFE_TOOLS_TENSOR_FILE_HPP_

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "caffe/compress/codec.hpp"

// Files of single tensors: .npy (NumPy's, of float32 or float64 in C order),
// and .f32 and .f64, which are nothing but the values and may have the shape
// at the end of their names, as in conv1_64x96x55x55.f32.

namespace caffe {

// A tensor and its memory.
class Tensor {
 public:
  // With undefined values.
  Tensor(const codec::Shape& shape, codec::DataType type);

  const codec::Shape& shape() const { return shape_; }
  codec::DataType type() const { return type_; }
  size_t bytes() const { return bytes_; }
  size_t count() const { return static_cast<size_t>(shape_.count()); }
  uint8_t* data() { return data_.get(); }
  const uint8_t* data() const { return data_.get(); }

  codec::ConstTensor view() const;
  // Calls body(span) with the values as what they are.
  template <typename Body>
  auto Visit(const Body& body) const {
    return type_ == codec::DataType::kFloat32 ? body(Values<float>())
                                              : body(Values<double>());
  }
  // REQUIRES: T is the type.
  template <typename T>
  std::span<const T> Values() const {
    return {reinterpret_cast<const T*>(data_.get()), count()};
  }
  template <typename T>
  std::span<T> MutableValues() {
    return {reinterpret_cast<T*>(data_.get()), count()};
  }

 private:
  codec::Shape shape_;
  codec::DataType type_;
  size_t bytes_;
  // As aligned as the memory of nets is.
  static constexpr size_t kAlignment = 64;
  struct Free {
    void operator()(uint8_t* data) const {
      ::operator delete (data, std::align_val_t{kAlignment});
    }
  };
  std::unique_ptr<uint8_t, Free> data_;
};

// "64x3x32x32" to a shape. Throws Error when it is none.
codec::Shape ParseShape(const std::string& text);
std::string ShapeText(const codec::Shape& shape);

// Reads a tensor from a file; what it is, the name's end says. A shape is
// needed for .f32 and .f64 files of more than one axis that have it not in
// their names; otherwise leave it empty. Throws Error with the file's name.
Tensor ReadTensor(const std::string& filename, const std::string& shape = "");

// Writes a tensor in the format that the name's end asks for. The file is
// replaced as a whole.
void WriteTensor(const Tensor& tensor, const std::string& filename);

// Whole files of bytes.
std::vector<uint8_t> ReadBytes(const std::string& filename);
void WriteBytes(std::span<const uint8_t> bytes, const std::string& filename);

}  // namespace caffe

#endif  // CAFFE_TOOLS_TENSOR_FILE_HPP_
