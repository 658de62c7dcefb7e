#ifndef CAFFE_SRC_CPU_DNNL_UTIL_HPP_
#define CAFFE_SRC_CPU_DNNL_UTIL_HPP_

#include <dnnl.hpp>

#include <cstddef>

// What kernels that run on oneDNN share. Its primitives are fastest with
// layouts of their own; blobs are always plain, so operands are converted on
// the way in and out.
namespace caffe::cpu {

dnnl::engine& DnnlEngine();

// The calling thread's. What is executed on it is done when the call returns.
dnnl::stream& DnnlStream();

// Floats with these extents: row-major, and as the primitive likes it best.
dnnl::memory::desc PlainLayout(const dnnl::memory::dims& extents);
dnnl::memory::desc AnyLayout(const dnnl::memory::dims& extents);

// An array as primitives take it. oneDNN does not tell arrays it reads from
// those it writes.
dnnl::memory ArrayAt(const dnnl::memory::desc& layout, const void* values);

// For all primitives: their scratchpads come from our workspace.
const dnnl::primitive_attr& WithOurScratchpad();

// The description of a primitive with these settings. oneDNN changed how it is
// made with version 3. Throws dnnl::error when there is no implementation.
template <typename Primitive, typename... Settings>
auto Describe(const Settings&... settings) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(DnnlEngine(), settings...,
                                            WithOurScratchpad());
#else
  return typename Primitive::primitive_desc(
      typename Primitive::desc(settings...), WithOurScratchpad(), DnnlEngine());
#endif
}

// The same for the backward of the primitive that `forward` describes.
template <typename Primitive, typename Forward, typename... Settings>
auto DescribeBackward(const Forward& forward, const Settings&... settings) {
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(DnnlEngine(), settings..., forward,
                                            WithOurScratchpad());
#else
  return typename Primitive::primitive_desc(
      typename Primitive::desc(settings...), WithOurScratchpad(), DnnlEngine(),
      forward);
#endif
}

// Whether the implementation that oneDNN found is more than plain loops.
bool IsFast(const char* impl_info);

// A plain array that a primitive reads in the layout it wants.
class DnnlInput {
 public:
  DnnlInput() = default;
  DnnlInput(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted);

  // Bytes of the copy in the other layout; 0 when the plain array will do.
  size_t copy_size() const { return is_plain_ ? 0 : wanted_.get_size(); }
  const dnnl::memory::desc& layout() const { return wanted_; }
  // The memory to hand to the primitive, after filling `copy` where needed.
  dnnl::memory Load(const float* values, void* copy) const;

 private:
  bool is_plain_ = true;
  dnnl::memory::desc plain_;
  dnnl::memory::desc wanted_;
  dnnl::reorder convert_;
};

// A plain array that a primitive writes in the layout it wants.
class DnnlOutput {
 public:
  // What happens to the values that the array holds already.
  enum class Mode { kOverwrite, kAdd };

  DnnlOutput() = default;
  DnnlOutput(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted,
             Mode mode);

  // As for DnnlInput; adding takes a copy always.
  size_t copy_size() const { return is_direct_ ? 0 : wanted_.get_size(); }
  // The memory to hand to the primitive.
  dnnl::memory Target(float* values, void* copy) const;
  // Brings what the primitive wrote to where it belongs.
  void Store(void* copy, float* values) const;

 private:
  bool is_direct_ = true;
  dnnl::memory::desc plain_;
  dnnl::memory::desc wanted_;
  dnnl::reorder convert_;
};

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_DNNL_UTIL_HPP_
