#ifndef CAFFE_TEST_CODEC_PROMISES_HPP_
#define CAFFE_TEST_CODEC_PROMISES_HPP_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "caffe/compress/codec.hpp"

// What every codec promises of decompressed values, checked value by value
// against what was compressed, with plain arithmetic.
namespace caffe::codec {

template <typename T>
bool SameBits(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

template <typename T>
bool SameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](T x, T y) { return SameBits(x, y); });
}

// The first value that is not as promised, or "".
template <typename T>
class PromiseKeeper {
 public:
  PromiseKeeper(const std::vector<T>& in, const std::vector<T>& out,
                const Settings& settings)
      : in_(in), out_(out), settings_(settings) {}

  std::string Check(const std::string& codec) const {
    if (in_.size() != out_.size()) return "wrong number of values";
    static const std::map<std::string, bool (PromiseKeeper::*)(size_t) const>
        promises = {
            {"bitmask", &PromiseKeeper::IsSignBit},
            {"csr", &PromiseKeeper::IsExact},
            {"fp16", &PromiseKeeper::IsHalf},
            {"jpeg", &PromiseKeeper::IsSane},
            {"lossless", &PromiseKeeper::IsExact},
            {"q2", &PromiseKeeper::IsInGroup<3>},
            {"q4", &PromiseKeeper::IsInGroup<15>},
            {"q8", &PromiseKeeper::IsInGroup<255>},
            {"raw", &PromiseKeeper::IsExact},
            {"shifted", &PromiseKeeper::IsNear},
            {"sz", &PromiseKeeper::IsWithinBound},
            {"zvc", &PromiseKeeper::IsExact},
        };
    const auto promise = promises.find(codec);
    if (promise == promises.end()) return "nobody knows what it promises";
    for (size_t i = 0; i < in_.size(); ++i) {
      if ((this->*promise->second)(i)) continue;
      std::ostringstream text;
      text.precision(17);
      text << "value " << i << ": " << in_[i] << " became " << out_[i]
           << " with bound " << settings_.bound;
      return text.str();
    }
    return "";
  }

 private:
  bool IsExact(size_t i) const { return SameBits(in_[i], out_[i]); }

  // Differences of doubles are exact enough for floats, and those of doubles
  // round to the bound at worst.
  double Error(size_t i) const {
    return std::abs(static_cast<double>(in_[i]) - static_cast<double>(out_[i]));
  }

  bool IsWithinBound(size_t i) const {
    if (in_[i] == T(0)) return out_[i] == T(0);
    if (!std::isfinite(in_[i])) return IsExact(i);
    const bool flips =
        (in_[i] > 0 && out_[i] < 0) || (in_[i] < 0 && out_[i] > 0);
    return Error(i) <= settings_.bound &&
           (settings_.rounding == Rounding::kDither || !flips);
  }

  // Zeros, too.
  bool IsNear(size_t i) const {
    return std::isfinite(in_[i]) ? Error(i) <= settings_.bound : IsExact(i);
  }

  bool IsHalf(size_t i) const {
    if (std::isnan(in_[i])) return std::isnan(out_[i]);
    if (std::isinf(in_[i]) || in_[i] == T(0)) return IsExact(i);
    return Error(i) <= std::max(0x1p-11 * std::abs(double{in_[i]}), 0x1p-25);
  }

  bool IsSignBit(size_t i) const {
    return SameBits(out_[i], in_[i] > T(0) ? T(1) : T(0));
  }

  // Of the 256 neighbours that value i belongs to.
  struct Group {
    size_t first = std::numeric_limits<size_t>::max();
    bool finite = true;
    double least = 0;
    double most = 0;
  };
  const Group& GroupOf(size_t i) const {
    constexpr size_t kValues = 256;
    const size_t first = i / kValues * kValues;
    if (group_.first != first) {
      const auto begin = in_.begin() + first;
      const auto end = begin + std::min<size_t>(kValues, in_.end() - begin);
      group_.first = first;
      group_.finite =
          std::all_of(begin, end, [](T x) { return std::isfinite(x); });
      group_.least = *std::min_element(begin, end);
      group_.most = *std::max_element(begin, end);
    }
    return group_;
  }

  template <int kLevels>
  bool IsInGroup(size_t i) const {
    const Group& group = GroupOf(i);
    if (!group.finite) return IsExact(i);
    // A few roundings come on top.
    const double epsilon = std::numeric_limits<T>::epsilon();
    const double slack =
        4 * epsilon * std::max(std::abs(group.least), std::abs(group.most));
    const double step = group.most / kLevels - group.least / kLevels;
    return Error(i) <= step * (1 + 4 * epsilon) + slack;
  }

  // Without a bound, all one can ask is that what was a number is one.
  bool IsSane(size_t i) const {
    return std::isfinite(in_[i]) ? std::isfinite(out_[i]) : IsExact(i);
  }

  const std::vector<T>& in_;
  const std::vector<T>& out_;
  const Settings& settings_;
  mutable Group group_;
};

template <typename T>
std::string BrokenPromise(const Codec& codec, const std::vector<T>& in,
                          const std::vector<T>& out, const Settings& settings) {
  return PromiseKeeper<T>(in, out, settings).Check(std::string(codec.name()));
}

}  // namespace caffe::codec

#endif  // CAFFE_TEST_CODEC_PROMISES_HPP_
