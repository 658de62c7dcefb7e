#ifndef CAFFE_COMMON_HPP_
#define CAFFE_COMMON_HPP_

#include <gflags/gflags.h>
#include <glog/logging.h>

#include <boost/make_shared.hpp>
#include <boost/shared_ptr.hpp>
#include <boost/weak_ptr.hpp>
#include <climits>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "caffe/error.hpp"
#include "caffe/util/device_alternate.hpp"

#define STRINGIFY(m) #m
#define AS_STRING(m) STRINGIFY(m)

// The macros below are part of Caffe's interface: layers written for Caffe use
// them.

#define DISABLE_COPY_AND_ASSIGN(classname) \
 private:                                  \
  classname(const classname&);             \
  classname& operator=(const classname&)

#define INSTANTIATE_CLASS(classname)   \
  char gInstantiationGuard##classname; \
  template class classname<float>;     \
  template class classname<double>

#define INSTANTIATE_LAYER_GPU_FORWARD(classname) \
  template void classname<float>::Forward_gpu(   \
      const std::vector<Blob<float>*>& bottom,   \
      const std::vector<Blob<float>*>& top);     \
  template void classname<double>::Forward_gpu(  \
      const std::vector<Blob<double>*>& bottom,  \
      const std::vector<Blob<double>*>& top);

#define INSTANTIATE_LAYER_GPU_BACKWARD(classname) \
  template void classname<float>::Backward_gpu(   \
      const std::vector<Blob<float>*>& top,       \
      const std::vector<bool>& propagate_down,    \
      const std::vector<Blob<float>*>& bottom);   \
  template void classname<double>::Backward_gpu(  \
      const std::vector<Blob<double>*>& top,      \
      const std::vector<bool>& propagate_down,    \
      const std::vector<Blob<double>*>& bottom)

#define INSTANTIATE_LAYER_GPU_FUNCS(classname) \
  INSTANTIATE_LAYER_GPU_FORWARD(classname);    \
  INSTANTIATE_LAYER_GPU_BACKWARD(classname)

#define NOT_IMPLEMENTED LOG(FATAL) << "Not Implemented Yet"

namespace cv {
class Mat;
}

namespace caffe {

// Caffe's headers bring these names into the namespace, and layers written for
// Caffe rely on them. Its pointers are Boost's, and so are theirs.
using boost::shared_ptr;
using std::fstream;
using std::ios;
using std::isinf;
using std::isnan;
using std::make_pair;
using std::map;
using std::ostringstream;
using std::pair;
using std::set;
using std::string;
using std::stringstream;
using std::vector;

// Parses gflags and starts logging; every tool calls it first.
void GlobalInit(int* pargc, char*** pargv);

// Settings of the calling thread: mode, random numbers, and its place among
// parallel solvers.
class Caffe {
 public:
  ~Caffe();

  static Caffe& Get();

  enum Brew { CPU, GPU };

  // A random number generator; its type is known to util/rng.hpp only.
  class RNG {
   public:
    RNG();
    explicit RNG(unsigned int seed);
    RNG(const RNG&);
    RNG& operator=(const RNG&);
    void* generator();

   private:
    class Generator;
    shared_ptr<Generator> generator_;
  };

  // The thread's generator, seeded from the system when nobody seeded it.
  static RNG& rng_stream();

  static Brew mode() { return Get().mode_; }
  // Throws Error for GPU in a build without CUDA.
  static void set_mode(Brew mode);
  static void set_random_seed(const unsigned int seed);

  static void SetDevice(const int device_id);
  static void DeviceQuery();
  static bool CheckDevice(const int device_id);
  // The first usable device from start_id on, or -1.
  static int FindDevice(const int start_id = 0);

  static int solver_count() { return Get().solver_count_; }
  static void set_solver_count(int val) { Get().solver_count_ = val; }
  static int solver_rank() { return Get().solver_rank_; }
  static void set_solver_rank(int val) { Get().solver_rank_ = val; }
  static bool multiprocess() { return Get().multiprocess_; }
  static void set_multiprocess(bool val) { Get().multiprocess_ = val; }
  static bool root_solver() { return Get().solver_rank_ == 0; }

 private:
  Caffe();

  shared_ptr<RNG> random_generator_;
  Brew mode_ = CPU;
  int solver_count_ = 1;
  int solver_rank_ = 0;
  bool multiprocess_ = false;

  DISABLE_COPY_AND_ASSIGN(Caffe);
};

}  // namespace caffe

#endif  // CAFFE_COMMON_HPP_
