#include <algorithm>

#include "caffe/solver.hpp"
#include "compress/solver_compression.hpp"

// How far training is. Iterations are of the batch size that the net's settings
// say; where batches have another size, images are counted in between.

namespace caffe {

template <typename Dtype>
BatchControl<Dtype>* Solver<Dtype>::batches() const {
  return compression_ ? compression_->batches() : nullptr;
}

template <typename Dtype>
bool Solver<Dtype>::IsAtMultipleOf(int interval) const {
  return interval != 0 && pace_.rest == 0 && iter_ % interval == 0;
}

template <typename Dtype>
bool Solver<Dtype>::IsDueEvery(int interval) const {
  if (interval <= 0) return false;
  const int64_t images = int64_t{interval} * pace_.configured;
  const int64_t start = int64_t{iter_} * pace_.configured + pace_.rest;
  const int64_t since = start % images;
  return since == 0 || since + pace_.now > images;
}

template <typename Dtype>
int Solver<Dtype>::configured_batch_size() const {
  return batches() ? batches()->configured() : 0;
}

template <typename Dtype>
int Solver<Dtype>::images_per_iteration() const {
  int images = configured_batch_size();
  if (images == 0) {
    const vector<Blob<Dtype>*>& tops = net_->top_vecs()[0];
    images = tops.empty() || tops[0]->num_axes() == 0 ? 1 : tops[0]->shape(0);
  }
  return images * param_.iter_size();
}

template <typename Dtype>
void Solver<Dtype>::ChooseBatch(int stop_iter) {
  if (!batches()) return;
  int64_t end = stop_iter;
  for (const int interval : {param_.test_interval(), param_.snapshot()}) {
    if (interval <= 0) continue;
    end = std::min(end, (int64_t{iter_} / interval + 1) * interval);
  }
  const int64_t images = (end - iter_) * pace_.configured - pace_.rest;
  pace_.now = batches()->StartIteration(images, updates_);
}

template <typename Dtype>
void Solver<Dtype>::ResetPace() {
  const int images = std::max(1, configured_batch_size());
  pace_ = {.configured = images, .now = images, .last = images, .rest = 0};
  updates_ = iter_;
}

template <typename Dtype>
void Solver<Dtype>::Advance() {
  ++updates_;
  pace_.rest += pace_.now;
  iter_ += pace_.rest / pace_.configured;
  pace_.rest %= pace_.configured;
  pace_.last = pace_.now;
  if (batches()) batches()->EndIteration(updates_);
}

template <typename Dtype>
double Solver<Dtype>::rate_scale() const {
  return batches() ? batches()->RateScale(pace_.now) : 1;
}

template <typename Dtype>
double Solver<Dtype>::last_rate_scale() const {
  return batches() ? batches()->RateScale(pace_.last) : 1;
}

template <typename Dtype>
void Solver<Dtype>::SavePace(BatchState* state) const {
  state->set_last(pace_.last);
  state->set_rest(pace_.rest);
  state->set_updates(updates_);
}

template <typename Dtype>
void Solver<Dtype>::RestorePace(const BatchState& state) {
  ResetPace();
  if (configured_batch_size() == 0 || state.size() == 0) return;
  Require(state.rest() >= 0 && state.rest() < pace_.configured &&
              state.last() > 0 && state.updates() >= 0,
          "the batch size in the state of the solver is damaged, or of a net "
          "with another one");
  pace_.rest = state.rest();
  pace_.last = state.last();
  updates_ = state.updates();
}

template class Solver<float>;
template class Solver<double>;

}  // namespace caffe
