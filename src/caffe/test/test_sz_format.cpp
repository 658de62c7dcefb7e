#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "caffe/compress/codec.hpp"
#include "codec_promises.hpp"
#include "codec_test_util.hpp"
#include "plain_frame.hpp"
#include "plain_sz_decoder.hpp"

// The codec sz against a decoder that was written from docs/codec_sz.md and
// from nothing else: the page is right and complete if both agree on every bit.
namespace caffe::codec {
namespace {

// Kinds of frames that a test has seen, so that it can say what it missed.
struct Seen {
  std::set<int> low_bits;
  std::set<int> differences;
  std::set<int> modes;
  std::set<bool> has_row;

  void Add(std::span<const uint8_t> frame) {
    Bytes in(ReadPlainFrame(frame).payload);
    in.Take(2);
    low_bits.insert(in.Get<uint8_t>());
    differences.insert(in.Get<uint8_t>());
    in.Take(8);
    has_row.insert(in.Get<uint32_t>() > 0);
    const auto blocks = in.Get<uint64_t>();
    in.Take(in.Get<uint32_t>());
    for (uint64_t i = 0; i < blocks; ++i) {
      modes.insert(static_cast<int>(in.Get<uint64_t>() >> 30 & 3));
    }
  }
};

template <typename T>
void ExpectSameAsPlain(const TestTensor<T>& tensor, Settings settings,
                       Seen* seen) {
  const Codec& sz = FindCodec("sz");
  for (const bool checksum : {false, true}) {
    settings.checksum = checksum;
    const auto frame = Pack(sz, tensor, settings);
    seen->Add(frame);
    const auto expected = Unpack<T>(sz, frame, tensor.values.size());
    ASSERT_TRUE(SameBits(expected, PlainSzDecode<T>(frame)))
        << "bound " << settings.bound;
  }
}

template <typename T>
class SzFormatTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SzFormatTest, Types);

// Sums of something for each row and something for each column: differences in
// both directions are 0.
template <typename T>
TestTensor<T> Sums(TensorGenerator* generator) {
  std::vector<T> terms(150);
  for (T& term : terms) term = static_cast<T>(generator->Below(30));
  TestTensor<T> tensor{{1, 80, 70}, {}};
  for (int y = 0; y < 80; ++y) {
    for (int x = 0; x < 70; ++x) {
      tensor.values.push_back(terms[x] + terms[70 + y]);
    }
  }
  return tensor;
}

TYPED_TEST(SzFormatTest, AllKindsOfValuesAndBounds) {
  TensorGenerator generator(1);
  Seen seen;
  for (int i = 0; i < 500 && !this->HasFatalFailure(); ++i) {
    const auto tensor =
        generator.RandomTensor<TypeParam>(i % 10 == 0 ? 5000 : 300);
    double bound = generator.RandomBound(tensor.values);
    if (i % 3 == 0) bound /= 1000;  // Many low bits.
    for (Settings settings : AllSettings(bound)) {
      settings.seed = generator.Below(1u << 31);
      ExpectSameAsPlain(tensor, settings, &seen);
    }
  }
  for (const Settings& settings : AllSettings(0.5)) {
    ExpectSameAsPlain(Sums<TypeParam>(&generator), settings, &seen);
  }
  EXPECT_EQ((std::set<int>{0, 1, 2}), seen.modes);
  EXPECT_EQ((std::set<int>{0, 1, 2, 3}), seen.differences);
  EXPECT_EQ(2, seen.has_row.size());
  EXPECT_GE(seen.low_bits.size(), 10);
}

TYPED_TEST(SzFormatTest, ManyBlocksAndSomeImages) {
  TensorGenerator generator(2);
  const Codec& sz = FindCodec("sz");
  for (const auto kind : {TensorGenerator::kSmoothRelu, TensorGenerator::kNoise,
                          TensorGenerator::kSparse, TensorGenerator::kWild}) {
    const auto tensor = generator.Tensor<TypeParam>(kind, Shape{23, 5, 19, 31});
    const size_t image = tensor.shape.image_values();
    for (const Settings& settings : AllSettings(0.02)) {
      const auto frame = Pack(sz, tensor, settings);
      const auto plain = PlainSzDecode<TypeParam>(frame);
      for (const ImageRange range :
           {ImageRange{0, 23}, ImageRange{7, 3}, ImageRange{22, 1}}) {
        const auto first = plain.begin() + range.first * image;
        EXPECT_TRUE(
            SameBits(std::vector(first, first + range.count * image),
                     Unpack<TypeParam>(sz, frame, range.count * image, range)));
      }
    }
  }
}

TYPED_TEST(SzFormatTest, EmptyTensorsAndSingleValues) {
  Seen seen;
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  for (const Settings& settings : AllSettings(0.5)) {
    ExpectSameAsPlain<TypeParam>({{0, 3}, {}}, settings, &seen);
    ExpectSameAsPlain<TypeParam>({{3, 0, 2}, {}}, settings, &seen);
    for (const TypeParam x : {TypeParam(5.2), TypeParam(-0.0), infinity}) {
      ExpectSameAsPlain<TypeParam>({{}, {x}}, settings, &seen);
      ExpectSameAsPlain<TypeParam>({{1, 1, 1, 1, 1, 1}, {x}}, settings, &seen);
    }
  }
}

// Whether the page allows the frame; its values then.
template <typename T>
bool IsAllowed(const std::vector<uint8_t>& frame, std::vector<T>* values) {
  try {
    *values = PlainSzDecode<T>(frame);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TYPED_TEST(SzFormatTest, WhatThePageAllowsIsReadAsItSays) {
  TensorGenerator generator(3);
  const Codec& sz = FindCodec("sz");
  int allowed = 0;
  for (int i = 0; i < 30; ++i) {
    const auto tensor = generator.RandomTensor<TypeParam>(100);
    const double bound = generator.RandomBound(tensor.values);
    for (Settings settings : AllSettings(bound)) {
      settings.checksum = false;
      ForFlips(Pack(sz, tensor, settings), [&](const auto& flipped, size_t) {
        std::vector<TypeParam> values;
        if (!IsAllowed(flipped, &values)) return;
        ++allowed;
        EXPECT_TRUE(
            SameBits(values, Unpack<TypeParam>(sz, flipped, values.size())));
      });
    }
  }
  EXPECT_GT(allowed, 10000);
}

TYPED_TEST(SzFormatTest, ChecksumsCoverEveryBit) {
  TensorGenerator generator(4);
  const auto tensor =
      generator.Tensor<TypeParam>(TensorGenerator::kSmooth, {2, 9, 11});
  for (const Settings& settings : AllSettings(0.1)) {
    ForFlips(Pack(FindCodec("sz"), tensor, settings),
             [&](const auto& flipped, size_t bit) {
               std::vector<TypeParam> values;
               EXPECT_FALSE(IsAllowed(flipped, &values)) << bit;
             });
  }
}

}  // namespace
}  // namespace caffe::codec
