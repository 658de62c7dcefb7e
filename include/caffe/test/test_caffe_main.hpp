#ifndef CAFFE_TEST_TEST_CAFFE_MAIN_HPP_
#define CAFFE_TEST_TEST_CAFFE_MAIN_HPP_

#include <glog/logging.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "caffe/common.hpp"

using std::cout;
using std::endl;

// Where tests find examples and data, from the project's folder; a build may
// say better. Any device will do.
#define CUDA_TEST_DEVICE -1
#ifndef EXAMPLES_SOURCE_DIR
#define EXAMPLES_SOURCE_DIR "examples/"
#endif
#ifndef ABS_TEST_DATA_DIR
#define ABS_TEST_DATA_DIR "src/caffe/test/data"
#endif

int main(int argc, char** argv);

namespace caffe {

// A fixture in the mode of its device. Use it with
// TYPED_TEST_SUITE(MyTest, TestDtypesAndDevices).
template <typename TypeParam>
class MultiDeviceTest : public ::testing::Test {
 public:
  typedef typename TypeParam::Dtype Dtype;

 protected:
  MultiDeviceTest() { Caffe::set_mode(TypeParam::device); }
};

typedef ::testing::Types<float, double> TestDtypes;

template <typename TypeParam>
struct CPUDevice {
  typedef TypeParam Dtype;
  static const Caffe::Brew device = Caffe::CPU;
};

template <typename Dtype>
class CPUDeviceTest : public MultiDeviceTest<CPUDevice<Dtype>> {};

typedef ::testing::Types<CPUDevice<float>, CPUDevice<double>>
    TestDtypesAndDevices;

}  // namespace caffe

#endif  // CAFFE_TEST_TEST_CAFFE_MAIN_HPP_
