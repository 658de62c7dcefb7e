#ifndef CAFFE_SRC_REPORT_TENSORBOARD_HPP_
#define CAFFE_SRC_REPORT_TENSORBOARD_HPP_

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caffe/solver_observer.hpp"
#include "report/sparse_details.hpp"

namespace caffe {

// CRC-32C (Castagnoli), as TensorBoard's files have it.
uint32_t Crc32c(std::string_view bytes);

// A record of a TensorBoard file: the length, the bytes, and checksums of both.
std::string TensorBoardRecord(std::string_view bytes);

// Values that curves are made of, by their names.
using Scalars = std::vector<std::pair<std::string, double>>;

// Writes what a solver finds out to a file that TensorBoard shows. What an
// earlier file of the folder says of `first_iteration` and later is void.
class TensorBoardWriter : public SolverObserver {
 public:
  // Throws Error when the file cannot be written.
  TensorBoardWriter(const std::string& folder, int first_iteration);

  void OnDisplay(const DisplayReport& display) override;
  void OnTest(const TestReport& test) override;
  void OnCompression(const CompressionProgress& progress) override;

  const std::string& filename() const { return filename_; }

 private:
  void Write(int iteration, const Scalars& scalars);
  void WriteRecord(std::string_view event);

  std::string filename_;
  std::ofstream file_;
  SparseDetails details_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_TENSORBOARD_HPP_
