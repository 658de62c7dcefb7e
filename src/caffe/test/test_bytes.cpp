#include "caffe/error.hpp"
#include "caffe/memory/bytes.hpp"
#include "caffe/test/test_caffe_main.hpp"

namespace caffe::memory {

TEST(Bytes, AmountsAreUnderstood) {
  EXPECT_EQ(size_t{4} << 30, ParseBytes("4GiB"));
  EXPECT_EQ(1500000000, ParseBytes("1.5 GB"));
  EXPECT_EQ(800000000, ParseBytes("800MB"));
  EXPECT_EQ(64 << 10, ParseBytes("64KiB"));
  EXPECT_EQ(12, ParseBytes("12"));
  EXPECT_EQ(12, ParseBytes("12B"));
}

TEST(Bytes, WhatIsNoAmountIsRefused) {
  for (const char* const text : {"", "GiB", "4 gigabytes", "4gib", "-1GB", "0",
                                 "nan", "inf", "1e300GB", "4GiB or so"}) {
    try {
      ParseBytes(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(std::string("'") + text +
                    "' is no amount of memory; write it like 4GiB or 800MB",
                error.what());
    }
  }
}

TEST(Bytes, AmountsAreReadable) {
  EXPECT_EQ("0 KB", ReadableBytes(0));
  EXPECT_EQ("1 KB", ReadableBytes(4));
  EXPECT_EQ("1.0 MB", ReadableBytes(999.6e3));
  EXPECT_EQ("407 MB", ReadableBytes(407170048));
  EXPECT_EQ("1.00 GB", ReadableBytes(999.6e6));
  EXPECT_EQ("9.30 GB", ReadableBytes(9299820544.));
}

}  // namespace caffe::memory
