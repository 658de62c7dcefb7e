#include "cpu/convolution_dnnl.hpp"

#include <omp.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "cpu/dnnl_util.hpp"
#include "cpu/parallel.hpp"
#include "cpu/workspace.hpp"

namespace caffe::cpu {

namespace {

using dnnl::memory;

// What oneDNN needs to know to make kernels.
struct Task {
  ConvolutionShape shape;
  bool input_gradient = false;
  bool weights_gradient = false;
  // Whether there is a bias to add, or its gradient to compute.
  bool bias = false;
  int threads = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): it is not a 0.
  auto operator<=>(const Task&) const = default;
};

// A shape in oneDNN's terms.
struct Extents {
  explicit Extents(const ConvolutionShape& shape)
      : input{shape.batch, shape.in_channels},
        weights{shape.out_channels / shape.group,
                shape.in_channels / shape.group},
        bias{shape.out_channels},
        output{shape.batch, shape.out_channels},
        stride(shape.stride.begin(), shape.stride.end()),
        pad(shape.pad.begin(), shape.pad.end()) {
    if (shape.group > 1) weights.insert(weights.begin(), shape.group);
    input.insert(input.end(), shape.input.begin(), shape.input.end());
    weights.insert(weights.end(), shape.kernel.begin(), shape.kernel.end());
    output.insert(output.end(), shape.output.begin(), shape.output.end());
    // oneDNN counts the values between the taps of a kernel.
    for (const int dilation : shape.dilation) gap.push_back(dilation - 1);
  }

  memory::desc BiasLayout(bool wanted) const {
    return wanted ? PlainLayout(bias) : memory::desc();
  }

  dnnl::convolution_forward::primitive_desc Forward(bool with_bias) const {
    return Describe<dnnl::convolution_forward>(
        dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct,
        AnyLayout(input), AnyLayout(weights), BiasLayout(with_bias),
        AnyLayout(output), stride, gap, pad, pad);
  }

  memory::dims input;
  memory::dims weights;
  memory::dims bias;
  memory::dims output;
  memory::dims stride;
  memory::dims gap;
  memory::dims pad;
};

int64_t Count(const memory::dims& extents) {
  int64_t count = 1;
  for (const memory::dim extent : extents) count *= extent;
  return count;
}

void Add(int64_t n, const float* from, float* to) {
  ParallelFor(n, kElementwiseGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] += from[i];
  });
}

// Runs a batch forward, shape.batch images at a time.
class ForwardPlan {
 public:
  explicit ForwardPlan(const Task& task)
      : extents_(task.shape), bias_(extents_.BiasLayout(task.bias)) {
    const auto chosen = extents_.Forward(task.bias);
    fast_ = IsFast(chosen.impl_info_str());
    if (!fast_) return;
    input_ = {PlainLayout(extents_.input), chosen.src_desc()};
    weights_ = {PlainLayout(extents_.weights), chosen.weights_desc()};
    output_ = {PlainLayout(extents_.output), chosen.dst_desc(),
               DnnlOutput::Mode::kOverwrite};
    scratchpad_ = chosen.scratchpad_desc();
    kernel_ = dnnl::convolution_forward(chosen);
  }

  bool fast() const { return fast_; }

  // REQUIRES: images is a multiple of those done at a time.
  void Run(int64_t images, const float* input, const float* weights,
           const float* bias, float* output) const {
    const size_t sizes[] = {input_.copy_size(), weights_.copy_size(),
                            output_.copy_size(), scratchpad_.get_size()};
    const std::vector<void*> work = Workspace::Get().Reserve(sizes);
    const memory loaded_weights = weights_.Load(weights, work[1]);
    const int64_t at_a_time = extents_.input[0];
    for (int64_t n = 0; n < images; n += at_a_time) {
      kernel_.execute(DnnlStream(),
                      {{DNNL_ARG_SRC, input_.Load(input, work[0])},
                       {DNNL_ARG_WEIGHTS, loaded_weights},
                       {DNNL_ARG_BIAS, ArrayAt(bias_, bias)},
                       {DNNL_ARG_DST, output_.Target(output, work[2])},
                       {DNNL_ARG_SCRATCHPAD, ArrayAt(scratchpad_, work[3])}});
      output_.Store(work[2], output);
      input += Count(extents_.input);
      output += Count(extents_.output);
    }
  }

 private:
  Extents extents_;
  bool fast_ = false;
  DnnlInput input_;
  DnnlInput weights_;
  memory::desc bias_;
  DnnlOutput output_;
  memory::desc scratchpad_;
  dnnl::convolution_forward kernel_;
};

