#ifndef CAFFE_SRC_CPU_ENGINE_HPP_
#define CAFFE_SRC_CPU_ENGINE_HPP_

// Which of two implementations of the same thing a kernel uses.
namespace caffe::cpu {

enum class Kernels {
  // Whatever is the fastest here.
  kFastest,
  // Plain loops and GEMM, the same on every machine: what layers with
  // engine: CAFFE use and what tests compare the fast ones with.
  kReference,
};

// The calling thread's choice; kFastest unless a ScopedKernels is alive.
Kernels kernels();

// Makes the choice for the calling thread until the end of its scope.
class ScopedKernels {
 public:
  explicit ScopedKernels(Kernels choice);
  ~ScopedKernels();
  ScopedKernels(const ScopedKernels&) = delete;
  ScopedKernels& operator=(const ScopedKernels&) = delete;

 private:
  const Kernels outer_;
};

// What a layer with Caffe's engine setting uses: CAFFE asks for the reference,
// DEFAULT and CUDNN leave the choice to the thread.
template <typename Parameter>
Kernels KernelsFor(const Parameter& param) {
  return param.engine() == Parameter::CAFFE ? Kernels::kReference : kernels();
}

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_ENGINE_HPP_
