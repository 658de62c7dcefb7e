#ifndef CAFFE_TEST_PLAIN_SZ_DECODER_HPP_
#define CAFFE_TEST_PLAIN_SZ_DECODER_HPP_

#include <cstdint>
#include <span>
#include <vector>

namespace caffe::codec {

// All values of an sz frame, decoded as docs/codec_sz.md tells it: one value at
// a time, with nothing of the library. For tests that compare both, and for
// readers of the page. Throws Error for a frame that the page does not allow.
// T is float or double, as the frame says.
template <typename T>
std::vector<T> PlainSzDecode(std::span<const uint8_t> frame);

}  // namespace caffe::codec

#endif  // CAFFE_TEST_PLAIN_SZ_DECODER_HPP_
