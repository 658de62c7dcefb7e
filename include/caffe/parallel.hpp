#ifndef CAFFE_PARALLEL_HPP_
#define CAFFE_PARALLEL_HPP_

// Caffe declares here what trains on several GPUs, in builds with NCCL. Kept so
// that sources that include it compile; there is nothing in it without a GPU.

#endif  // CAFFE_PARALLEL_HPP_
