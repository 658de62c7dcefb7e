#ifndef CAFFE_CUDNN_CONV_LAYER_HPP_
#define CAFFE_CUDNN_CONV_LAYER_HPP_

// Caffe declares a layer here in builds with cuDNN, and nothing in others.

#endif  // CAFFE_CUDNN_CONV_LAYER_HPP_
