#include "caffe/util/im2col.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/parallel.hpp"

namespace caffe {

namespace {

// One spatial axis at one place of the kernel: output o meets the image at
// o * stride + start, which lies in the image for outputs in [begin, end).
struct Axis {
  Axis(int image, int outputs, int pad, int stride, int64_t place)
      : image(image), outputs(outputs), stride(stride), start(place - pad) {
    begin = FirstAtLeast(0);
    end = std::max(begin, FirstAtLeast(image));
  }

  bool Contains(int64_t output) const {
    return begin <= output && output < end;
  }
  int64_t At(int64_t output) const { return output * stride + start; }

  int64_t image;
  int64_t outputs;
  int64_t stride;
  int64_t start;
  int64_t begin;
  int64_t end;

 private:
  // The first output that meets the image at `position` or behind it.
  int64_t FirstAtLeast(int64_t position) const {
    const int64_t distance = position - start;
    if (distance <= 0) return 0;
    return std::min(outputs, (distance + stride - 1) / stride);
  }
};

// The geometry that all rows of the matrix share.
struct Windows {
  int num_axes;
  const int* im_shape;   // spatial extents only
  const int* col_shape;  // output extents only
  const int* kernel_shape;
  const int* pad;
  const int* stride;
  const int* dilation;

  int64_t ImageSize() const { return Product(im_shape); }
  int64_t OutputSize() const { return Product(col_shape); }
  int64_t KernelSize() const { return Product(kernel_shape); }

  // The axes as seen from place number `place` of the kernel.
  std::vector<Axis> AxesAt(int64_t place) const {
    std::vector<Axis> axes;
    axes.reserve(num_axes);
    int64_t places = KernelSize();
    for (int i = 0; i < num_axes; ++i) {
      places /= kernel_shape[i];
      const int64_t on_axis = place / places % kernel_shape[i];
      axes.emplace_back(im_shape[i], col_shape[i], pad[i], stride[i],
                        on_axis * dilation[i]);
    }
    return axes;
  }

 private:
  int64_t Product(const int* extents) const {
    int64_t product = 1;
    for (int i = 0; i < num_axes; ++i) product *= extents[i];
    return product;
  }
};

// Calls line(in_image, image, column) for every line of outputs along the last
// axis: where the image line and the line of the matrix row begin. Lines in the
// padding have in_image false.
template <typename Line>
void ForLines(const std::vector<Axis>& axes, const Line& line) {
  const int outer = static_cast<int>(axes.size()) - 1;
  const Axis& last = axes[outer];
  int64_t lines = 1;
  for (int i = 0; i < outer; ++i) lines *= axes[i].outputs;
  for (int64_t number = 0; number < lines; ++number) {
    bool in_image = last.begin < last.end;
    int64_t image = 0;
    int64_t rest = lines;
    for (int i = 0; i < outer; ++i) {
      rest /= axes[i].outputs;
      const int64_t output = number / rest % axes[i].outputs;
      in_image = in_image && axes[i].Contains(output);
      image = image * axes[i].image + axes[i].At(output);
    }
    line(in_image, image * last.image, number * last.outputs);
  }
}

template <typename Dtype>
void FillRow(const std::vector<Axis>& axes, const Dtype* image, Dtype* row) {
  const Axis& last = axes.back();
  ForLines(axes, [&](bool in_image, int64_t from, int64_t to) {
    Dtype* const out = row + to;
    if (!in_image) {
      std::fill_n(out, last.outputs, Dtype(0));
      return;
    }
    std::fill_n(out, last.begin, Dtype(0));
    const int64_t count = last.end - last.begin;
    const Dtype* const in = image + from + last.At(last.begin);
    if (last.stride == 1) {
      std::copy_n(in, count, out + last.begin);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        out[last.begin + i] = in[i * last.stride];
      }
    }
    std::fill(out + last.end, out + last.outputs, Dtype(0));
  });
}

template <typename Dtype>
void AddRow(const std::vector<Axis>& axes, const Dtype* row, Dtype* image) {
  const Axis& last = axes.back();
  ForLines(axes, [&](bool in_image, int64_t to, int64_t from) {
    if (!in_image) return;
    const int64_t count = last.end - last.begin;
    Dtype* const out = image + to + last.At(last.begin);
    const Dtype* const in = row + from + last.begin;
    for (int64_t i = 0; i < count; ++i) out[i * last.stride] += in[i];
  });
}

}  // namespace

