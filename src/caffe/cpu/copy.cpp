#include "cpu/copy.hpp"

#include <cstring>

#include "cpu/parallel.hpp"

namespace caffe::cpu {

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

template void CopyRows(int64_t, int64_t, const float*, int64_t, float*,
                       int64_t);
template void CopyRows(int64_t, int64_t, const double*, int64_t, double*,
                       int64_t);

}  // namespace caffe::cpu
