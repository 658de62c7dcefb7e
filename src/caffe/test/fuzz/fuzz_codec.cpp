#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "codec_any_frame.hpp"
#include "codec_promises.hpp"

// libFuzzer's way in. The first byte says what to do with the others: take them
// for a frame, as it is or with its checksums removed so that damage reaches
// the codec; or for settings and values, which must come back as promised.
namespace caffe::codec {
namespace {

enum Task : uint8_t { kFrame, kFrameWithoutChecksum, kValues, kTasks };

// Makes a header's fields that guard the others agree with what is there.
void RemoveChecksum(std::vector<uint8_t>* frame) {
  constexpr size_t kAxes = 6, kFlags = 7, kPayload = 16, kCovered = 24;
  if (frame->size() <= kAxes) return;
  const size_t header = 32 + 8 * ((*frame)[kAxes] & 7);
  if (frame->size() < header) return;
  const uint64_t payload = frame->size() - header;
  (*frame)[kFlags] = 0;
  std::memcpy(frame->data() + kPayload, &payload, sizeof(payload));
  std::memset(frame->data() + kCovered, 0, 4);
  std::memset(frame->data() + header - 4, 0, 4);
}

template <typename T>
void RoundTrip(const Codec& codec, const Settings& settings,
               std::span<const uint8_t> bytes, int64_t row) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (values.empty()) return;
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  const auto count = static_cast<int64_t>(values.size());
  // Rows where they come out even.
  const Shape shape =
      row > 0 && count % row == 0 ? Shape{1, count / row, row} : Shape{count};
  Context context;
  const ConstTensor in(values.data(), shape);
  std::vector<uint8_t> frame(codec.MaxBytes(shape, in.type));
  frame.resize(codec.Compress(in, settings, context, frame));
  std::vector<T> restored(values.size());
  codec.Decompress(frame, {}, context, std::span<T>(restored));
  const std::string broken = BrokenPromise(codec, values, restored, settings);
  if (broken.empty()) return;
  std::fprintf(stderr, "%s: %s\n", std::string(codec.name()).c_str(),
               broken.c_str());
  std::abort();
}

void RoundTrip(std::span<const uint8_t> bytes) {
  constexpr size_t kHead = 8;
  if (bytes.size() < kHead) return;
  const auto codecs = Codecs();
  const Codec& codec = *codecs[bytes[0] % codecs.size()];
  float bound;
  std::memcpy(&bound, &bytes[4], sizeof(bound));
  Settings settings;
  settings.bound = std::isfinite(bound) ? std::abs(bound) : 0.1;
  settings.level = static_cast<Level>(bytes[1] & 1);
  settings.rounding = static_cast<Rounding>(bytes[1] >> 1 & 1);
  settings.seed = bytes[2];
  const auto values = bytes.subspan(kHead);
  if ((bytes[1] & 4) != 0) {
    RoundTrip<double>(codec, settings, values, bytes[3]);
  } else {
    RoundTrip<float>(codec, settings, values, bytes[3]);
  }
}

}  // namespace
}  // namespace caffe::codec

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace caffe::codec;
  if (size == 0) return 0;
  const std::span<const uint8_t> rest(data + 1, size - 1);
  std::vector<uint8_t> frame(rest.begin(), rest.end());
  Context context;
  switch (data[0] % kTasks) {
    case kValues:
      RoundTrip(rest);
      break;
    case kFrameWithoutChecksum:
      RemoveChecksum(&frame);
      [[fallthrough]];
    default:
      DecodesAnything(frame, context);
  }
  return 0;
}
