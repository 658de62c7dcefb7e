#ifndef CAFFE_COMPRESS_COMPRESSED_BLOB_HPP_
#define CAFFE_COMPRESS_COMPRESSED_BLOB_HPP_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "caffe/compress/codec.hpp"
#include "caffe/memory/arena.hpp"

namespace caffe {

// What packing needs besides the values: memory for the frames, and scratch for
// every thread. Serves one CompressedBlob at a time.
class PackingRoom {
 public:
  PackingRoom() = default;
  ~PackingRoom();
  PackingRoom(const PackingRoom&) = delete;
  PackingRoom& operator=(const PackingRoom&) = delete;

  memory::Arena& frames() { return frames_; }
  const memory::Arena& frames() const { return frames_; }

  // Makes scratch for so many threads, if there is not yet.
  void Prepare(int threads);
  codec::Context& context(int thread) { return *threads_[thread].context; }
  // Room for a frame of so many bytes.
  std::span<uint8_t> FrameOf(int thread, size_t bytes);

  // Scratch, in bytes. What it takes is entered into the ledger after work.
  size_t scratch_bytes() const;
  void EnterScratch() const;

 private:
  struct PerThread {
    std::unique_ptr<codec::Context> context;
    std::vector<uint8_t> frame;
  };

  memory::Arena frames_;
  std::vector<PerThread> threads_;
};

// The values of a tensor, packed by a codec. Every frame holds some of the
// images of a batch, so that threads pack and restore them side by side and
// none needs scratch for all of it. The room must outlive the blob.
class CompressedBlob {
 public:
  // The name is for reports.
  CompressedBlob(PackingRoom* room, std::string name)
      : room_(room), name_(std::move(name)) {}
  ~CompressedBlob() { Clear(); }
  CompressedBlob(const CompressedBlob&) = delete;
  CompressedBlob& operator=(const CompressedBlob&) = delete;

  // Replaces what the blob holds. Frame i takes settings.seed + i. When the
  // codec throws, so does this, and the blob is empty.
  void Pack(const codec::ConstTensor& values, const codec::Codec& codec,
            const codec::Settings& settings);
  // Throws Error when a frame is damaged.
  // REQUIRES: room for all values of the type that was packed.
  void Unpack(float* values) const { UnpackAs(values); }
  void Unpack(double* values) const { UnpackAs(values); }
  void Clear();
  // The largest |x - x'|, of those values and what Unpack gives. Infinite when
  // a number has become something else, or the other way round.
  // REQUIRES: the values were packed.
  double LargestError(const codec::ConstTensor& values) const;

  bool empty() const { return frames_.empty(); }
  size_t raw_bytes() const { return raw_bytes_; }
  size_t packed_bytes() const { return packed_bytes_; }

 private:
  struct Frame {
    std::span<uint8_t> bytes;
    int64_t first_value = 0;
    int64_t values = 0;
  };

  template <typename Dtype>
  void UnpackAs(Dtype* values) const;
  template <typename Dtype>
  double LargestErrorOf(const Dtype* values) const;
  void PackFrame(const codec::ConstTensor& images,
                 const codec::Settings& settings, int thread, Frame* frame);

  PackingRoom* const room_;
  const std::string name_;
  const codec::Codec* codec_ = nullptr;
  std::vector<Frame> frames_;
  size_t raw_bytes_ = 0;
  size_t packed_bytes_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_COMPRESS_COMPRESSED_BLOB_HPP_
