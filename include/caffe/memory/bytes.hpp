#ifndef CAFFE_MEMORY_BYTES_HPP_
#define CAFFE_MEMORY_BYTES_HPP_

#include <cstddef>
#include <string>

namespace caffe::memory {

// The bytes that "4GiB", "1.5 GB", "800MB", "64KiB" or "1000000" stands for.
// Throws Error when it is none of these, or more than there can be.
size_t ParseBytes(const std::string& text);

// For people: "12 KB", "407 MB", "9.30 GB", with MB = 10^6 bytes.
std::string ReadableBytes(double bytes);

}  // namespace caffe::memory

#endif  // CAFFE_MEMORY_BYTES_HPP_
