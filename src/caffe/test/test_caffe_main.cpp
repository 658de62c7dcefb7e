#include "caffe/test/test_caffe_main.hpp"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  caffe::GlobalInit(&argc, &argv);
  return RUN_ALL_TESTS();
}
