#ifndef CAFFE_SRC_UTIL_FIRST_ERROR_HPP_
#define CAFFE_SRC_UTIL_FIRST_ERROR_HPP_

#include <google/protobuf/io/tokenizer.h>

#include <string>
#include <utility>

#include "caffe/common.hpp"

namespace caffe {

// Keeps the first complaint of the text parser; later ones only follow from it.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  // The source is what complaints begin with: a file's name, or a flag's.
  explicit FirstError(string source) : source_(std::move(source)) {}

  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const string& message) override {
    if (!message_.empty()) return;
    // Counted from zero; negative where the whole file is meant.
    message_ = line < 0 ? Concat(source_, ": ", message)
                        : Concat(source_, ":", line + 1, ":", column + 1, ": ",
                                 message);
  }

  const string& message() const { return message_; }

 private:
  const string source_;
  string message_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_UTIL_FIRST_ERROR_HPP_
