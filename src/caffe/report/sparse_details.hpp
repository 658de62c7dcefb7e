#ifndef CAFFE_SRC_REPORT_SPARSE_DETAILS_HPP_
#define CAFFE_SRC_REPORT_SPARSE_DETAILS_HPP_

namespace caffe {

// Says which displays tell of every layer: so many that curves are smooth, and
// so few that a log of a long run stays small. After iteration i that is the
// first at or after 1.01 i.
class SparseDetails {
 public:
  bool IsDue(int iteration) {
    if (iteration < next_) return false;
    next_ = iteration + 1 + iteration / 100;
    return true;
  }

 private:
  int next_ = 0;
};

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_SPARSE_DETAILS_HPP_