// The gradient of the input.
struct InputGradient {
  explicit InputGradient(const Extents& extents) {
    const auto chosen = DescribeBackward<dnnl::convolution_backward_data>(
        extents.Forward(false), dnnl::algorithm::convolution_direct,
        AnyLayout(extents.input), AnyLayout(extents.weights),
        AnyLayout(extents.output), extents.stride, extents.gap, extents.pad,
        extents.pad);
    fast = IsFast(chosen.impl_info_str());
    if (!fast) return;
    weights = {PlainLayout(extents.weights), chosen.weights_desc()};
    output_diff = {PlainLayout(extents.output), chosen.diff_dst_desc()};
    input_diff = {PlainLayout(extents.input), chosen.diff_src_desc(),
                  DnnlOutput::Mode::kOverwrite};
    scratchpad = chosen.scratchpad_desc();
    kernel = dnnl::convolution_backward_data(chosen);
  }

  bool fast = false;
  DnnlInput weights;
  DnnlInput output_diff;
  DnnlOutput input_diff;
  memory::desc scratchpad;
  dnnl::convolution_backward_data kernel;
};

// The gradients of weights and bias.
struct WeightsGradient {
  WeightsGradient(const Extents& extents, bool with_bias)
      : bias_diff(extents.BiasLayout(with_bias)) {
    const auto chosen = DescribeBackward<dnnl::convolution_backward_weights>(
        extents.Forward(with_bias), dnnl::algorithm::convolution_direct,
        AnyLayout(extents.input), AnyLayout(extents.weights), bias_diff,
        AnyLayout(extents.output), extents.stride, extents.gap, extents.pad,
        extents.pad);
    fast = IsFast(chosen.impl_info_str());
    if (!fast) return;
    input = {PlainLayout(extents.input), chosen.src_desc()};
    output_diff = {PlainLayout(extents.output), chosen.diff_dst_desc()};
    weights_diff = {PlainLayout(extents.weights), chosen.diff_weights_desc(),
                    DnnlOutput::Mode::kAdd};
    scratchpad = chosen.scratchpad_desc();
    kernel = dnnl::convolution_backward_weights(chosen);
  }

  bool fast = false;
  DnnlInput input;
  DnnlInput output_diff;
  DnnlOutput weights_diff;
  memory::desc bias_diff;
  memory::desc scratchpad;
  dnnl::convolution_backward_weights kernel;
};

// Runs a batch backward, shape.batch images at a time.
class BackwardPlan {
 public:
  explicit BackwardPlan(const Task& task) : extents_(task.shape) {
    if (task.input_gradient) of_input_.emplace(extents_);
    if (task.weights_gradient) of_weights_.emplace(extents_, task.bias);
    same_output_diff_ =
        of_input_ && of_weights_ &&
        of_input_->output_diff.layout() == of_weights_->output_diff.layout();
  }

  bool fast() const {
    return (!of_input_ || of_input_->fast) &&
           (!of_weights_ || of_weights_->fast);
  }

  // REQUIRES: images is a multiple of those done at a time.
  void Run(int64_t images, const float* input, const float* weights,
           const float* output_diff,
           const ConvolutionGradients<float>& gradients) const {
    const int64_t at_a_time = extents_.input[0];
    const Work work = Reserve(images > at_a_time);
    const memory loaded_weights =
        of_input_ ? of_input_->weights.Load(weights, work[kWeights]) : memory();
    for (int64_t part = 0; part < images / at_a_time; ++part) {
      const float* const diff = output_diff + part * Count(extents_.output);
      const int64_t at = part * Count(extents_.input);
      memory loaded_diff;
      if (of_weights_) {
        loaded_diff = of_weights_->output_diff.Load(diff, work[kOutputDiff]);
        AddWeightsGradient(input + at, loaded_diff, work, part == 0,
                           gradients.bias);
      }
      if (of_input_) {
        if (!same_output_diff_) {
          loaded_diff = of_input_->output_diff.Load(diff, work[kOutputDiff]);
        }
        ComputeInputGradient(loaded_weights, loaded_diff, work,
                             gradients.input + at);
      }
    }
    if (of_weights_) {
      of_weights_->weights_diff.Store(work[kWeightsSum], gradients.weights);
    }
  }

