#ifndef CAFFE_SRC_DEVICE_HPP_
#define CAFFE_SRC_DEVICE_HPP_

#include <cstddef>

// What the library asks of an accelerator. The build links one implementation:
// no_cuda/, where every call that needs a device throws a named error.
namespace caffe::device {

// Throws Error unless this build can use a device at all.
void RequireDevice();

int Count();
void Select(int id);
bool IsUsable(int id);
// Logs the properties of the selected device.
void Query();

void* Allocate(size_t bytes);
void Free(void* pointer);
void CopyToDevice(void* to, const void* from, size_t bytes);
void CopyToHost(void* to, const void* from, size_t bytes);
void SetZero(void* pointer, size_t bytes);

}  // namespace caffe::device

#endif  // CAFFE_SRC_DEVICE_HPP_
