#include "caffe/compress/codec.hpp"

#include <omp.h>

#include <charconv>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "caffe/error.hpp"
#include "codec_measures.hpp"
#include "gflags/gflags.h"
#include "tensor_file.hpp"
#include "tool.hpp"

DEFINE_string(codec, "sz", "The codec to compress with; codec list names all.");
DEFINE_double(bound, -1,
              "The largest error, absolute. Takes precedence over "
              "--relative_bound. Only sz obeys it.");
DEFINE_double(relative_bound, 0.1,
              "The largest error in standard deviations of the values.");
DEFINE_string(rounding, "nearest",
              "nearest (never flips a sign) or dither (no bias).");
DEFINE_string(level, "dense", "dense or fast.");
DEFINE_uint32(seed, 0, "Of dither and of stochastic rounding.");
DEFINE_bool(checksum, true, "Whether damage is to be noticed later.");
DEFINE_string(shape, "",
              "The shape of a .f32 or .f64 file, like 64x3x32x32, unless its "
              "name ends with it.");
DEFINE_string(
    images, "",
    "Decompress only these images of the batch: FIRST or FIRST:COUNT.");
DEFINE_int32(threads, 0,
             "Threads to work with; 0 for as many as OpenMP chooses.");

namespace caffe {

namespace {

using codec::Codec;
using codec::FrameInfo;

constexpr char kUsage[] =
    R"(usage: codec compress IN OUT | decompress IN OUT | inspect FILE | list
Compresses tensors as training does with activations, and brings them back.

  compress    a tensor to a compressed one; says how much smaller it is and
              what the largest error is
  decompress  a compressed tensor to a tensor
  inspect     tells what a compressed tensor is, and whether it is whole
  list        names the codecs and what they guarantee

Tensors are .npy files (float32 or float64, C order), or .f32 and .f64 files:
values only, whose shape is given by --shape or by their names, as in
conv1_64x96x55x55.f32. docs/codec_format.md describes compressed tensors.

Examples:
  codec compress conv1_64x96x55x55.f32 conv1.cfz --relative_bound=0.05
  codec compress conv1.npy conv1.cfz --bound=0.01 --rounding=dither --seed=7
  codec inspect conv1.cfz
  codec decompress conv1.cfz back.npy --images=3:2
)";

template <typename T>
T Choose(const std::string& flag, const std::string& text,
         const std::vector<std::pair<std::string, T>>& choices) {
  std::string names;
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
    names += (names.empty() ? "" : " or ") + name;
  }
  Fail("--", flag, " must be ", names, ", not '", text, "'");
}

codec::Settings SettingsFor(const Tensor& tensor) {
  codec::Settings settings;
  settings.bound = FLAGS_bound >= 0
                       ? FLAGS_bound
                       : FLAGS_relative_bound * StandardDeviation(tensor);
  Require(settings.bound >= 0, "the bound must not be negative");
  settings.rounding =
      Choose<codec::Rounding>("rounding", FLAGS_rounding,
                              {{"nearest", codec::Rounding::kNearest},
                               {"dither", codec::Rounding::kDither}});
  settings.level = Choose<codec::Level>(
      "level", FLAGS_level,
      {{"dense", codec::Level::kDense}, {"fast", codec::Level::kFast}});
  settings.seed = FLAGS_seed;
  settings.checksum = FLAGS_checksum;
  return settings;
}

std::string BoundText(double bound) {
  if (std::isinf(bound)) return "none";
  if (bound == 0) return "0 (exact)";
  std::ostringstream text;
  text << bound;
  return text.str();
}

codec::ImageRange ParseImages(const std::string& text) {
  if (text.empty()) return {};
  codec::ImageRange range{0, 1};
  const char* const end = text.data() + text.size();
  auto result = std::from_chars(text.data(), end, range.first);
  if (result.ec == std::errc() && result.ptr != end && *result.ptr == ':') {
    result = std::from_chars(result.ptr + 1, end, range.count);
  }
  Require(result.ec == std::errc() && result.ptr == end && range.first >= 0 &&
              range.count >= 0,
          "--images must be FIRST or FIRST:COUNT, not '", text, "'");
  return range;
}

