#include "compress/sz/kernels.hpp"

// Highway compiles what follows once for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compress/sz/kernels.cpp"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "hwy/highway.h"
// One lane is too few for the vector kernels; the plain ones stand in.
#if HWY_TARGET != HWY_SCALAR
#include "compress/sz/contexts-inl.hpp"
#include "compress/sz/differences-inl.hpp"
#include "compress/sz/groups-inl.hpp"
#include "compress/sz/planes-inl.hpp"
#include "compress/sz/quantize-inl.hpp"
#include "compress/sz/rans-inl.hpp"
#include "compress/sz/rows-inl.hpp"
#endif

HWY_BEFORE_NAMESPACE();
namespace caffe::codec::sz {
namespace HWY_NAMESPACE {

const Kernels* TargetKernels() {
#if HWY_TARGET == HWY_SCALAR
  return &PlainKernels();
#else
  static constexpr Kernels kernels = {
      .quantize = QuantizeFloat,
      .dequantize = DequantizeFloat,
      .to_rows = ToRows,
      .from_rows = FromRows,
      .encode = Encode,
      .decode = Decode,
      .decode_two = DecodeTwo,
      .neighbours = Neighbours,
      .pack_groups = PackGroups,
      .bytes_of_groups = BytesOfGroups,
      .unpack_groups = UnpackGroups,
      .subtract = Subtract,
      .accumulate_left = AccumulateLeft,
      .accumulate_above = AccumulateAbove,
      .pack_low = PackLow,
      .unpack_low = UnpackLow,
  };
  return &kernels;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec::sz
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace caffe::codec::sz {

HWY_EXPORT(TargetKernels);

const Kernels& BestKernels() { return *HWY_DYNAMIC_DISPATCH(TargetKernels)(); }

}  // namespace caffe::codec::sz
#endif
