#ifndef CAFFE_SRC_COMPRESS_CODECS_HPP_
#define CAFFE_SRC_COMPRESS_CODECS_HPP_

#include "caffe/compress/codec.hpp"

// One function for each codec; registry.cpp lists them.
namespace caffe::codec {

const Codec& BitmaskCodecInstance();
const Codec& CsrCodecInstance();
const Codec& Fp16CodecInstance();
const Codec& JpegCodecInstance();
const Codec& LosslessCodecInstance();
const Codec& Q2CodecInstance();
const Codec& Q4CodecInstance();
const Codec& Q8CodecInstance();
const Codec& RawCodecInstance();
const Codec& ShiftedCodecInstance();
const Codec& SzCodecInstance();
const Codec& ZvcCodecInstance();

}  // namespace caffe::codec

#endif  // CAFFE_SRC_COMPRESS_CODECS_HPP_
