#include "compress/checksum.hpp"

#include <bit>
#include <cstring>

namespace caffe::codec {

namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87u;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9u;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63u;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5u;

template <typename T>
uint64_t Read(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

uint64_t Round(uint64_t sum, uint64_t word) {
  return std::rotl(sum + word * kPrime2, 31) * kPrime1;
}

}  // namespace

uint64_t Hash64(std::span<const uint8_t> bytes) {
  const uint8_t* at = bytes.data();
  size_t left = bytes.size();
  uint64_t hash = kPrime5;
  if (left >= 32) {
    uint64_t sum[4] = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
    for (; left >= 32; left -= 32) {
      for (uint64_t& s : sum) {
        s = Round(s, Read<uint64_t>(at));
        at += 8;
      }
    }
    hash = std::rotl(sum[0], 1) + std::rotl(sum[1], 7) + std::rotl(sum[2], 12) +
           std::rotl(sum[3], 18);
    for (const uint64_t s : sum) {
      hash = (hash ^ Round(0, s)) * kPrime1 + kPrime4;
    }
  }
  hash += bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    hash =
        std::rotl(hash ^ Round(0, Read<uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  if (left >= 4) {
    hash =
        std::rotl(hash ^ Read<uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    left -= 4;
    at += 4;
  }
  for (; left > 0; --left, ++at) {
    hash = std::rotl(hash ^ *at * kPrime5, 11) * kPrime1;
  }
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace caffe::codec
