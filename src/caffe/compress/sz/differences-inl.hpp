// Differences of tokens and their sums. Included once for every SIMD target.

#if defined(CAFFE_SZ_DIFFERENCES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAFFE_SZ_DIFFERENCES_INL_HPP_
#undef CAFFE_SZ_DIFFERENCES_INL_HPP_
#else
#define CAFFE_SZ_DIFFERENCES_INL_HPP_
#endif

#include <algorithm>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace caffe::codec::sz {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void Subtract(const int8_t* tokens, size_t n, size_t distance,
              int8_t* differences) {
  const size_t first = distance < n ? distance : n;
  std::memcpy(differences, tokens, first);
  const hn::ScalableTag<int8_t> d;
  size_t i = first;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::StoreU(
        hn::Sub(hn::LoadU(d, tokens + i), hn::LoadU(d, tokens + i - distance)),
        d, differences + i);
  }
  for (; i < n; ++i) {
    differences[i] = static_cast<int8_t>(tokens[i] - tokens[i - distance]);
  }
}

int8_t AccumulateLeft(int8_t before, size_t n, int8_t* tokens) {
  const hn::FixedTag<int8_t, 16> d;
  auto carry = hn::Set(d, before);
  const auto last = hn::Set(d, int8_t{15});
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    // Sums within 16 bytes by doubling steps.
    auto sum = hn::LoadU(d, tokens + i);
    sum = hn::Add(sum, hn::ShiftLeftBytes<1>(d, sum));
    sum = hn::Add(sum, hn::ShiftLeftBytes<2>(d, sum));
    sum = hn::Add(sum, hn::ShiftLeftBytes<4>(d, sum));
    sum = hn::Add(sum, hn::ShiftLeftBytes<8>(d, sum));
    // Only one addition waits for those before.
    hn::StoreU(hn::Add(sum, carry), d, tokens + i);
    carry = hn::Add(carry, hn::TableLookupBytes(sum, last));
  }
  int8_t sum = hn::GetLane(carry);
  for (; i < n; ++i) {
    sum = static_cast<int8_t>(sum + tokens[i]);
    tokens[i] = sum;
  }
  return sum;
}

// tokens[i] += tokens[i - distance], in vectors no longer than the distance:
// they must not reach into what they depend on.
template <size_t kLongest>
HWY_INLINE size_t AccumulateFrom(size_t first, size_t n, size_t distance,
                                 int8_t* tokens) {
  const hn::CappedTag<int8_t, kLongest> d;
  size_t i = first;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto from = hn::LoadU(d, tokens + i - distance);
    hn::StoreU(hn::Add(hn::LoadU(d, tokens + i), from), d, tokens + i);
  }
  return i;
}

// The same for a distance of one to two vectors, whose last row is kept in
// registers: a load that spans two stores would have to wait for both. Returns
// where less than a row is left.
template <size_t kLongest>
HWY_INLINE size_t AccumulateRows(size_t first, size_t n, size_t distance,
                                 int8_t* tokens) {
  const hn::CappedTag<int8_t, kLongest> d;
  const size_t lanes = hn::Lanes(d);
  if (distance < lanes || distance > 2 * lanes) return first;
  const size_t second = distance - lanes;
  size_t i = first;
  auto front = hn::LoadU(d, tokens + i - distance);
  auto back = hn::LoadU(d, tokens + i - lanes);
  for (; i + distance <= n; i += distance) {
    front = hn::Add(front, hn::LoadU(d, tokens + i));
    back = hn::Add(back, hn::LoadU(d, tokens + i + second));
    hn::StoreU(front, d, tokens + i);
    hn::StoreU(back, d, tokens + i + second);
  }
  return i;
}

void AccumulateAbove(size_t first, size_t n, size_t row, int8_t* tokens) {
  size_t i = std::max(first, row);
  if (i < n) {
    i = AccumulateRows<8>(i, n, row, tokens);
    i = AccumulateRows<16>(i, n, row, tokens);
    i = AccumulateRows<32>(i, n, row, tokens);
  }
  if (row >= 32) {
    i = AccumulateFrom<32>(i, n, row, tokens);
  } else if (row >= 16) {
    i = AccumulateFrom<16>(i, n, row, tokens);
  } else if (row >= 8) {
    i = AccumulateFrom<8>(i, n, row, tokens);
  }
  for (; i < n; ++i) {
    tokens[i] = static_cast<int8_t>(tokens[i] + tokens[i - row]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace caffe::codec::sz
HWY_AFTER_NAMESPACE();

#endif  // include guard that lets every target include this file once
