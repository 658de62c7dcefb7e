#ifndef CAFFE_SRC_CPU_LSTM_UNIT_HPP_
#define CAFFE_SRC_CPU_LSTM_UNIT_HPP_

#include <cstdint>

// One step of long short-term memory, for `streams` independent sequences of
// `cells` cells each. `gates` has, for every stream, four rows of `cells`
// values: what the input, forget and output gates and the candidate values are
// the sigmoids, and the tanh, of.
//
//   cell = cont * sigmoid(forget) * previous + sigmoid(input) * tanh(candidate)
//   hidden = sigmoid(output) * tanh(cell)
//
// `cont`, one value a stream, is 0 where a sequence begins.
namespace caffe::cpu {

struct LstmShape {
  int64_t streams = 0;
  int64_t cells = 0;
};

template <typename Dtype>
void LstmUnitForward(const LstmShape& shape, const Dtype* previous,
                     const Dtype* gates, const Dtype* cont, Dtype* cell,
                     Dtype* hidden);

// Either gradient may be nullptr.
template <typename Dtype>
void LstmUnitBackward(const LstmShape& shape, const Dtype* previous,
                      const Dtype* gates, const Dtype* cont,
                      const Dtype* cell_diff, const Dtype* hidden_diff,
                      Dtype* previous_diff, Dtype* gates_diff);

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_LSTM_UNIT_HPP_