template <typename Dtype>
void im2col_nd_cpu(const Dtype* data_im, const int num_spatial_axes,
                   const int* im_shape, const int* col_shape,
                   const int* kernel_shape, const int* pad, const int* stride,
                   const int* dilation, Dtype* data_col) {
  const Windows windows{num_spatial_axes, im_shape + 1, col_shape + 1,
                        kernel_shape,     pad,          stride,
                        dilation};
  const int64_t places = windows.KernelSize();
  const int64_t image_size = windows.ImageSize();
  const int64_t outputs = windows.OutputSize();
  if (outputs == 0) return;
  cpu::ParallelFor(im_shape[0] * places, cpu::kElementwiseGrain / outputs,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t row = begin; row < end; ++row) {
                       FillRow(windows.AxesAt(row % places),
                               data_im + row / places * image_size,
                               data_col + row * outputs);
                     }
                   });
}

template <typename Dtype>
void col2im_nd_cpu(const Dtype* data_col, const int num_spatial_axes,
                   const int* im_shape, const int* col_shape,
                   const int* kernel_shape, const int* pad, const int* stride,
                   const int* dilation, Dtype* data_im) {
  const Windows windows{num_spatial_axes, im_shape + 1, col_shape + 1,
                        kernel_shape,     pad,          stride,
                        dilation};
  const int64_t places = windows.KernelSize();
  const int64_t image_size = windows.ImageSize();
  const int64_t outputs = windows.OutputSize();
  const int64_t work = std::max<int64_t>(1, places * outputs);
  // Whole channels, so that no two threads add to the same value.
  cpu::ParallelFor(
      im_shape[0], cpu::kElementwiseGrain / work,
      [&](int64_t begin, int64_t end) {
        std::fill(data_im + begin * image_size, data_im + end * image_size,
                  Dtype(0));
        if (outputs == 0) return;
        for (int64_t row = begin * places; row < end * places; ++row) {
          AddRow(windows.AxesAt(row % places), data_col + row * outputs,
                 data_im + row / places * image_size);
        }
      });
}

namespace {

// The arrays that the functions for two spatial axes hand on.
struct Windows2D {
  Windows2D(int channels, int height, int width, int kernel_h, int kernel_w,
            int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,
            int dilation_w)
      : im_shape{channels, height, width},
        col_shape{channels * kernel_h * kernel_w,
                  Outputs(height, kernel_h, pad_h, stride_h, dilation_h),
                  Outputs(width, kernel_w, pad_w, stride_w, dilation_w)},
        kernel_shape{kernel_h, kernel_w},
        pad{pad_h, pad_w},
        stride{stride_h, stride_w},
        dilation{dilation_h, dilation_w} {}

  static int Outputs(int extent, int kernel, int pad, int stride,
                     int dilation) {
    return (extent + 2 * pad - (dilation * (kernel - 1) + 1)) / stride + 1;
  }

  int im_shape[3];
  int col_shape[3];
  int kernel_shape[2];
  int pad[2];
  int stride[2];
  int dilation[2];
};

}  // namespace

template <typename Dtype>
void im2col_cpu(const Dtype* data_im, const int channels, const int height,
                const int width, const int kernel_h, const int kernel_w,
                const int pad_h, const int pad_w, const int stride_h,
                const int stride_w, const int dilation_h, const int dilation_w,
                Dtype* data_col) {
  const Windows2D w(channels, height, width, kernel_h, kernel_w, pad_h, pad_w,
                    stride_h, stride_w, dilation_h, dilation_w);
  im2col_nd_cpu(data_im, 2, w.im_shape, w.col_shape, w.kernel_shape, w.pad,
                w.stride, w.dilation, data_col);
}

template <typename Dtype>
void col2im_cpu(const Dtype* data_col, const int channels, const int height,
                const int width, const int kernel_h, const int kernel_w,
                const int pad_h, const int pad_w, const int stride_h,
                const int stride_w, const int dilation_h, const int dilation_w,
                Dtype* data_im) {
  const Windows2D w(channels, height, width, kernel_h, kernel_w, pad_h, pad_w,
                    stride_h, stride_w, dilation_h, dilation_w);
  col2im_nd_cpu(data_col, 2, w.im_shape, w.col_shape, w.kernel_shape, w.pad,
                w.stride, w.dilation, data_im);
}

#define INSTANTIATE_IM2COL(Dtype)                                             \
  template void im2col_nd_cpu(const Dtype*, int, const int*, const int*,      \
                              const int*, const int*, const int*, const int*, \
                              Dtype*);                                        \
  template void im2col_cpu(const Dtype*, int, int, int, int, int, int, int,   \
                           int, int, int, int, Dtype*);                       \
  template void col2im_nd_cpu(const Dtype*, int, const int*, const int*,      \
                              const int*, const int*, const int*, const int*, \
                              Dtype*);                                        \
  template void col2im_cpu(const Dtype*, int, int, int, int, int, int, int,   \
                           int, int, int, int, Dtype*)

INSTANTIATE_IM2COL(float);
INSTANTIATE_IM2COL(double);

}  // namespace caffe
