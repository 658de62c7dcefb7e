#include "cpu/stream.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

// Highway compiles what follows once for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/stream.cpp"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void StreamTarget(size_t bytes, const void* from, void* to) {
  const hn::ScalableTag<uint8_t> tag;
  const size_t lanes = hn::Lanes(tag);
  const uint8_t* const source = static_cast<const uint8_t*>(from);
  uint8_t* const target = static_cast<uint8_t*>(to);
  // Streams need whole vectors at aligned addresses.
  const size_t misaligned = reinterpret_cast<uintptr_t>(target) % lanes;
  size_t i = std::min(bytes, misaligned == 0 ? 0 : lanes - misaligned);
  std::memcpy(target, source, i);
  for (; i + lanes <= bytes; i += lanes) {
    hn::Stream(hn::LoadU(tag, source + i), tag, target + i);
  }
  std::memcpy(target + i, source + i, bytes - i);
  hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace caffe::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace caffe::cpu {

HWY_EXPORT(StreamTarget);

void StreamBytes(size_t bytes, const void* from, void* to) {
  HWY_DYNAMIC_DISPATCH(StreamTarget)(bytes, from, to);
}

}  // namespace caffe::cpu
#endif
