#ifndef CAFFE_SRC_COMPRESS_SZ_GROUPS_HPP_
#define CAFFE_SRC_COMPRESS_SZ_GROUPS_HPP_

#include <array>
#include <bit>
#include <cstdint>

#include "compress/sz/kernels.hpp"

// How FAST packs kGroup tokens: with as many bits each as the largest needs,
// which a code of 4 bits tells. Codes 0 to 7 are unsigned numbers of that many
// bits; from kSignedCode up there are negative ones, of 1 to 8 bits.
namespace caffe::codec::sz {

constexpr int kSignedCode = 8;
// The signed code of 8 bits: tokens are stored as they are.
constexpr int kWholeBytes = 15;

constexpr int GroupWidth(int code) {
  return code < kSignedCode ? code : code - kSignedCode + 1;
}

constexpr size_t GroupBytes(int code) {
  return static_cast<size_t>(GroupWidth(code)) * kGroup / 8;
}

// The bits that a token needs beside its sign, which is the highest one.
constexpr uint8_t FoldToken(uint8_t token) {
  return token < 128 ? token : token ^ 127;
}

// The code for tokens that have these bits, all of them put together.
constexpr int GroupCode(uint8_t folded) {
  return std::bit_width(folded & 127u) + (folded < 128 ? 0 : kSignedCode);
}

// The bits of a group are stored in parts of 4, 2 and 1 bits a token, those
// that make up the width, lowest bits first. The tables say what the bits of a
// token stand for in each of them; in a part that is not there, for nothing.
struct GroupTable {
  std::array<uint8_t, 16> four;
  std::array<uint8_t, 16> two;
  // What the bit of 1 stands for, in every byte.
  std::array<uint8_t, 16> one;
  // Where the bit of 1 is in a token, in every byte.
  std::array<uint8_t, 16> one_place;
};

constexpr std::array<GroupTable, 16> MakeGroupTables() {
  std::array<GroupTable, 16> tables = {};
  for (int code = 0; code < 16; ++code) {
    GroupTable& table = tables[code];
    const int whole = GroupWidth(code);
    int shift = 0;
    const auto meaning = [&](int width, int field) {
      const bool has_sign = code >= kSignedCode && shift + width == whole;
      const bool negative = has_sign && field >> (width - 1) != 0;
      return static_cast<uint8_t>((field << shift) -
                                  (negative ? 1 << whole : 0));
    };
    if ((whole & 4) != 0) {
      for (int field = 0; field < 16; ++field) {
        table.four[field] = meaning(4, field);
      }
      shift += 4;
    }
    if ((whole & 2) != 0) {
      for (int field = 0; field < 4; ++field) {
        table.two[field] = meaning(2, field);
      }
      shift += 2;
    }
    if ((whole & 1) != 0) {
      table.one.fill(meaning(1, 1));
      table.one_place.fill(static_cast<uint8_t>(1 << shift));
    }
  }
  return tables;
}

alignas(64) inline constexpr std::array<GroupTable, 16> kGroupTables =
    MakeGroupTables();

}  // namespace caffe::codec::sz

#endif  // CAFFE_SRC_COMPRESS_SZ_GROUPS_HPP_
