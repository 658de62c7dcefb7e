// Predictions and contexts of tokens. Included once for every SIMD target.

#if defined(CAFFE_SZ_CONTEXTS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAFFE_SZ_CONTEXTS_INL_HPP_
#undef CAFFE_SZ_CONTEXTS_INL_HPP_
#else
#define CAFFE_SZ_CONTEXTS_INL_HPP_
#endif

#include "compress/sz/kernels.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::codec::sz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Bytes of all lanes; a row takes kRowParts of these.
using D8 = hn::CappedTag<int8_t, kLanes>;
using DU8 = hn::Rebind<uint8_t, D8>;
using V8 = hn::Vec<D8>;
using VU8 = hn::Vec<DU8>;
constexpr size_t kRowParts = kLanes / hn::MaxLanes(D8());

HWY_INLINE size_t ByteLanes() { return hn::Lanes(D8()); }

// A row's neighbours: zeros or the left row stand in where there are none.
struct NeighbourRows {
  const int8_t* left;
  const int8_t* above;
  const int8_t* corner;
};

alignas(64) constexpr int8_t kZeroRow[kLanes] = {};

HWY_INLINE NeighbourRows NeighboursOf(const int8_t* rows, size_t at,
                                      size_t row) {
  NeighbourRows n;
  n.left = at > 0 ? rows + (at - 1) * kLanes : kZeroRow;
  const bool has_above = row > 0 && at >= row;
  n.above = has_above ? rows + (at - row) * kLanes : n.left;
  n.corner = has_above && at > row ? rows + (at - row - 1) * kLanes : kZeroRow;
  return n;
}

HWY_INLINE void Predict(V8 left, V8 above, V8 corner, V8* prediction,
                        VU8* activity) {
  const DU8 du;
  const V8 low = hn::Min(left, above);
  const V8 high = hn::Max(left, above);
  // Tokens have 7 bits, so only what lies outside anyway can saturate.
  const V8 plane = hn::SaturatedSub(hn::SaturatedAdd(left, above), corner);
  *prediction = hn::Min(hn::Max(plane, low), high);
  const auto distance = [&](V8 a, V8 b) HWY_ATTR {
    return hn::BitCast(du, hn::Sub(hn::Max(a, b), hn::Min(a, b)));
  };
  *activity = hn::SaturatedAdd(distance(left, corner), distance(above, corner));
}

HWY_INLINE void PredictVector(const NeighbourRows& n, size_t offset,
                              V8* prediction, VU8* activity) {
  const D8 d;
  Predict(hn::Load(d, n.left + offset), hn::Load(d, n.above + offset),
          hn::Load(d, n.corner + offset), prediction, activity);
}

void Neighbours(const int8_t* rows, size_t first, size_t last, size_t row,
                int8_t* prediction, uint8_t* activity) {
  for (size_t at = first; at < last; ++at) {
    const NeighbourRows n = NeighboursOf(rows, at, row);
    for (size_t i = 0; i < kLanes; i += ByteLanes()) {
      V8 p;
      VU8 a;
      PredictVector(n, i, &p, &a);
      hn::StoreU(p, D8(), prediction + (at - first) * kLanes + i);
      hn::StoreU(a, DU8(), activity + (at - first) * kLanes + i);
    }
  }
}

// The classes of a model, looked up instead of counted.
class ContextVectors {
 public:
  // Contexts come multiplied by `factor`.
  ContextVectors(const ContextModel& model, int factor)
      : predict_(model.predict ? -1 : 0) {
    for (int i = 0; i <= kMaxActivity; ++i) {
      activity_[i] = static_cast<uint8_t>(model.ActivityClass(i) *
                                          model.level_classes * factor);
    }
    for (int i = 0; i < 16; ++i) {
      below_[i] = static_cast<uint8_t>(model.LevelClass(i - 16) * factor);
      above_[i] = static_cast<uint8_t>(model.LevelClass(i) * factor);
    }
    static_assert(kMinLevel == -16 && kMaxLevel == 15 && kMaxActivity == 15);
  }

  HWY_INLINE VU8 ContextOf(V8 prediction, VU8 activity) const {
    const D8 d;
    const DU8 du;
    // A lookup gives 0 where the index has its highest bit set.
    const V8 level = hn::Min(hn::Max(prediction, hn::Set(d, int8_t{kMinLevel})),
                             hn::Set(d, int8_t{kMaxLevel}));
    const VU8 above = hn::BitCast(du, level);
    const VU8 below = hn::Xor(above, hn::Set(du, uint8_t{0x80}));
    const VU8 level_class =
        hn::Or(hn::TableLookupBytesOr0(hn::LoadDup128(du, below_), below),
               hn::TableLookupBytesOr0(hn::LoadDup128(du, above_), above));
    const VU8 small = hn::Min(activity, hn::Set(du, uint8_t{kMaxActivity}));
    return hn::Add(level_class,
                   hn::TableLookupBytes(hn::LoadDup128(du, activity_), small));
  }

  // What is subtracted from tokens: the prediction, or nothing.
  HWY_INLINE V8 Subtracted(V8 prediction) const {
    const hn::Repartition<int64_t, D8> d64;
    return hn::And(prediction, hn::BitCast(D8(), hn::Set(d64, predict_)));
  }

 private:
  // All bits or none.
  const int64_t predict_;
  // Classes times what they count for in a context.
  alignas(16) uint8_t activity_[16];
  alignas(16) uint8_t below_[16];
  alignas(16) uint8_t above_[16];
};

}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec::sz
HWY_AFTER_NAMESPACE();

#endif  // include guard that lets every target include this file once
