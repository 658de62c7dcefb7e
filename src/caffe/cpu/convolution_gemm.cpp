#include "cpu/convolution_gemm.hpp"

#include <algorithm>

#include "caffe/util/im2col.hpp"
#include "caffe/util/math_functions.hpp"
#include "cpu/workspace.hpp"

namespace caffe::cpu {

namespace {

bool All(const std::vector<int>& values, int value) {
  return std::all_of(values.begin(), values.end(),
                     [=](int v) { return v == value; });
}

// One image of a convolution as matrices: for every group, outputs (rows x
// columns) = weights (rows x depth) * windows (depth x columns).
class Matrices {
 public:
  explicit Matrices(const ConvolutionShape& shape)
      : shape_(shape),
        rows_(shape.out_channels / shape.group),
        columns_(ConvolutionShape::Product(shape.output)),
        depth_(shape.in_channels / shape.group *
               ConvolutionShape::Product(shape.kernel)),
        is_1x1_(All(shape.kernel, 1) && All(shape.stride, 1) &&
                All(shape.pad, 0)),
        im_shape_{shape.in_channels},
        col_shape_{static_cast<int>(depth_ * shape.group)} {
    im_shape_.insert(im_shape_.end(), shape.input.begin(), shape.input.end());
    col_shape_.insert(col_shape_.end(), shape.output.begin(),
                      shape.output.end());
  }

  int rows() const { return static_cast<int>(rows_); }
  int columns() const { return static_cast<int>(columns_); }
  int depth() const { return static_cast<int>(depth_); }

  // Where the matrices of a group start.
  int64_t WeightsAt(int64_t group) const { return group * rows_ * depth_; }
  int64_t WindowsAt(int64_t group) const { return group * depth_ * columns_; }
  int64_t OutputsAt(int64_t group) const { return group * rows_ * columns_; }

  // The windows of the image: itself, when every window is one value.
  template <typename Dtype>
  const Dtype* Windows(const Dtype* image) const {
    if (is_1x1_) return image;
    Dtype* const windows = ReserveWindows<Dtype>();
    im2col_nd_cpu(image, static_cast<int>(shape_.input.size()),
                  im_shape_.data(), col_shape_.data(), shape_.kernel.data(),
                  shape_.pad.data(), shape_.stride.data(),
                  shape_.dilation.data(), windows);
    return windows;
  }

  // Lets `fill` write the windows, then adds them up in the image.
  template <typename Dtype, typename Fill>
  void FromWindows(Dtype* image, const Fill& fill) const {
    if (is_1x1_) {
      fill(image);
      return;
    }
    Dtype* const windows = ReserveWindows<Dtype>();
    fill(windows);
    col2im_nd_cpu(windows, static_cast<int>(shape_.input.size()),
                  im_shape_.data(), col_shape_.data(), shape_.kernel.data(),
                  shape_.pad.data(), shape_.stride.data(),
                  shape_.dilation.data(), image);
  }

 private:
  template <typename Dtype>
  Dtype* ReserveWindows() const {
    return Workspace::Get().ReserveMatrix<Dtype>(depth_ * shape_.group,
                                                 columns_);
  }

  const ConvolutionShape& shape_;
  const int64_t rows_;
  const int64_t columns_;
  const int64_t depth_;
  const bool is_1x1_;
  // As im2col wants them.
  std::vector<int> im_shape_;
  std::vector<int> col_shape_;
};

}  // namespace

template <typename Dtype>
void GemmForward(const ConvolutionShape& shape, const Dtype* image,
                 const Dtype* weights, Dtype* output) {
  const Matrices m(shape);
  const Dtype* const windows = m.Windows(image);
  for (int g = 0; g < shape.group; ++g) {
    caffe_cpu_gemm<Dtype>(CblasNoTrans, CblasNoTrans, m.rows(), m.columns(),
                          m.depth(), 1, weights + m.WeightsAt(g),
                          windows + m.WindowsAt(g), 0, output + m.OutputsAt(g));
  }
}

template <typename Dtype>
void GemmBackward(const ConvolutionShape& shape, const Dtype* output_diff,
                  const Dtype* weights, Dtype* image_diff) {
  const Matrices m(shape);
  m.FromWindows(image_diff, [&](Dtype* windows) {
    for (int g = 0; g < shape.group; ++g) {
      caffe_cpu_gemm<Dtype>(CblasTrans, CblasNoTrans, m.depth(), m.columns(),
                            m.rows(), 1, weights + m.WeightsAt(g),
                            output_diff + m.OutputsAt(g), 0,
                            windows + m.WindowsAt(g));
    }
  });
}

template <typename Dtype>
void GemmWeightsGradient(const ConvolutionShape& shape, const Dtype* image,
                         const Dtype* output_diff, Dtype* weights_diff) {
  const Matrices m(shape);
  const Dtype* const windows = m.Windows(image);
  for (int g = 0; g < shape.group; ++g) {
    caffe_cpu_gemm<Dtype>(CblasNoTrans, CblasTrans, m.rows(), m.depth(),
                          m.columns(), 1, output_diff + m.OutputsAt(g),
                          windows + m.WindowsAt(g), 1,
                          weights_diff + m.WeightsAt(g));
  }
}

#define INSTANTIATE_CONVOLUTION_GEMM(Dtype)                                \
  template void GemmForward(const ConvolutionShape&, const Dtype*,         \
                            const Dtype*, Dtype*);                         \
  template void GemmBackward(const ConvolutionShape&, const Dtype*,        \
                             const Dtype*, Dtype*);                        \
  template void GemmWeightsGradient(const ConvolutionShape&, const Dtype*, \
                                    const Dtype*, Dtype*)

INSTANTIATE_CONVOLUTION_GEMM(float);
INSTANTIATE_CONVOLUTION_GEMM(double);

}  // namespace caffe::cpu
