#include "caffe/blob.hpp"

#include <type_traits>

#include "caffe/util/math_functions.hpp"

namespace caffe {

namespace {

vector<int> LegacyExtents(const BlobProto& proto) {
  return {proto.num(), proto.channels(), proto.height(), proto.width()};
}

bool HasLegacyShape(const BlobProto& proto) {
  return proto.has_num() || proto.has_channels() || proto.has_height() ||
         proto.has_width();
}

vector<int> ExtentsOf(const BlobShape& shape) {
  vector<int> extents(shape.dim_size());
  for (int i = 0; i < shape.dim_size(); ++i) {
    Require(shape.dim(i) >= 0 && shape.dim(i) <= INT_MAX, "extent ",
            shape.dim(i), " of axis ", i, " is out of range");
    extents[i] = static_cast<int>(shape.dim(i));
  }
  return extents;
}

template <typename Dtype, typename Values>
void CopyValues(const Values& values, const char* what, int count, Dtype* to) {
  Require(values.size() == count, "has ", values.size(), " ", what,
          " values where its shape asks for ", count);
  std::copy(values.begin(), values.end(), to);
}

template <typename Dtype>
Dtype Asum(int count, const Dtype* x) {
  if constexpr (std::is_floating_point_v<Dtype>) {
    return caffe_cpu_asum(count, x);
  } else {
    NOT_IMPLEMENTED;
    return 0;
  }
}

template <typename Dtype>
Dtype Sumsq(int count, const Dtype* x) {
  if constexpr (std::is_floating_point_v<Dtype>) {
    return caffe_cpu_dot(count, x, x);
  } else {
    NOT_IMPLEMENTED;
    return 0;
  }
}

template <typename Dtype>
void Scale(int count, Dtype factor, Dtype* x) {
  if constexpr (std::is_floating_point_v<Dtype>) {
    caffe_scal(count, factor, x);
  } else {
    NOT_IMPLEMENTED;
  }
}

// Fresh memory for the same purpose.
void Grow(size_t bytes, shared_ptr<SyncedMemory>* memory) {
  auto grown = boost::make_shared<SyncedMemory>(bytes);
  if (*memory != nullptr) grown->set_label((*memory)->label());
  *memory = std::move(grown);
}

bool IsTouched(const shared_ptr<SyncedMemory>& memory) {
  return memory && (memory->head() != SyncedMemory::UNINITIALIZED ||
                    memory->is_evicted());
}

thread_local bool reshapes_tightly = false;

}  // namespace

TightReshape::TightReshape() : was_on_(reshapes_tightly) {
  reshapes_tightly = true;
}
TightReshape::~TightReshape() { reshapes_tightly = was_on_; }
bool TightReshape::is_on() { return reshapes_tightly; }

template <typename Dtype>
Blob<Dtype>::Blob(const int num, const int channels, const int height,
                  const int width) {
  Reshape(num, channels, height, width);
}

template <typename Dtype>
Blob<Dtype>::Blob(const vector<int>& shape) {
  Reshape(shape);
}

template <typename Dtype>
void Blob<Dtype>::Reshape(const int num, const int channels, const int height,
                          const int width) {
  Reshape(vector<int>{num, channels, height, width});
}

template <typename Dtype>
void Blob<Dtype>::Reshape(const vector<int>& shape) {
  Require(shape.size() <= kMaxBlobAxes, "a blob cannot have ", shape.size(),
          " axes; the most is ", kMaxBlobAxes);
  int64_t count = 1;
  for (const int extent : shape) {
    Require(extent >= 0, "a blob cannot have the negative extent ", extent);
    count *= extent;
    Require(count <= INT_MAX, "a blob cannot hold more than ", INT_MAX,
            " values");
  }
  count_ = static_cast<int>(count);
  if (shape != shape_) {
    shape_ = shape;
    shape_data_.reset();
  }
  const bool is_loose = count_ < capacity_ && TightReshape::is_on();
  if (count_ > capacity_ || is_loose || !data_) {
    capacity_ = count_;
    Grow(capacity_ * sizeof(Dtype), &data_);
    Grow(capacity_ * sizeof(Dtype), &diff_);
  }
}

template <typename Dtype>
void Blob<Dtype>::Reshape(const BlobShape& shape) {
  Reshape(ExtentsOf(shape));
}

template <typename Dtype>
void Blob<Dtype>::ReshapeLike(const Blob<Dtype>& other) {
  Reshape(other.shape());
}

template <typename Dtype>
void Blob<Dtype>::SetLabel(memory::Kind kind, const string& name) {
  if (data_) data_->set_label({kind, name});
  const memory::Kind gradients = kind == memory::Kind::kParameters
                                     ? memory::Kind::kParameterGradients
                                     : memory::Kind::kGradients;
  if (diff_) diff_->set_label({gradients, name});
}

template <typename Dtype>
string Blob<Dtype>::shape_string() const {
  ostringstream stream;
  for (const int extent : shape_) stream << extent << " ";
  stream << "(" << count_ << ")";
  return stream.str();
}

template <typename Dtype>
int Blob<Dtype>::count(int start_axis, int end_axis) const {
  CHECK_LE(start_axis, end_axis);
  CHECK_GE(start_axis, 0);
  CHECK_LE(end_axis, num_axes());
  int product = 1;
  for (int i = start_axis; i < end_axis; ++i) product *= shape_[i];
  return product;
}

template <typename Dtype>
int Blob<Dtype>::CanonicalAxisIndex(int axis_index) const {
  // Asked for too often to write the message in any case.
  if (axis_index < -num_axes() || axis_index >= num_axes()) {
    Fail("axis ", axis_index, " is out of range for a blob of shape ",
         shape_string());
  }
  return axis_index < 0 ? axis_index + num_axes() : axis_index;
}

template <typename Dtype>
int Blob<Dtype>::LegacyShape(int index) const {
  if (num_axes() > 4) {
    Fail("num, channels, height and width need a blob of at most 4 axes, not ",
         "of shape ", shape_string());
  }
  CHECK_GE(index, -4);
  CHECK_LT(index, 4);
  if (index >= num_axes() || index < -num_axes()) return 1;
  return shape(index);
}

template <typename Dtype>
int Blob<Dtype>::offset(const int n, const int c, const int h,
                        const int w) const {
  DCHECK_GE(n, 0);
  DCHECK_LE(n, num());
  DCHECK_GE(c, 0);
  DCHECK_LE(c, channels());
  DCHECK_GE(h, 0);
  DCHECK_LE(h, height());
  DCHECK_GE(w, 0);
  DCHECK_LE(w, width());
  return ((n * channels() + c) * height() + h) * width() + w;
}

template <typename Dtype>
int Blob<Dtype>::offset(const vector<int>& indices) const {
  CHECK_LE(static_cast<int>(indices.size()), num_axes());
  int position = 0;
  for (int i = 0; i < num_axes(); ++i) {
    position *= shape_[i];
    if (i < static_cast<int>(indices.size())) {
      DCHECK_GE(indices[i], 0);
      DCHECK_LT(indices[i], shape_[i]);
      position += indices[i];
    }
  }
  return position;
}

template <typename Dtype>
void Blob<Dtype>::CopyFrom(const Blob& source, bool copy_diff, bool reshape) {
  if (source.count() != count_ || source.shape() != shape_) {
    Require(reshape, "cannot copy a blob of shape ", source.shape_string(),
            " into one of shape ", shape_string());
    ReshapeLike(source);
  }
  if (copy_diff) {
    caffe_copy(count_, source.cpu_diff(), mutable_cpu_diff());
  } else {
    caffe_copy(count_, source.cpu_data(), mutable_cpu_data());
  }
}

template <typename Dtype>
const shared_ptr<SyncedMemory>& Blob<Dtype>::data() const {
  CHECK(data_) << "the blob was never given a shape";
  return data_;
}

template <typename Dtype>
const shared_ptr<SyncedMemory>& Blob<Dtype>::diff() const {
  CHECK(diff_) << "the blob was never given a shape";
  return diff_;
}

template <typename Dtype>
const Dtype* Blob<Dtype>::cpu_data() const {
  return static_cast<const Dtype*>(data()->cpu_data());
}

template <typename Dtype>
void Blob<Dtype>::set_cpu_data(Dtype* data) {
  CHECK(data);
  // A smaller blob may sit in larger memory; the caller's has no room to spare.
  const size_t size = count_ * sizeof(Dtype);
  if (data_->size() != size) {
    data_.reset(new SyncedMemory(size));
    diff_.reset(new SyncedMemory(size));
    capacity_ = count_;
  }
  data_->set_cpu_data(data);
}

template <typename Dtype>
const int* Blob<Dtype>::gpu_shape() const {
  CHECK(shape_data_);
  return static_cast<const int*>(shape_data_->gpu_data());
}

template <typename Dtype>
const Dtype* Blob<Dtype>::gpu_data() const {
  return static_cast<const Dtype*>(data()->gpu_data());
}

template <typename Dtype>
void Blob<Dtype>::set_gpu_data(Dtype* data) {
  CHECK(data);
  const size_t size = count_ * sizeof(Dtype);
  if (data_->size() != size) {
    data_.reset(new SyncedMemory(size));
    diff_.reset(new SyncedMemory(size));
    capacity_ = count_;
  }
  data_->set_gpu_data(data);
}

template <typename Dtype>
const Dtype* Blob<Dtype>::cpu_diff() const {
  return static_cast<const Dtype*>(diff()->cpu_data());
}

template <typename Dtype>
const Dtype* Blob<Dtype>::gpu_diff() const {
  return static_cast<const Dtype*>(diff()->gpu_data());
}

template <typename Dtype>
Dtype* Blob<Dtype>::mutable_cpu_data() {
  return static_cast<Dtype*>(data()->mutable_cpu_data());
}

template <typename Dtype>
Dtype* Blob<Dtype>::mutable_gpu_data() {
  return static_cast<Dtype*>(data()->mutable_gpu_data());
}

template <typename Dtype>
Dtype* Blob<Dtype>::mutable_cpu_diff() {
  return static_cast<Dtype*>(diff()->mutable_cpu_data());
}

template <typename Dtype>
Dtype* Blob<Dtype>::mutable_gpu_diff() {
  return static_cast<Dtype*>(diff()->mutable_gpu_data());
}

template <typename Dtype>
void Blob<Dtype>::Update() {
  if constexpr (std::is_floating_point_v<Dtype>) {
    caffe_axpy<Dtype>(count_, Dtype(-1), cpu_diff(), mutable_cpu_data());
  } else {
    NOT_IMPLEMENTED;
  }
}

template <typename Dtype>
void Blob<Dtype>::FromProto(const BlobProto& proto, bool reshape) {
  if (reshape) {
    Reshape(HasLegacyShape(proto) ? LegacyExtents(proto)
                                  : ExtentsOf(proto.shape()));
  } else {
    Require(ShapeEquals(proto),
            "a stored blob of another shape cannot be "
            "read into a blob of shape ",
            shape_string());
  }
  if (proto.double_data_size() > 0) {
    CopyValues(proto.double_data(), "data", count_, mutable_cpu_data());
  } else {
    CopyValues(proto.data(), "data", count_, mutable_cpu_data());
  }
  if (proto.double_diff_size() > 0) {
    CopyValues(proto.double_diff(), "diff", count_, mutable_cpu_diff());
  } else if (proto.diff_size() > 0) {
    CopyValues(proto.diff(), "diff", count_, mutable_cpu_diff());
  }
}

template <typename Dtype>
void Blob<Dtype>::ToProto(BlobProto* proto, bool write_diff) const {
  proto->Clear();
  for (const int extent : shape_) proto->mutable_shape()->add_dim(extent);
  const Dtype* data = cpu_data();
  if constexpr (std::is_same_v<Dtype, double>) {
    proto->mutable_double_data()->Add(data, data + count_);
    if (write_diff) {
      proto->mutable_double_diff()->Add(cpu_diff(), cpu_diff() + count_);
    }
  } else if constexpr (std::is_same_v<Dtype, float>) {
    proto->mutable_data()->Add(data, data + count_);
    if (write_diff) {
      proto->mutable_diff()->Add(cpu_diff(), cpu_diff() + count_);
    }
  } else {
    NOT_IMPLEMENTED;
  }
}

// The sums take memory nobody has touched for zeros, without touching it.

template <typename Dtype>
Dtype Blob<Dtype>::asum_data() const {
  return IsTouched(data_) ? Asum(count_, cpu_data()) : Dtype(0);
}

template <typename Dtype>
Dtype Blob<Dtype>::asum_diff() const {
  return IsTouched(diff_) ? Asum(count_, cpu_diff()) : Dtype(0);
}

template <typename Dtype>
Dtype Blob<Dtype>::sumsq_data() const {
  return IsTouched(data_) ? Sumsq(count_, cpu_data()) : Dtype(0);
}

template <typename Dtype>
Dtype Blob<Dtype>::sumsq_diff() const {
  return IsTouched(diff_) ? Sumsq(count_, cpu_diff()) : Dtype(0);
}

template <typename Dtype>
void Blob<Dtype>::scale_data(Dtype scale_factor) {
  if (IsTouched(data_)) Scale(count_, scale_factor, mutable_cpu_data());
}

template <typename Dtype>
void Blob<Dtype>::scale_diff(Dtype scale_factor) {
  if (IsTouched(diff_)) Scale(count_, scale_factor, mutable_cpu_diff());
}

template <typename Dtype>
void Blob<Dtype>::ShareData(const Blob& other) {
  CHECK_EQ(count_, other.count());
  data_ = other.data();
}

template <typename Dtype>
void Blob<Dtype>::ShareDiff(const Blob& other) {
  CHECK_EQ(count_, other.count());
  diff_ = other.diff();
}

template <typename Dtype>
bool Blob<Dtype>::ShapeEquals(const BlobProto& other) {
  if (HasLegacyShape(other)) {
    // Legacy files pad the shape with ones in front: a bias is 1 1 1 n.
    return num_axes() <= 4 && LegacyShape(-4) == other.num() &&
           LegacyShape(-3) == other.channels() &&
           LegacyShape(-2) == other.height() &&
           LegacyShape(-1) == other.width();
  }
  return shape_ == ExtentsOf(other.shape());
}

INSTANTIATE_CLASS(Blob);
template class Blob<int>;
template class Blob<unsigned int>;

}  // namespace caffe
