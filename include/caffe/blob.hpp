#ifndef CAFFE_BLOB_HPP_
#define CAFFE_BLOB_HPP_

#include <algorithm>
#include <string>
#include <vector>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"
#include "caffe/syncedmem.hpp"

const int kMaxBlobAxes = 32;

namespace caffe {

// While one of these is there, blobs that the thread reshapes give up what
// their new shape does not need; values and gradients go with it.
class TightReshape {
 public:
  TightReshape();
  ~TightReshape();
  TightReshape(const TightReshape&) = delete;
  TightReshape& operator=(const TightReshape&) = delete;

  static bool is_on();

 private:
  const bool was_on_;
};

// A shaped array of values (data) and of their gradients (diff), row-major,
// usually N x C x H x W. Data and diff are SyncedMemory that other Blobs may
// share. Reshape only allocates when the blob has to grow (but see
// TightReshape). Not thread-safe.
template <typename Dtype>
class Blob {
 public:
  Blob() = default;
  explicit Blob(const int num, const int channels, const int height,
                const int width);
  explicit Blob(const vector<int>& shape);

  void Reshape(const int num, const int channels, const int height,
               const int width);
  // Throws Error for more than kMaxBlobAxes axes, a negative extent, or more
  // values than an int can count.
  void Reshape(const vector<int>& shape);
  void Reshape(const BlobShape& shape);
  void ReshapeLike(const Blob& other);

  // For example "64 3 32 32 (196608)".
  string shape_string() const;
  const vector<int>& shape() const { return shape_; }
  // Negative indices count from the last axis.
  int shape(int index) const { return shape_[CanonicalAxisIndex(index)]; }
  int num_axes() const { return static_cast<int>(shape_.size()); }
  int count() const { return count_; }
  // Product of the extents of the axes [start_axis, end_axis).
  int count(int start_axis, int end_axis) const;
  int count(int start_axis) const { return count(start_axis, num_axes()); }
  int CanonicalAxisIndex(int axis_index) const;

  // The four legacy extents; only for blobs of at most four axes, where
  // missing ones count as 1.
  int num() const { return LegacyShape(0); }
  int channels() const { return LegacyShape(1); }
  int height() const { return LegacyShape(2); }
  int width() const { return LegacyShape(3); }
  int LegacyShape(int index) const;

  int offset(const int n, const int c = 0, const int h = 0,
             const int w = 0) const;
  int offset(const vector<int>& indices) const;

  // Copies data, or diff, from a blob of the same shape or, with `reshape`, of
  // any shape.
  void CopyFrom(const Blob<Dtype>& source, bool copy_diff = false,
                bool reshape = false);

  Dtype data_at(const int n, const int c, const int h, const int w) const {
    return cpu_data()[offset(n, c, h, w)];
  }
  Dtype diff_at(const int n, const int c, const int h, const int w) const {
    return cpu_diff()[offset(n, c, h, w)];
  }
  Dtype data_at(const vector<int>& index) const {
    return cpu_data()[offset(index)];
  }
  Dtype diff_at(const vector<int>& index) const {
    return cpu_diff()[offset(index)];
  }

  const shared_ptr<SyncedMemory>& data() const;
  const shared_ptr<SyncedMemory>& diff() const;

  const Dtype* cpu_data() const;
  void set_cpu_data(Dtype* data);
  const int* gpu_shape() const;
  const Dtype* gpu_data() const;
  void set_gpu_data(Dtype* data);
  const Dtype* cpu_diff() const;
  const Dtype* gpu_diff() const;
  Dtype* mutable_cpu_data();
  Dtype* mutable_gpu_data();
  Dtype* mutable_cpu_diff();
  Dtype* mutable_gpu_diff();

  // data -= diff.
  void Update();

  // Throws Error when the proto's shape and values do not agree, or, without
  // `reshape`, when its shape is not this blob's.
  void FromProto(const BlobProto& proto, bool reshape = true);
  void ToProto(BlobProto* proto, bool write_diff = false) const;

  // Sums of absolute values and of squares; scaling in place.
  Dtype asum_data() const;
  Dtype asum_diff() const;
  Dtype sumsq_data() const;
  Dtype sumsq_diff() const;
  void scale_data(Dtype scale_factor);
  void scale_diff(Dtype scale_factor);

  // What the memory is for, in reports; gradients are gradients.
  void SetLabel(memory::Kind kind, const string& name);

  // Makes this blob use the other's memory, whose count must be the same.
  void ShareData(const Blob& other);
  void ShareDiff(const Blob& other);

  bool ShapeEquals(const BlobProto& other);

 protected:
  shared_ptr<SyncedMemory> data_;
  shared_ptr<SyncedMemory> diff_;
  shared_ptr<SyncedMemory> shape_data_;
  vector<int> shape_;
  int count_ = 0;
  int capacity_ = 0;

  DISABLE_COPY_AND_ASSIGN(Blob);
};

}  // namespace caffe

#endif  // CAFFE_BLOB_HPP_
