#ifndef CAFFE_TOOLS_BENCH_MEASURE_HPP_
#define CAFFE_TOOLS_BENCH_MEASURE_HPP_

#include <string>
#include <vector>

#include "bench/contender.hpp"

namespace caffe {

// Seconds, the best of several; 0 when not measured.
struct Times {
  double compress = 0;
  double decompress = 0;
  // Copying the tensor, measured between the two.
  double copy = 0;

  Times& operator+=(const Times& other);
};

// One contender on one tensor, or the sum over several.
struct Measurement {
  std::string contender;
  size_t tensors = 0;
  double raw_bytes = 0;
  double packed_bytes = 0;
  // The largest error of any tensor over its bound, and of all zeros the part
  // that still are zeros; not known where is_real is false.
  bool is_real = true;
  double error_over_bound = 0;
  double zeros = 0;
  double kept_zeros = 0;
  bool is_parallel = false;
  Times one_thread;
  Times all_threads;

  void Add(const Measurement& other);
};

// Throws Error with the contender's name when it fails.
Measurement Measure(Contender* contender, const Tensor& tensor, double bound,
                    int repeats, int threads);

// One line a measurement, in aligned columns, and what the columns are.
std::string Table(const std::vector<Measurement>& measurements, int threads);

// A line of a CSV file, and its first line.
std::string CsvHeader();
std::string CsvLine(const std::string& tensor, const std::string& shape,
                    double bound, int threads, const Measurement& measurement);

}  // namespace caffe

#endif  // CAFFE_TOOLS_BENCH_MEASURE_HPP_