 private:
  // Where operands are kept while the kernels run. kInput serves the input and
  // then its gradient. Sums of gradients over the parts of the batch stay in
  // the kernel's layout to the end.
  enum {
    kOutputDiff,
    kInput,
    kWeights,
    kWeightsSum,
    kWeightsPart,
    kBiasPart,
    kScratchpad,
    kNumArrays
  };
  using Work = std::vector<void*>;

  Work Reserve(bool several_parts) const {
    size_t sizes[kNumArrays] = {};
    if (of_input_) {
      sizes[kOutputDiff] = of_input_->output_diff.copy_size();
      sizes[kInput] = of_input_->input_diff.copy_size();
      sizes[kWeights] = of_input_->weights.copy_size();
      sizes[kScratchpad] = of_input_->scratchpad.get_size();
    }
    if (of_weights_) {
      const auto grow = [&](int array, size_t size) {
        sizes[array] = std::max(sizes[array], size);
      };
      grow(kOutputDiff, of_weights_->output_diff.copy_size());
      grow(kInput, of_weights_->input.copy_size());
      grow(kWeightsSum, of_weights_->weights_diff.copy_size());
      grow(kWeightsPart, several_parts ? sizes[kWeightsSum] : 0);
      grow(kBiasPart, of_weights_->bias_diff.get_size());
      grow(kScratchpad, of_weights_->scratchpad.get_size());
    }
    return Workspace::Get().Reserve(sizes);
  }

  void AddWeightsGradient(const float* input, const memory& output_diff,
                          const Work& work, bool first,
                          float* bias_diff) const {
    const WeightsGradient& of = *of_weights_;
    void* const part = first ? work[kWeightsSum] : work[kWeightsPart];
    of.kernel.execute(
        DnnlStream(),
        {{DNNL_ARG_SRC, of.input.Load(input, work[kInput])},
         {DNNL_ARG_DIFF_DST, output_diff},
         {DNNL_ARG_DIFF_WEIGHTS, of.weights_diff.Target(nullptr, part)},
         {DNNL_ARG_DIFF_BIAS, ArrayAt(of.bias_diff, work[kBiasPart])},
         {DNNL_ARG_SCRATCHPAD, ArrayAt(of.scratchpad, work[kScratchpad])}});
    if (!first) {
      Add(of.weights_diff.copy_size() / sizeof(float),
          static_cast<const float*>(part),
          static_cast<float*>(work[kWeightsSum]));
    }
    if (bias_diff != nullptr) {
      Add(extents_.bias[0], static_cast<const float*>(work[kBiasPart]),
          bias_diff);
    }
  }

  void ComputeInputGradient(const memory& weights, const memory& output_diff,
                            const Work& work, float* input_diff) const {
    const InputGradient& of = *of_input_;
    of.kernel.execute(
        DnnlStream(),
        {{DNNL_ARG_DIFF_DST, output_diff},
         {DNNL_ARG_WEIGHTS, weights},
         {DNNL_ARG_DIFF_SRC, of.input_diff.Target(input_diff, work[kInput])},
         {DNNL_ARG_SCRATCHPAD, ArrayAt(of.scratchpad, work[kScratchpad])}});
    of.input_diff.Store(work[kInput], input_diff);
  }

  Extents extents_;
  std::optional<InputGradient> of_input_;
  std::optional<WeightsGradient> of_weights_;
  bool same_output_diff_ = false;
};

// The plan for a task, or nullptr when oneDNN has nothing fast for it.
template <typename Plan>
std::shared_ptr<const Plan> Find(const Task& task) {
  // Nets have a few dozen shapes; whoever feeds images of ever new sizes must
  // not fill the memory.
  constexpr size_t kMost = 1024;
  static thread_local std::map<Task, std::shared_ptr<const Plan>> plans;
  const auto found = plans.find(task);
  if (found != plans.end()) return found->second;
  std::shared_ptr<const Plan> plan;
  try {
    plan = std::make_shared<const Plan>(task);
    if (!plan->fast()) plan.reset();
  } catch (const dnnl::error&) {
    // There is no implementation at all.
  }
  if (plans.size() >= kMost) plans.clear();
  return plans[task] = plan;
}

// Whether it is a shape oneDNN is made for. Kernels that see nothing but
// padding are left to the reference.
bool Suits(const ConvolutionShape& shape) {
  if (shape.input.size() > 3) return false;
  for (size_t i = 0; i < shape.input.size(); ++i) {
    const int64_t window = int64_t{shape.dilation[i]} * (shape.kernel[i] - 1);
    if (shape.input[i] == 0 || shape.pad[i] > window) return false;
  }
  return true;
}

