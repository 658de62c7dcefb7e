#include "tensor_file.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "caffe/error.hpp"
#include "util/atomic_file.hpp"

namespace caffe {

using codec::DataType;
using codec::Shape;

namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
// Headers of NumPy's own making are a hundred bytes or two.
constexpr size_t kMaxNpyHeader = 64 * 1024;

std::string Extension(const std::string& filename) {
  return std::filesystem::path(filename).extension().string();
}

// The type that a name's end stands for, unless it is .npy.
std::optional<DataType> PlainType(const std::string& filename) {
  const std::string extension = Extension(filename);
  if (extension == ".f32") return DataType::kFloat32;
  if (extension == ".f64") return DataType::kFloat64;
  Require(extension == ".npy", filename,
          ": the name of a tensor's file ends with .npy, .f32 or .f64");
  return std::nullopt;
}

// An input file that knows its name and what is left of it.
class Input {
 public:
  explicit Input(const std::string& filename)
      : filename_(filename), stream_(filename, std::ios::binary) {
    Require(stream_.good(), "cannot open ", filename, ": ",
            std::strerror(errno));
    std::error_code error;
    left_ = std::filesystem::file_size(filename, error);
    Require(!error, "cannot read ", filename, ": ", error.message());
  }

  void Read(void* to, size_t bytes) {
    Require(bytes <= left_, filename_, " ends too early");
    stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    Require(stream_.good(), "cannot read ", filename_);
    left_ -= bytes;
  }
  std::string ReadText(size_t bytes) {
    Require(bytes <= left_, filename_, " ends too early");
    std::string text(bytes, '\0');
    Read(text.data(), bytes);
    return text;
  }
  size_t left() const { return left_; }

 private:
  const std::string filename_;
  std::ifstream stream_;
  size_t left_ = 0;
};

// The text after "'key':" in a .npy header, which is a Python dictionary.
std::string NpyField(const std::string& header, const std::string& key,
                     const std::string& filename) {
  const size_t at = header.find("'" + key + "'");
  const size_t colon = at == std::string::npos ? at : header.find(':', at);
  Require(colon != std::string::npos, filename,
          " is not a .npy file: its header lacks ", key);
  return header.substr(header.find_first_not_of(" ", colon + 1));
}

Shape ParseNpyShape(const std::string& text, const std::string& filename) {
  const size_t end = text.find(')');
  Require(text.starts_with("(") && end != std::string::npos, filename,
          " is not a .npy file: it has no shape");
  std::string numbers = text.substr(1, end - 1);
  std::erase(numbers, ' ');
  if (numbers.ends_with(',')) numbers.pop_back();
  std::replace(numbers.begin(), numbers.end(), ',', 'x');
  return numbers.empty() ? Shape() : ParseShape(numbers);
}

Tensor ReadNpy(Input* in, const std::string& filename) {
  Require(in->left() >= 8 && in->ReadText(6) == kNpyMagic, filename,
          " is not a .npy file");
  uint8_t version[2];
  in->Read(version, sizeof(version));
  size_t header_bytes = 0;
  in->Read(&header_bytes, version[0] == 1 ? 2 : 4);
  Require(header_bytes <= kMaxNpyHeader, filename,
          " is not a .npy file: its header is too long");
  const std::string header = in->ReadText(header_bytes);
  const std::string descr = NpyField(header, "descr", filename);
  const bool is_float = descr.starts_with("'<f4'");
  Require(is_float || descr.starts_with("'<f8'"), filename,
          " holds neither float32 nor float64 but ",
          descr.substr(0, descr.find(',')));
  Require(NpyField(header, "fortran_order", filename).starts_with("False"),
          filename,
          " is in Fortran's order; numpy.ascontiguousarray makes C's");
  Tensor tensor(ParseNpyShape(NpyField(header, "shape", filename), filename),
                is_float ? DataType::kFloat32 : DataType::kFloat64);
  Require(tensor.bytes() == in->left(), filename, " has ", in->left(),
          " bytes of values where its shape needs ", tensor.bytes());
  return tensor;
}

// "64x3x32x32" of "name_64x3x32x32.f32", or "".
std::string ShapeInName(const std::string& filename) {
  const std::string stem = std::filesystem::path(filename).stem().string();
  const std::string last = stem.substr(stem.rfind('_') + 1);
  const bool is_shape =
      last.size() < stem.size() && !last.empty() &&
      last.find_first_not_of("0123456789x") == std::string::npos &&
      last.front() != 'x' && last.back() != 'x';
  return is_shape ? last : "";
}

Tensor ReadPlain(size_t bytes, DataType type, const std::string& filename,
                 std::string shape_text) {
  if (shape_text.empty()) shape_text = ShapeInName(filename);
  const size_t size = SizeOf(type);
  const Shape shape = shape_text.empty()
                          ? Shape{static_cast<int64_t>(bytes / size)}
                          : ParseShape(shape_text);
  Require(shape.count() * size == bytes, filename, " has ", bytes,
          " bytes where ", ShapeText(shape), " values of ", size,
          " bytes need ", shape.count() * size);
  return {shape, type};
}

std::string NpyHeader(const Tensor& tensor) {
  std::ostringstream text;
  text << "{'descr': '<f" << SizeOf(tensor.type())
       << "', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < tensor.shape().axes; ++i) {
    text << tensor.shape().extent[i] << (tensor.shape().axes == 1 ? "," : "");
    if (i + 1 < tensor.shape().axes) text << ", ";
  }
  text << "), }";
  std::string header = text.str();
  // Magic, version and length come before; values are aligned to 64 bytes.
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  const auto size = static_cast<uint16_t>(header.size());
  std::string head(kNpyMagic);
  head += {'\x01', '\0', static_cast<char>(size & 255),
           static_cast<char>(size >> 8)};
  return head + header;
}

