#include "cpu/copy.hpp"

#include <cstring>

#include "cpu/parallel.hpp"
#include "cpu/stream.hpp"

namespace caffe::cpu {

template <typename Dtype>
void Copy(int64_t n, const Dtype* from, Dtype* to) {
  const bool stream = WorthStreaming(n * sizeof(Dtype));
  ParallelFor(n, kElementwiseGrain, [=](int64_t begin, int64_t end) {
    const size_t bytes = (end - begin) * sizeof(Dtype);
    if (stream) {
      StreamBytes(bytes, from + begin, to + begin);
    } else {
      std::memcpy(to + begin, from + begin, bytes);
    }
  });
}

template <typename Dtype>
void CopyRows(int64_t rows, int64_t values, const Dtype* from,
              int64_t from_step, Dtype* to, int64_t to_step) {
  const int64_t grain = kElementwiseGrain / std::max<int64_t>(1, values);
  ParallelFor(rows, grain, [=](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      std::memcpy(to + row * to_step, from + row * from_step,
                  values * sizeof(Dtype));
    }
  });
}

#define INSTANTIATE_COPY(Dtype)                                           \
  template void Copy(int64_t, const Dtype*, Dtype*);                      \
  template void CopyRows(int64_t, int64_t, const Dtype*, int64_t, Dtype*, \
                         int64_t)

template void Copy(int64_t, const int*, int*);
template void Copy(int64_t, const unsigned int*, unsigned int*);
INSTANTIATE_COPY(float);
INSTANTIATE_COPY(double);

}  // namespace caffe::cpu
