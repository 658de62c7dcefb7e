#include "cpu/dnnl_util.hpp"

#include <cstring>

namespace caffe::cpu {

dnnl::engine& DnnlEngine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& DnnlStream() {
  static thread_local dnnl::stream stream(DnnlEngine());
  return stream;
}

dnnl::memory::desc PlainLayout(const dnnl::memory::dims& extents) {
  dnnl::memory::dims strides(extents.size());
  dnnl::memory::dim stride = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= extents[i];
  }
  return {extents, dnnl::memory::data_type::f32, strides};
}

dnnl::memory::desc AnyLayout(const dnnl::memory::dims& extents) {
  return {extents, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

dnnl::memory ArrayAt(const dnnl::memory::desc& layout, const void* values) {
  return {layout, DnnlEngine(), const_cast<void*>(values)};
}

const dnnl::primitive_attr& WithOurScratchpad() {
  static const dnnl::primitive_attr attributes = [] {
    dnnl::primitive_attr made;
    made.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return made;
  }();
  return attributes;
}

bool IsFast(const char* impl_info) {
  return std::strstr(impl_info, "ref") == nullptr;
}

DnnlInput::DnnlInput(const dnnl::memory::desc& plain,
                     const dnnl::memory::desc& wanted)
    : is_plain_(plain == wanted), plain_(plain), wanted_(wanted) {
  if (is_plain_) return;
  convert_ = dnnl::reorder(dnnl::reorder::primitive_desc(
      DnnlEngine(), plain_, DnnlEngine(), wanted_));
}

dnnl::memory DnnlInput::Load(const float* values, void* copy) const {
  dnnl::memory from = ArrayAt(plain_, values);
  if (is_plain_) return from;
  dnnl::memory to = ArrayAt(wanted_, copy);
  convert_.execute(DnnlStream(), from, to);
  return to;
}

DnnlOutput::DnnlOutput(const dnnl::memory::desc& plain,
                       const dnnl::memory::desc& wanted, Mode mode)
    : is_direct_(plain == wanted && mode == Mode::kOverwrite),
      plain_(plain),
      wanted_(wanted) {
  if (is_direct_) return;
  dnnl::primitive_attr attributes;
  if (mode == Mode::kAdd) {
    dnnl::post_ops add;
    add.append_sum(1);
    attributes.set_post_ops(add);
  }
  convert_ = dnnl::reorder(dnnl::reorder::primitive_desc(
      DnnlEngine(), wanted_, DnnlEngine(), plain_, attributes));
}

dnnl::memory DnnlOutput::Target(float* values, void* copy) const {
  return ArrayAt(wanted_, is_direct_ ? values : copy);
}

void DnnlOutput::Store(void* copy, float* values) const {
  if (is_direct_) return;
  dnnl::memory from = ArrayAt(wanted_, copy);
  dnnl::memory to = ArrayAt(plain_, values);
  convert_.execute(DnnlStream(), from, to);
}

}  // namespace caffe::cpu
