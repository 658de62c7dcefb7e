#ifndef CAFFE_SRC_UTIL_COPY_FIELD_HPP_
#define CAFFE_SRC_UTIL_COPY_FIELD_HPP_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>
#include <vector>

namespace caffe {

// The fields that are set, in the order of their numbers.
std::vector<const google::protobuf::FieldDescriptor*> FieldsThatAreSet(
    const google::protobuf::Message& message);

// Copies one field of a message into a field of another kind of message, given
// as a path such as "convolution_param.pad". Repeated fields are appended to;
// enums go by name; other types must be the same or convert without loss.
// Throws Error for a value that does not fit.
void CopyField(const google::protobuf::Message& from,
               const google::protobuf::FieldDescriptor& field,
               google::protobuf::Message* to, const std::string& path);

}  // namespace caffe

#endif  // CAFFE_SRC_UTIL_COPY_FIELD_HPP_
