#ifndef CAFFE_TEST_TEST_ERROR_UTIL_HPP_
#define CAFFE_TEST_TEST_ERROR_UTIL_HPP_

#include <gtest/gtest.h>

#include <string>

#include "caffe/error.hpp"

namespace caffe {

// The message of the Error that `work` throws, for example
//
//   EXPECT_EQ("takes 2 bottom blob(s), not 1", ErrorOf([&] { SetUp(); }));
//
// The test fails when nothing is thrown.
template <typename Work>
std::string ErrorOf(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return std::string();
}

}  // namespace caffe

#endif  // CAFFE_TEST_TEST_ERROR_UTIL_HPP_
