#ifndef CAFFE_SRC_COMPRESS_BATCH_CONTROL_HPP_
#define CAFFE_SRC_COMPRESS_BATCH_CONTROL_HPP_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "caffe/batch_source.hpp"
#include "caffe/compress/activation_store.hpp"
#include "caffe/compress/batch_size.hpp"
#include "caffe/compress/memory_forecast.hpp"
#include "caffe/solver.hpp"

namespace caffe {

// Gives the training net of a solver as large a batch as the memory budget
// holds. Starts with the batch size of the net's settings. When a check is due,
// after an iteration, it forecasts what other sizes would take, by how well
// tensors pack and what the process took, and changes the size for the next
// iteration. Checks come at every update while the size changes, and then less
// and less often. The solver's compression owns it.
template <typename Dtype>
class BatchControl {
 public:
  // Null unless the solver's settings ask for it. Throws Error when they do but
  // the net's data layers cannot change their batches.
  static std::unique_ptr<BatchControl> Make(
      Solver<Dtype>* solver, shared_ptr<ActivationMemory> memory,
      shared_ptr<const ActivationStore<Dtype>> store);

  // Images of a batch by the net's settings, and of the next one.
  int configured() const { return rule_.configured(); }
  int batch_size() const { return batch_size_; }
  double RateScale(int batch_size) const { return rule_.RateScale(batch_size); }

  // Before an iteration: brings the net to the batch size, or to `most` images
  // if that is less, and returns it.
  int StartIteration(int64_t most, int64_t updates);
  // After an iteration, `updates` of them in all.
  void EndIteration(int64_t updates);

  void SaveState(BatchState* state) const;
  void RestoreState(const BatchState& state);

 private:
  struct Source {
    BatchSource<Dtype>* layer;
    int index;
  };

  BatchControl(Solver<Dtype>* solver, shared_ptr<ActivationMemory> memory,
               shared_ptr<const ActivationStore<Dtype>> store,
               std::vector<Source> sources);

  // Brings data layers and net to a batch size.
  void Apply(int batch_size);
  // Gives back what no iteration of this size needs.
  void TrimMemory();
  // Changes batch_size_, and says so.
  void Change(const BatchSizeRule::Choice& choice);

  // Bytes of the process at its peak, for every batch size.
  BatchForecast MakeForecast();
  // What activations take by the net's shapes, and by those it would have.
  ActivationForecast Forecast();
  ActivationForecast ForecastFor(int batch_size);
  double ForecastTests() const;
  MemoryUse Use() const;

  // What the last iteration tells: how tensors pack, and what it took where
  // that was the forecast.
  void UpdateRatios();
  void Correct(const ActivationForecast& forecast);
  // Before there was one.
  double GuessFixedBytes();

  Solver<Dtype>* const solver_;
  Net<Dtype>* const net_;
  const shared_ptr<ActivationMemory> memory_;
  const shared_ptr<const ActivationStore<Dtype>> store_;
  const std::vector<Source> sources_;
  const BatchSizeRule rule_;
  const int longest_interval_;
  const double test_bytes_;
  // Of the program's files, before training reads others.
  const double program_bytes_;

  // Zero before the first iteration.
  int batch_size_ = 0;
  int applied_ = 0;
  int64_t next_check_ = 1;
  int64_t check_interval_ = 1;
  // What the process takes whatever the batch size, and how much more
  // activations take than was forecast.
  double fixed_bytes_ = 0;
  bool is_measured_ = false;
  double correction_ = 1;
  // Of packed tensors in the last iteration, and of all together.
  std::map<std::string, double> ratios_;
  double ratio_;
  // What the reports said before the last iteration.
  std::map<std::string, ActivationReport> reports_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_COMPRESS_BATCH_CONTROL_HPP_
