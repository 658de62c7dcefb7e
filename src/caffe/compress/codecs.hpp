#ifndef CAFFE_SRC_COMPRESS_CODECS_HPP_
#define CAFFE_SRC_COMPRESS_CODECS_HPP_

#include "caffe/compress/codec.hpp"

// One function for each codec; registry.cpp lists them.
namespace caffe::codec {

const Codec& SzCodecInstance();

}  // namespace caffe::codec

#endif  // CAFFE_SRC_COMPRESS_CODECS_HPP_
