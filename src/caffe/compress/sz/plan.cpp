#include "compress/sz/plan.hpp"

#include <algorithm>
#include <cmath>

#include "compress/sz/dither.hpp"
#include "compress/sz/for_blocks.hpp"
#include "compress/sz/model_chooser.hpp"

namespace caffe::codec::sz {

namespace {

// How much of a tensor is looked at to choose the low bits, and all else.
constexpr size_t kLowSample = 4096;
constexpr size_t kMinSample = 2560;
constexpr size_t kMaxSample = 24 * 1024;
constexpr uint64_t kMaxSampleBlocks = 8;

// Kernels quantise pieces of so many values, from the start of a block.
constexpr size_t kPiece = 2 * kDitherSpan;

// Where in [0, span) to take sample i: spread evenly, but in step with nothing
// that repeats itself, such as channels.
uint64_t SamplePlace(uint64_t i, uint64_t span) {
  constexpr uint32_t kGoldenRatio = 0x9E3779B1;
  return span * (static_cast<uint32_t>(i) * kGoldenRatio >> 16) >> 16;
}

// The fewest low bits with which hardly a value is too large for a token.
template <typename T>
int ChooseLowBits(const T* values, uint64_t n, double bound) {
  const Steps<T> steps = StepsOf<T>(bound);
  if (steps.step == T(0)) return 0;
  const uint64_t pieces = std::max<uint64_t>(
      1, std::min<uint64_t>(n / kPiece, kLowSample / kPiece));
  size_t wider[kMaxLowBits + 1] = {};
  size_t sampled = 0;
  for (uint64_t p = 0; p < pieces; ++p) {
    const uint64_t length = n / pieces;
    const uint64_t room = length - std::min<uint64_t>(length, kPiece);
    const uint64_t first = length * p + SamplePlace(p, room + 1);
    const uint64_t last = std::min(n, first + kPiece);
    sampled += last - first;
    // Most pieces have none, which a loop without branches finds out soon.
    int large = 0;
    for (uint64_t i = first; i < last; ++i) {
      large += !(std::abs(values[i] * steps.inverse) < T(kMaxToken));
    }
    if (large == 0) continue;
    for (uint64_t i = first; i < last; ++i) {
      const T code = std::nearbyint(std::abs(values[i] * steps.inverse));
      for (int k = 0; k <= kMaxLowBits && code > T(kMaxToken << k); ++k) {
        ++wider[k];
      }
    }
  }
  int bits = 0;
  while (bits < kMaxLowBits && wider[bits] * 512 > sampled) ++bits;
  // Values that cannot be coded at all are no reason for low bits.
  return wider[bits] * 2 > wider[0] ? 0 : bits;
}

// Looks at parts of some blocks, and fills in what is best for them.
template <typename T>
class Survey {
 public:
  Survey(const Kernels& kernels, const T* values, Context& context, Plan* plan)
      : kernels_(kernels),
        values_(values),
        context_(context),
        plan_(plan),
        coder_(plan->coder),
        geometry_(plan->coder.geometry),
        blocks_(
            std::clamp<uint64_t>(geometry_.blocks() / 16, 1, kMaxSampleBlocks)),
        wanted_(
            std::clamp<size_t>(geometry_.values / 16, kMinSample, kMaxSample) /
            blocks_) {}

  void Run() {
    plan_->bits =
        coder_.level == Level::kDense ? ChooseModel() : ChooseDifferences();
    Seen all;
    for (const Seen& seen : seen_) {
      all.values += seen.values;
      all.raws += seen.raws;
      all.non_zeros += seen.non_zeros;
    }
    const double values = static_cast<double>(std::max<size_t>(all.values, 1));
    plan_->bits += all.raws * (32 + 8 * sizeof(T)) / values;
    plan_->bits += coder_.quantizer.low_bits * all.non_zeros / values;
  }

 private:
  struct Seen {
    size_t values = 0;
    size_t raws = 0;
    size_t non_zeros = 0;
  };

  // For DENSE. Returns about how many bits the tokens take.
  double ChooseModel() {
    // A shorter last block is looked at only if no other is.
    const size_t run = (geometry_.count(SampledBlock(0)) + kLanes - 1) / kLanes;
    const size_t rows = std::min(run, wanted_ / kLanes);
    // From the middle, where every lane has its neighbours.
    const size_t begin = (run - rows) / 2;
    const size_t reach = std::min<size_t>(begin, geometry_.row + 1);
    const size_t size = rows * kLanes;
    ModelChooser chooser(
        kernels_, context_.Scratch<int8_t>(
                      kFrameSlot, ModelChooser::MemoryFor(blocks_ * size)));
    ForSamples([&](uint64_t s, const BlockScratch& scratch) {
      QuantizeRows(s, run, begin - reach, begin + rows, scratch);
      chooser.Add(s * size, scratch.rows, reach, reach + rows, geometry_.row);
    });
    const double bits = chooser.Choose(geometry_.values, &plan_->model);
    coder_.context = plan_->model.context;
    return bits;
  }

