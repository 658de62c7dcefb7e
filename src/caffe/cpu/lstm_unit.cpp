#include "cpu/lstm_unit.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/parallel.hpp"

namespace caffe::cpu {

namespace {

// A cell costs about as much as this many elementwise values.
constexpr int64_t kCellCost = 64;

template <typename Dtype>
Dtype Sigmoid(Dtype x) {
  return 1 / (1 + std::exp(-x));
}

// What the gates of one cell make of its value before.
template <typename Dtype>
struct Cell {
  // `gates` is that of the input gate, and the others are `cells` values apart.
  Cell(const Dtype* gates, int64_t cells, Dtype cont, Dtype previous)
      : input(Sigmoid(gates[0])),
        open(Sigmoid(gates[cells])),
        // What there is before a sequence begins may be no number.
        forget(cont == 0 ? 0 : cont * open),
        output(Sigmoid(gates[2 * cells])),
        candidate(std::tanh(gates[3 * cells])),
        value((cont == 0 ? 0 : forget * previous) + input * candidate),
        squashed(std::tanh(value)) {}

  Dtype input;
  Dtype open;
  Dtype forget;
  Dtype output;
  Dtype candidate;
  Dtype value;
  Dtype squashed;
};

// Calls body(gate, i, cell) for all cells: where its gates are, where the cell
// is among those of all streams, and what it computes.
template <typename Dtype, typename Body>
void ForCells(const LstmShape& shape, const Dtype* previous, const Dtype* gates,
              const Dtype* cont, const Body& body) {
  const int64_t cells = shape.cells;
  ParallelFor(
      shape.streams * cells, kElementwiseGrain / kCellCost,
      [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t stream = i / cells;
          // A stream has four times as many values there.
          const int64_t gate = i + 3 * stream * cells;
          body(gate, i,
               Cell<Dtype>(gates + gate, cells, cont[stream], previous[i]));
        }
      });
}

}  // namespace

template <typename Dtype>
void LstmUnitForward(const LstmShape& shape, const Dtype* previous,
                     const Dtype* gates, const Dtype* cont, Dtype* cell,
                     Dtype* hidden) {
  ForCells(shape, previous, gates, cont,
           [=](int64_t /*gate*/, int64_t i, const Cell<Dtype>& it) {
             cell[i] = it.value;
             hidden[i] = it.output * it.squashed;
           });
}

template <typename Dtype>
void LstmUnitBackward(const LstmShape& shape, const Dtype* previous,
                      const Dtype* gates, const Dtype* cont,
                      const Dtype* cell_diff, const Dtype* hidden_diff,
                      Dtype* previous_diff, Dtype* gates_diff) {
  const int64_t cells = shape.cells;
  ForCells(
      shape, previous, gates, cont,
      [=](int64_t gate, int64_t i, const Cell<Dtype>& it) {
        const Dtype diff = cell_diff[i] + hidden_diff[i] * it.output *
                                              (1 - it.squashed * it.squashed);
        if (previous_diff != nullptr) previous_diff[i] = diff * it.forget;
        if (gates_diff == nullptr) return;
        Dtype* const to = gates_diff + gate;
        to[0] = diff * it.candidate * it.input * (1 - it.input);
        to[cells] =
            it.forget == 0 ? 0 : diff * previous[i] * it.forget * (1 - it.open);
        to[2 * cells] =
            hidden_diff[i] * it.squashed * it.output * (1 - it.output);
        to[3 * cells] = diff * it.input * (1 - it.candidate * it.candidate);
      });
}

#define INSTANTIATE_LSTM_UNIT(Dtype)                                           \
  template void LstmUnitForward(const LstmShape&, const Dtype*, const Dtype*,  \
                                const Dtype*, Dtype*, Dtype*);                 \
  template void LstmUnitBackward(const LstmShape&, const Dtype*, const Dtype*, \
                                 const Dtype*, const Dtype*, const Dtype*,     \
                                 Dtype*, Dtype*)

INSTANTIATE_LSTM_UNIT(float);
INSTANTIATE_LSTM_UNIT(double);

}  // namespace caffe::cpu
