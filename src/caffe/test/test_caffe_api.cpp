#include <concepts>

#include "caffe/test/test_caffe_main.hpp"

// Names everything in data/caffe_api.txt, the table of all headers, macros,
// classes, public methods and functions of Caffe 1.0: this file compiles only
// when nothing is missing. generate_api_probes.py writes the part that does the
// naming.

#include "caffe_api_probes.inc"

namespace caffe::api {

TEST(CaffeApiTest, AllOfTheTableIsNamed) {
  EXPECT_EQ(108, kCaffeHeaders);
  EXPECT_EQ(114, kCaffeClasses);
  EXPECT_EQ(533, kCaffeMembers);
  EXPECT_EQ(134, kCaffeFunctions);
  EXPECT_EQ(31, kCaffeMacros);
}

}  // namespace caffe::api
