#include "cpu/box.hpp"

#include <algorithm>
#include <cstdint>

#include "cpu/parallel.hpp"

namespace caffe::cpu {

namespace {

int64_t Product(const std::vector<int>& extents) {
  int64_t product = 1;
  for (const int extent : extents) product *= extent;
  return product;
}

// Calls row(in_whole, in_box, values) for all rows of the box along its last
// axis: where they begin, and how long they are.
template <typename Row>
void ForRows(const Box& box, const Row& row) {
  if (box.extent.empty()) return row(0, 0, 1);
  const auto last = static_cast<int64_t>(box.extent.size()) - 1;
  const int64_t values = box.extent[last];
  if (Product(box.extent) == 0) return;
  ParallelFor(Product(box.extent) / values, kElementwiseGrain / values,
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  int64_t in_whole = box.begin[last];
                  int64_t step = box.whole[last];
                  int64_t rest = i;
                  for (int64_t axis = last - 1; axis >= 0; --axis) {
                    const int64_t place = rest % box.extent[axis];
                    in_whole += (box.begin[axis] + place) * step;
                    step *= box.whole[axis];
                    rest /= box.extent[axis];
                  }
                  row(in_whole, i * values, values);
                }
              });
}

}  // namespace

template <typename Dtype>
void ReadBox(const Box& box, const Dtype* whole, Dtype* values) {
  ForRows(box, [=](int64_t in_whole, int64_t in_box, int64_t count) {
    std::copy_n(whole + in_whole, count, values + in_box);
  });
}

template <typename Dtype>
void WriteBox(const Box& box, const Dtype* values, Dtype* whole) {
  std::fill_n(whole, Product(box.whole), Dtype(0));
  ForRows(box, [=](int64_t in_whole, int64_t in_box, int64_t count) {
    std::copy_n(values + in_box, count, whole + in_whole);
  });
}

#define INSTANTIATE_BOX(Dtype)                             \
  template void ReadBox(const Box&, const Dtype*, Dtype*); \
  template void WriteBox(const Box&, const Dtype*, Dtype*)

INSTANTIATE_BOX(float);
INSTANTIATE_BOX(double);

}  // namespace caffe::cpu
