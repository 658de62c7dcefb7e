#ifndef CAFFE_SRC_UTIL_SHARED_BY_PATH_HPP_
#define CAFFE_SRC_UTIL_SHARED_BY_PATH_HPP_

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "caffe/common.hpp"
#include "caffe/error.hpp"

namespace caffe {

// Objects of which a process may have only one for each file, such as open
// databases. They live as long as somebody uses them. Any thread may call.
template <typename T>
class SharedByPath {
 public:
  // The object for the path; make() makes it where there is none.
  shared_ptr<T> GetOrMake(const std::string& path,
                          const std::function<shared_ptr<T>()>& make) {
    const std::lock_guard lock(mutex_);
    if (shared_ptr<T> object = Find(path)) return object;
    return Add(path, make());
  }

  // A new object; throws Error where there is one.
  shared_ptr<T> Make(const std::string& path,
                     const std::function<shared_ptr<T>()>& make) {
    const std::lock_guard lock(mutex_);
    Require(Find(path) == nullptr, path,
            " is open already and cannot be opened for writing");
    return Add(path, make());
  }

 private:
  static std::string Key(const std::string& path) {
    std::error_code error;
    const auto key = std::filesystem::weakly_canonical(path, error);
    return error ? path : key.string();
  }

  shared_ptr<T> Find(const std::string& path) const {
    const auto found = objects_.find(Key(path));
    return found == objects_.end() ? nullptr : found->second.lock();
  }

  shared_ptr<T> Add(const std::string& path, shared_ptr<T> object) {
    std::erase_if(objects_,
                  [](const auto& entry) { return entry.second.expired(); });
    objects_[Key(path)] = object;
    return object;
  }

  std::mutex mutex_;
  std::map<std::string, boost::weak_ptr<T>> objects_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_UTIL_SHARED_BY_PATH_HPP_