  // Tokens [begin, end) of every lane's run, as rows.
  void QuantizeRows(uint64_t s, size_t run, size_t begin, size_t end,
                    const BlockScratch& scratch) {
    const size_t n = geometry_.count(SampledBlock(s));
    const size_t rows = end - begin;
    int8_t* const runs = scratch.escapes;
    std::fill_n(runs, rows * kLanes, int8_t{0});
    for (size_t lane = 0; lane < kLanes && lane * run + begin < n; ++lane) {
      const size_t first = lane * run + begin;
      const size_t last = std::min(n, first + rows);
      // Whole pieces.
      const size_t from = first / kPiece * kPiece;
      const size_t to = std::min(n, (last + kPiece - 1) / kPiece * kPiece);
      Quantize(s, from, to - from, scratch);
      std::copy(scratch.tokens + (first - from), scratch.tokens + (last - from),
                runs + lane * rows);
    }
    kernels_.to_rows(runs, rows, scratch.rows);
  }

  // For FAST. Returns about how many bits the tokens take.
  double ChooseDifferences() {
    const int kinds = geometry_.row > 0 ? 4 : 2;
    size_t bytes[kMaxSampleBlocks][4];
    ForSamples([&](uint64_t s, const BlockScratch& scratch) {
      const size_t n = geometry_.count(SampledBlock(s));
      const size_t part = std::min(n, wanted_ / kPiece * kPiece);
      Quantize(s, SamplePlace(s, (n - part) / kPiece + 1) * kPiece, part,
               scratch);
      for (int d = 0; d < kinds; ++d) {
        const int8_t* const tokens =
            Subtracted(kernels_, static_cast<Differences>(d), part,
                       geometry_.row, scratch);
        bytes[s][d] =
            kernels_.pack_groups(tokens, part, scratch.headers, scratch.bits);
      }
    });
    size_t values = 0;
    size_t all[4] = {};
    for (uint64_t s = 0; s < blocks_; ++s) {
      values += seen_[s].values;
      for (int d = 0; d < kinds; ++d) all[d] += bytes[s][d];
    }
    const auto best = std::min_element(all, all + kinds);
    coder_.differences = static_cast<Differences>(best - all);
    return 8.0 * *best / static_cast<double>(values) + 4.0 / kGroup;
  }

  uint64_t SampledBlock(uint64_t s) const {
    return (2 * s + 1) * geometry_.blocks() / (2 * blocks_);
  }

  // Runs look(s, scratch) for each of the blocks, on all threads.
  template <typename Look>
  void ForSamples(const Look& look) {
    const int threads = ThreadsFor(blocks_);
    const size_t bytes = BlockScratch::Bytes(geometry_);
    for (int t = 0; t < threads; ++t) {
      context_.Scratch<uint8_t>(kThreadSlot + t, bytes);
    }
    ForBlocks(blocks_, threads, [&](uint64_t begin, uint64_t end, int thread) {
      const BlockScratch scratch(
          context_.Scratch<uint8_t>(kThreadSlot + thread, bytes), geometry_);
      for (uint64_t s = begin; s < end; ++s) look(s, scratch);
    });
  }

  // Makes tokens of n values from `from` on in the block.
  void Quantize(uint64_t s, size_t from, size_t n,
                const BlockScratch& scratch) {
    const uint64_t first = geometry_.first(SampledBlock(s)) + from;
    Seen& seen = seen_[s];
    seen.raws += QuantizeValues(kernels_, coder_.quantizer, values_ + first, n,
                                first, scratch);
    seen.values += n;
    if (coder_.quantizer.low_bits > 0) {
      seen.non_zeros += n - std::count(scratch.tokens, scratch.tokens + n, 0);
    }
  }

  const Kernels& kernels_;
  const T* const values_;
  Context& context_;
  Plan* const plan_;
  BlockCoder& coder_;
  const Geometry& geometry_;
  // How many blocks are looked at, and how much of each.
  const uint64_t blocks_;
  const size_t wanted_;
  // In each of them.
  Seen seen_[kMaxSampleBlocks];
};

}  // namespace

template <typename T>
Plan MakePlan(const Kernels& kernels, const ConstTensor& in,
              const Settings& settings, Context& context) {
  Plan plan;
  BlockCoder& coder = plan.coder;
  coder.level = settings.level;
  coder.geometry = ChooseGeometry(in.shape);
  coder.quantizer.bound = settings.bound;
  coder.quantizer.rounding = settings.rounding;
  coder.quantizer.seed = settings.seed;
  if (coder.geometry.values == 0) return plan;
  const T* const values = static_cast<const T*>(in.data);
  coder.quantizer.low_bits =
      ChooseLowBits(values, coder.geometry.values, settings.bound);
  Survey<T>(kernels, values, context, &plan).Run();
  return plan;
}

template Plan MakePlan<float>(const Kernels&, const ConstTensor&,
                              const Settings&, Context&);
template Plan MakePlan<double>(const Kernels&, const ConstTensor&,
                               const Settings&, Context&);

}  // namespace caffe::codec::sz