Tensor Decompressed(std::span<const uint8_t> frame, const FrameInfo& info,
                    const codec::ImageRange& range) {
  codec::Shape shape = info.shape;
  if (shape.axes > 0 && range.count >= 0) shape.extent[0] = range.count;
  Tensor tensor(shape, info.type);
  codec::Context context;
  DecompressInto(codec::FindCodec(info), frame, range, context, &tensor);
  return tensor;
}

int Compress(const std::string& in, const std::string& out) {
  const Tensor tensor = ReadTensor(in, FLAGS_shape);
  const Codec& codec = codec::FindCodec(FLAGS_codec);
  codec::Context context;
  std::vector<uint8_t> frame(codec.MaxBytes(tensor.shape(), tensor.type()));
  frame.resize(
      codec.Compress(tensor.view(), SettingsFor(tensor), context, frame));
  WriteBytes(frame, out);

  const FrameInfo info = codec::Inspect(frame);
  const Errors errors = Compare(tensor, Decompressed(frame, info, {}));
  std::cout << out << ": " << tensor.bytes() << " bytes to " << frame.size()
            << std::fixed << std::setprecision(2) << " ("
            << static_cast<double>(tensor.bytes()) / frame.size()
            << " times smaller)" << std::defaultfloat << std::setprecision(6)
            << ", largest error " << errors.largest << ", bound "
            << BoundText(info.bound) << ", zeros kept "
            << 100 * errors.zeros_kept << " %\n";
  return 0;
}

int Decompress(const std::string& in, const std::string& out) {
  const std::vector<uint8_t> frame = ReadBytes(in);
  try {
    const FrameInfo info = codec::Inspect(frame);
    const codec::ImageRange range = ParseImages(FLAGS_images);
    Require(
        range.count < 0 || (range.first <= info.shape.images() &&
                            range.count <= info.shape.images() - range.first),
        "there are only ", info.shape.images(), " images");
    const Tensor tensor = Decompressed(frame, info, range);
    WriteTensor(tensor, out);
    std::cout << out << ": " << ShapeText(tensor.shape()) << '\n';
  } catch (const Error& error) {
    Fail(in, ": ", error.what());
  }
  return 0;
}

int InspectFile(const std::string& in) {
  const std::vector<uint8_t> frame = ReadBytes(in);
  try {
    const FrameInfo info = codec::Inspect(frame);
    const Codec& codec = codec::FindCodec(info);
    const double raw = static_cast<double>(info.shape.count()) *
                       static_cast<double>(SizeOf(info.type));
    std::cout << "codec      " << codec.name() << " (number " << int{info.codec}
              << ")\n"
              << "guarantee  " << codec.guarantee() << '\n'
              << "type       "
              << (info.type == codec::DataType::kFloat32 ? "float32"
                                                         : "float64")
              << '\n'
              << "shape      " << ShapeText(info.shape) << '\n'
              << "bound      " << BoundText(info.bound) << '\n'
              << "size       " << frame.size() << " bytes" << std::fixed
              << std::setprecision(2) << " (" << raw / frame.size()
              << " times smaller)\n"
              << "checksum   " << (info.has_checksum ? "yes" : "no")
              << std::endl;
    Decompressed(frame, info, {});
    std::cout << "contents   "
              << (info.has_checksum ? "whole" : "readable, not verified")
              << '\n';
  } catch (const Error& error) {
    Fail(in, ": ", error.what());
  }
  return 0;
}

int List() {
  for (const Codec* const codec : codec::Codecs()) {
    std::cout << std::left << std::setw(10) << codec->name()
              << codec->guarantee() << '\n';
  }
  return 0;
}

int Run(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  const int files = command == "compress" || command == "decompress" ? 2
                    : command == "inspect"                           ? 1
                    : command == "list"                              ? 0
                                                                     : -1;
  RequireUsage(files >= 0 && argc == files + 2, kUsage);
  Require(FLAGS_threads >= 0, "--threads must not be negative");
  if (FLAGS_threads > 0) omp_set_num_threads(FLAGS_threads);
  if (command == "compress") return Compress(argv[2], argv[3]);
  if (command == "decompress") return Decompress(argv[2], argv[3]);
  if (command == "inspect") return InspectFile(argv[2]);
  return List();
}

}  // namespace

}  // namespace caffe

int main(int argc, char** argv) {
  return caffe::RunTool("codec", argc, argv, caffe::kUsage, caffe::Run);
}
