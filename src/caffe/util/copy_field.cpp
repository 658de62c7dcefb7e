#include "util/copy_field.hpp"

#include <glog/logging.h>
#include <google/protobuf/text_format.h>

#include "caffe/error.hpp"

namespace caffe {

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

void CopyMessage(const Message& from, Message* to,
                 const FieldDescriptor& to_field) {
  (to_field.is_repeated() ? to->GetReflection()->AddMessage(to, &to_field)
                          : to->GetReflection()->MutableMessage(to, &to_field))
      ->CopyFrom(from);
}

// `index` is -1 for a field that is not repeated.
void CopyValue(const Message& from, const FieldDescriptor& field, int index,
               Message* to, const FieldDescriptor& to_field) {
  // Not through text: blobs are large.
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    const auto& reflection = *from.GetReflection();
    CopyMessage(index < 0 ? reflection.GetMessage(from, &field)
                          : reflection.GetRepeatedMessage(from, &field, index),
                to, to_field);
    return;
  }
  // Text converts between all kinds of numbers and enums, and checks ranges.
  std::string text;
  TextFormat::PrintFieldValueToString(from, &field, index, &text);
  Require(TextFormat::Parser().ParseFieldValueFromString(text, &to_field, to),
          "the value ", text, " of ", field.name(), " does not fit ",
          to_field.full_name());
}

}  // namespace

std::vector<const FieldDescriptor*> FieldsThatAreSet(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  return fields;
}

void CopyField(const Message& from, const FieldDescriptor& field, Message* to,
               const std::string& path) {
  const size_t dot = path.find('.');
  const FieldDescriptor* const to_field =
      to->GetDescriptor()->FindFieldByName(path.substr(0, dot));
  CHECK(to_field != nullptr) << to->GetTypeName() << " has no " << path;
  if (dot != std::string::npos) {
    CopyField(from, field, to->GetReflection()->MutableMessage(to, to_field),
              path.substr(dot + 1));
    return;
  }
  if (!field.is_repeated()) {
    CopyValue(from, field, -1, to, *to_field);
    return;
  }
  const int size = from.GetReflection()->FieldSize(from, &field);
  for (int i = 0; i < size; ++i) CopyValue(from, field, i, to, *to_field);
}

}  // namespace caffe
