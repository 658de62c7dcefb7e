#ifndef CAFFE_SRC_CPU_WORKSPACE_HPP_
#define CAFFE_SRC_CPU_WORKSPACE_HPP_

#include <cstddef>
#include <span>
#include <vector>

namespace caffe::cpu {

// Memory for what kernels need only while they run: column buffers, values in
// another layout, scratchpads. The kernels of a thread run one after the other,
// so they all use the same memory, which is as large as the hungriest of them
// asked for. Every thread has its own, freed when it ends.
class Workspace {
 public:
  // The calling thread's.
  static Workspace& Get();

  ~Workspace() { Release(); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // One array for each size in bytes, aligned to cache lines. They hold no
  // particular values and are good until the next call. Throws Error when there
  // is not that much memory.
  std::vector<void*> Reserve(std::span<const size_t> sizes);

  // An array of rows x columns values, as above.
  template <typename T>
  T* ReserveMatrix(size_t rows, size_t columns) {
    return static_cast<T*>(ReserveProduct(rows, columns, sizeof(T)));
  }

  // Bytes held, in use or not.
  size_t size() const { return size_; }
  // Gives all memory back; what Reserve returned is gone.
  void Release();

 private:
  Workspace() = default;
  void* ReserveProduct(size_t rows, size_t columns, size_t value_size);

  void* memory_ = nullptr;
  size_t size_ = 0;
};

}  // namespace caffe::cpu

#endif  // CAFFE_SRC_CPU_WORKSPACE_HPP_
