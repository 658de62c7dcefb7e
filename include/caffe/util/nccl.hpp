#ifndef CAFFE_UTIL_NCCL_H_
#define CAFFE_UTIL_NCCL_H_

// Caffe declares helpers here in builds with NCCL, and nothing in others.

#endif  // CAFFE_UTIL_NCCL_H_