void WriteParts(const std::string& head, std::span<const uint8_t> bytes,
                const std::string& filename) {
  AtomicFile file(filename);
  std::ofstream out(file.temporary_name(), std::ios::binary);
  out.write(head.data(), static_cast<std::streamsize>(head.size()));
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  out.close();
  Require(out.good(), "cannot write ", filename, ": ", std::strerror(errno));
  file.Commit();
}

}  // namespace

Tensor::Tensor(const Shape& shape, DataType type)
    : shape_(shape),
      type_(type),
      bytes_(static_cast<size_t>(shape.count()) * SizeOf(type)),
      data_(static_cast<uint8_t*>(
          ::operator new (bytes_, std::align_val_t{kAlignment}))) {}

codec::ConstTensor Tensor::view() const {
  return Visit(
      [&](auto values) { return codec::ConstTensor(values.data(), shape_); });
}

Shape ParseShape(const std::string& text) {
  std::vector<int64_t> extents;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    Require(
        error == std::errc() && extent >= 0 && (next == end || *next == 'x'),
        "'", text, "' is not a shape like 64x3x32x32");
    extents.push_back(extent);
    if (next == end) return Shape(std::span<const int64_t>(extents));
    at = next + 1;
  }
}

std::string ShapeText(const Shape& shape) {
  std::string text;
  for (int i = 0; i < shape.axes; ++i) {
    if (i > 0) text += 'x';
    text += std::to_string(shape.extent[i]);
  }
  return shape.axes > 0 ? text : "1 value";
}

Tensor ReadTensor(const std::string& filename, const std::string& shape) {
  const std::optional<DataType> type = PlainType(filename);
  Input in(filename);
  Tensor tensor = type ? ReadPlain(in.left(), *type, filename, shape)
                       : ReadNpy(&in, filename);
  in.Read(tensor.data(), tensor.bytes());
  return tensor;
}

void WriteTensor(const Tensor& tensor, const std::string& filename) {
  const std::optional<DataType> type = PlainType(filename);
  Require(!type || *type == tensor.type(), filename, ": the values are ",
          tensor.type() == DataType::kFloat32
              ? "float32; name it .f32 or .npy"
              : "float64; name it .f64 or .npy");
  WriteParts(type ? "" : NpyHeader(tensor), {tensor.data(), tensor.bytes()},
             filename);
}

std::vector<uint8_t> ReadBytes(const std::string& filename) {
  Input in(filename);
  std::vector<uint8_t> bytes(in.left());
  in.Read(bytes.data(), bytes.size());
  return bytes;
}

void WriteBytes(std::span<const uint8_t> bytes, const std::string& filename) {
  WriteParts("", bytes, filename);
}

}  // namespace caffe
