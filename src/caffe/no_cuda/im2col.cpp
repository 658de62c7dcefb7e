#include "caffe/util/im2col.hpp"

#include "device.hpp"

namespace caffe {

template <typename Dtype>
void im2col_nd_gpu(const Dtype*, int, int, const int*, const int*, const int*,
                   const int*, const int*, const int*, Dtype*) {
  device::RequireDevice();
}

template <typename Dtype>
void im2col_gpu(const Dtype*, int, int, int, int, int, int, int, int, int, int,
                int, Dtype*) {
  device::RequireDevice();
}

template <typename Dtype>
void col2im_nd_gpu(const Dtype*, int, int, const int*, const int*, const int*,
                   const int*, const int*, const int*, Dtype*) {
  device::RequireDevice();
}

template <typename Dtype>
void col2im_gpu(const Dtype*, int, int, int, int, int, int, int, int, int, int,
                int, Dtype*) {
  device::RequireDevice();
}

template void im2col_nd_gpu(const float*, int, int, const int*, const int*,
                            const int*, const int*, const int*, const int*,
                            float*);
template void im2col_nd_gpu(const double*, int, int, const int*, const int*,
                            const int*, const int*, const int*, const int*,
                            double*);
template void im2col_gpu(const float*, int, int, int, int, int, int, int, int,
                         int, int, int, float*);
template void im2col_gpu(const double*, int, int, int, int, int, int, int, int,
                         int, int, int, double*);
template void col2im_nd_gpu(const float*, int, int, const int*, const int*,
                            const int*, const int*, const int*, const int*,
                            float*);
template void col2im_nd_gpu(const double*, int, int, const int*, const int*,
                            const int*, const int*, const int*, const int*,
                            double*);
template void col2im_gpu(const float*, int, int, int, int, int, int, int, int,
                         int, int, int, float*);
template void col2im_gpu(const double*, int, int, int, int, int, int, int, int,
                         int, int, int, double*);

}  // namespace caffe
