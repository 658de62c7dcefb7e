#ifndef CAFFE_UTIL_DEVICE_ALTERNATE_H_
#define CAFFE_UTIL_DEVICE_ALTERNATE_H_

// For layers written for Caffe that declare Forward_gpu/Backward_gpu and stub
// them out where there is no CUDA. Layers of this library have no need of it:
// Layer's own Forward_gpu falls back to Forward_cpu.

#ifdef CPU_ONLY

#define NO_GPU \
  throw ::caffe::Error("built without CUDA: the GPU is not available")

#define STUB_GPU_FORWARD(classname, funcname)                               \
  template <typename Dtype>                                                 \
  void classname<Dtype>::funcname##_gpu(const std::vector<Blob<Dtype>*>&,   \
                                        const std::vector<Blob<Dtype>*>&) { \
    NO_GPU;                                                                 \
  }

#define STUB_GPU_BACKWARD(classname, funcname)                              \
  template <typename Dtype>                                                 \
  void classname<Dtype>::funcname##_gpu(const std::vector<Blob<Dtype>*>&,   \
                                        const std::vector<bool>&,           \
                                        const std::vector<Blob<Dtype>*>&) { \
    NO_GPU;                                                                 \
  }

#define STUB_GPU(classname)            \
  STUB_GPU_FORWARD(classname, Forward) \
  STUB_GPU_BACKWARD(classname, Backward)

#endif  // CPU_ONLY

#endif  // CAFFE_UTIL_DEVICE_ALTERNATE_H_
