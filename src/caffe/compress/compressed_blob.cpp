#include "caffe/compress/compressed_blob.hpp"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "cpu/moments.hpp"

namespace caffe {

namespace {

// Enough values that the tables of a frame do not count, few enough that they
// stay in a core's cache from one stage to the next.
constexpr size_t kFrameBytes = 2 << 20;

// Calls work(i, thread) for every i below n on OpenMP's threads, and throws on
// what the first call that failed has thrown.
template <typename Work>
void ForEach(int64_t n, const Work& work) {
  // One piece of work spreads over the threads itself. Not even from a region
  // of one thread, where OpenMP would start new ones every time.
  if (n == 1) return work(0, 0);
  std::vector<std::exception_ptr> errors(n);
#pragma omp parallel for schedule(dynamic)
  for (int64_t i = 0; i < n; ++i) {
    try {
      work(i, omp_get_thread_num());
    } catch (...) {
      errors[i] = std::current_exception();
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

codec::ConstTensor ImagesOf(const codec::ConstTensor& tensor, int64_t first,
                            int64_t count) {
  codec::ConstTensor images = tensor;
  if (tensor.shape.axes == 0) return images;
  images.shape.extent[0] = count;
  images.data = static_cast<const char*>(tensor.data) +
                first * tensor.shape.image_values() * SizeOf(tensor.type);
  return images;
}

}  // namespace

PackingRoom::~PackingRoom() { memory::Ledger::Get().Remove(&threads_); }

void PackingRoom::Prepare(int threads) {
  while (static_cast<int>(threads_.size()) < threads) {
    threads_.push_back({std::make_unique<codec::Context>(), {}});
  }
}

std::span<uint8_t> PackingRoom::FrameOf(int thread, size_t bytes) {
  std::vector<uint8_t>& frame = threads_[thread].frame;
  if (frame.size() < bytes) frame.resize(bytes);
  return {frame.data(), bytes};
}

size_t PackingRoom::scratch_bytes() const {
  size_t bytes = 0;
  for (const PerThread& thread : threads_) {
    bytes += thread.context->bytes() + thread.frame.capacity();
  }
  return bytes;
}

void PackingRoom::EnterScratch() const {
  // The room starts where its arena does, which is entered itself.
  memory::Ledger::Get().Add(&threads_, scratch_bytes(),
                            {memory::Kind::kWorkspace, "packing"});
}

void CompressedBlob::PackFrame(const codec::ConstTensor& images,
                               const codec::Settings& settings, int thread,
                               Frame* frame) {
  const std::span<uint8_t> scratch =
      room_->FrameOf(thread, codec_->MaxBytes(images.shape, images.type));
  const size_t bytes =
      codec_->Compress(images, settings, room_->context(thread), scratch);
  uint8_t* memory = nullptr;
#pragma omp critical(caffe_packing_room)
  memory = static_cast<uint8_t*>(
      room_->frames().Allocate(bytes, {memory::Kind::kPacked, name_}));
  std::memcpy(memory, scratch.data(), bytes);
  frame->bytes = {memory, bytes};
}

void CompressedBlob::Pack(const codec::ConstTensor& values,
                          const codec::Codec& codec,
                          const codec::Settings& settings) {
  Clear();
  room_->Prepare(omp_get_max_threads());
  codec_ = &codec;
  const int64_t images = values.shape.images();
  const int64_t image_values = values.shape.image_values();
  const int64_t image_bytes = image_values * SizeOf(values.type);
  const int64_t step = std::max<int64_t>(
      1, static_cast<int64_t>(kFrameBytes) / std::max<int64_t>(1, image_bytes));
  const int64_t frames = std::max<int64_t>(1, (images + step - 1) / step);
  frames_.resize(frames);
  try {
    ForEach(frames, [&](int64_t i, int thread) {
      const int64_t first = i * step;
      const int64_t count = std::min(step, images - first);
      frames_[i].first_value = first * image_values;
      frames_[i].values = count * image_values;
      codec::Settings own = settings;
      own.seed += static_cast<uint32_t>(i);
      PackFrame(ImagesOf(values, first, count), own, thread, &frames_[i]);
    });
  } catch (...) {
    Clear();
    throw;
  }
  room_->EnterScratch();
  raw_bytes_ = images * image_bytes;
  for (const Frame& frame : frames_) packed_bytes_ += frame.bytes.size();
}

template <typename Dtype>
void CompressedBlob::UnpackAs(Dtype* values) const {
  room_->Prepare(omp_get_max_threads());
  ForEach(static_cast<int64_t>(frames_.size()), [&](int64_t i, int thread) {
    const Frame& frame = frames_[i];
    codec_->Decompress(frame.bytes, codec::ImageRange(), room_->context(thread),
                       std::span<Dtype>(values + frame.first_value,
                                        static_cast<size_t>(frame.values)));
  });
  room_->EnterScratch();
}

template <typename Dtype>
double CompressedBlob::LargestErrorOf(const Dtype* values) const {
  std::vector<double> errors(frames_.size());
  ForEach(static_cast<int64_t>(frames_.size()), [&](int64_t i, int thread) {
    const Frame& frame = frames_[i];
    const auto size = static_cast<size_t>(frame.values);
    auto* const unpacked = reinterpret_cast<Dtype*>(
        room_->FrameOf(thread, size * sizeof(Dtype)).data());
    codec_->Decompress(frame.bytes, codec::ImageRange(), room_->context(thread),
                       std::span<Dtype>(unpacked, size));
    errors[i] = cpu::LargestDifference(frame.values, values + frame.first_value,
                                       unpacked);
  });
  return *std::max_element(errors.begin(), errors.end());
}

double CompressedBlob::LargestError(const codec::ConstTensor& values) const {
  return values.type == codec::DataType::kFloat32
             ? LargestErrorOf(static_cast<const float*>(values.data))
             : LargestErrorOf(static_cast<const double*>(values.data));
}

void CompressedBlob::Clear() {
  for (const Frame& frame : frames_) {
    if (frame.bytes.data() != nullptr) room_->frames().Free(frame.bytes.data());
  }
  frames_.clear();
  raw_bytes_ = 0;
  packed_bytes_ = 0;
}

template void CompressedBlob::UnpackAs(float* values) const;
template void CompressedBlob::UnpackAs(double* values) const;

}  // namespace caffe
