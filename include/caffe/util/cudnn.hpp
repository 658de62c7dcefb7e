#ifndef CAFFE_UTIL_CUDNN_H_
#define CAFFE_UTIL_CUDNN_H_

// Caffe declares helpers here in builds with cuDNN, and nothing in others.

#endif  // CAFFE_UTIL_CUDNN_H_