// oneDNN knows no convolution without spatial axes.
ConvolutionShape WithSpatialAxis(ConvolutionShape shape) {
  if (!shape.input.empty()) return shape;
  for (std::vector<int>* extents : {&shape.input, &shape.kernel, &shape.stride,
                                    &shape.dilation, &shape.output}) {
    extents->push_back(1);
  }
  shape.pad.push_back(0);
  return shape;
}

// As many as get enough to do.
int UsefulThreads(const ConvolutionShape& shape) {
  constexpr int64_t kProductsForOne = 1 << 20;
  const int64_t products = shape.batch * shape.OutputSize() *
                           Count(Extents(shape).weights) / shape.out_channels;
  return static_cast<int>(std::clamp<int64_t>(products / kProductsForOne, 1,
                                              omp_get_max_threads()));
}

// How many images to convert and convolve at a time. Few, so that what is
// converted is still in the cache when it is used and takes little memory; but
// enough for all threads, and to make up for what is done with the weights
// every time.
int ImagesAtATime(const ConvolutionShape& shape, int threads) {
  constexpr int64_t kCachedValues = 1 << 19;
  constexpr int64_t kWeightsShare = 8;
  const int64_t per_image = shape.InputSize() + shape.OutputSize();
  const int64_t wanted =
      std::max(kCachedValues, kWeightsShare * Count(Extents(shape).weights));
  int64_t images = (wanted + per_image - 1) / per_image;
  images = (images + threads - 1) / threads * threads;
  return static_cast<int>(std::min<int64_t>(images, shape.batch));
}

// Finds plans for the two parts a batch falls into, those done so many at a
// time and the rest, and calls run(plan, first image, images) for each. False
// when there is no plan for one of them.
template <typename Plan, typename Run>
bool RunInParts(Task task, const Run& run) {
  const int batch = task.shape.batch;
  if (batch == 0) return true;
  if (!Suits(task.shape)) return false;
  task.threads = UsefulThreads(task.shape);
  const ScopedThreads scope(task.threads);
  task.shape = WithSpatialAxis(task.shape);
  const int at_a_time = ImagesAtATime(task.shape, task.threads);
  const int rest = batch % at_a_time;
  std::shared_ptr<const Plan> rest_plan;
  if (rest > 0) {
    task.shape.batch = rest;
    rest_plan = Find<Plan>(task);
    if (rest_plan == nullptr) return false;
  }
  task.shape.batch = at_a_time;
  const std::shared_ptr<const Plan> plan = Find<Plan>(task);
  if (plan == nullptr) return false;
  run(*plan, 0, batch - rest);
  if (rest > 0) run(*rest_plan, batch - rest, rest);
  return true;
}

}  // namespace

bool DnnlConvolutionForward(const ConvolutionShape& shape, const float* input,
                            const float* weights, const float* bias,
                            float* output) {
  const Task task{.shape = shape, .bias = bias != nullptr};
  return RunInParts<ForwardPlan>(
      task, [&](const ForwardPlan& plan, int64_t first, int64_t images) {
        plan.Run(images, input + first * shape.InputSize(), weights, bias,
                 output + first * shape.OutputSize());
      });
}

bool DnnlConvolutionBackward(const ConvolutionShape& shape, const float* input,
                             const float* weights, const float* output_diff,
                             const ConvolutionGradients<float>& gradients) {
  const Task task{
      .shape = shape,
      .input_gradient = gradients.input != nullptr,
      .weights_gradient = gradients.weights != nullptr,
      .bias = gradients.weights != nullptr && gradients.bias != nullptr};
  const auto from = [](auto* values, int64_t offset) {
    return values == nullptr ? nullptr : values + offset;
  };
  const bool done = RunInParts<BackwardPlan>(
      task, [&](const BackwardPlan& plan, int64_t first, int64_t images) {
        const int64_t in = first * shape.InputSize();
        const ConvolutionGradients<float> part{
            .input = from(gradients.input, in),
            .weights = gradients.weights,
            .bias = task.bias ? gradients.bias : nullptr};
        plan.Run(images, from(input, in), weights,
                 output_diff + first * shape.OutputSize(), part);
      });
  if (done && gradients.bias != nullptr && !task.bias) {
    AddBiasGradient(shape.batch, shape.out_channels,
                    shape.OutputSize() / shape.out_channels, output_diff,
                    gradients.bias);
  }
  return done;
}

}  // namespace caffe::cpu
