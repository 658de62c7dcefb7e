#include "device.hpp"

#include "caffe/error.hpp"

namespace caffe::device {

namespace {

[[noreturn]] void BuiltWithoutCuda() {
  Fail(
      "built without CUDA: the GPU is not available; use CPU mode "
      "(solver_mode: CPU, and no --gpu)");
}

}  // namespace

void RequireDevice() { BuiltWithoutCuda(); }
int Count() { return 0; }
void Select(int) { BuiltWithoutCuda(); }
bool IsUsable(int) { return false; }
void Query() { BuiltWithoutCuda(); }
void* Allocate(size_t) { BuiltWithoutCuda(); }
void Free(void*) { BuiltWithoutCuda(); }
void CopyToDevice(void*, const void*, size_t) { BuiltWithoutCuda(); }
void CopyToHost(void*, const void*, size_t) { BuiltWithoutCuda(); }
void SetZero(void*, size_t) { BuiltWithoutCuda(); }

}  // namespace caffe::device
