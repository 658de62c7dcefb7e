#ifndef CAFFE_PARAM_SLICE_HPP_
#define CAFFE_PARAM_SLICE_HPP_

namespace caffe {

// Values of a learnable parameter, all of them or some that follow each other,
// and their gradient.
template <typename Dtype>
struct ParamSlice {
  // Slices start at multiples of so many values, so that what is kept of
  // neighbours together is never cut.
  static constexpr int kAlignment = 64;

  int param_id = 0;
  int first = 0;
  int count = 0;
  // Of these values only.
  Dtype* diff = nullptr;
};

}  // namespace caffe

#endif  // CAFFE_PARAM_SLICE_HPP_
