#include "settings_table.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <fstream>
#include <sstream>

#include "caffe/error.hpp"

namespace caffe {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::SourceLocation;

namespace {

std::string Code(const std::string& text) { return "`" + text + "`"; }

std::string TypeOf(const FieldDescriptor& field) {
  std::string type = field.type_name();
  if (field.message_type() != nullptr) type = field.message_type()->name();
  if (type == "FillerParameter") type = "[filler](README.md#fillers)";
  if (const EnumDescriptor* const values = field.enum_type()) {
    type.clear();
    for (int i = 0; i < values->value_count(); ++i) {
      type += (i == 0 ? "" : ", ") + Code(values->value(i)->name());
    }
  }
  return type + (field.is_repeated() ? ", repeated" : "");
}

std::string DefaultOf(const FieldDescriptor& field) {
  if (field.is_required()) return "(must be set)";
  if (!field.has_default_value()) return "";
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return field.default_value_bool() ? "true" : "false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return Code(field.default_value_enum()->name());
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Concat(field.default_value_float());
    case FieldDescriptor::CPPTYPE_INT32:
      return Concat(field.default_value_int32());
    case FieldDescriptor::CPPTYPE_UINT32:
      return Concat(field.default_value_uint32());
    case FieldDescriptor::CPPTYPE_STRING:
      return Code("\"" + field.default_value_string() + "\"");
    default:
      Fail("cannot print the default of ", field.full_name());
  }
}

// The comment above a field, in one line.
std::string CommentOf(const FieldDescriptor& field) {
  SourceLocation location;
  field.GetSourceLocation(&location);
  const std::string& comment = location.leading_comments;
  Require(!comment.empty(), "caffe.proto does not say what ", field.full_name(),
          " is for");
  std::istringstream words(comment);
  std::string line;
  for (std::string word; words >> word;)
    line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace

SettingsTables::SettingsTables(const std::string& descriptors)
    : pool_(std::make_unique<google::protobuf::DescriptorPool>()) {
  std::ifstream stream(descriptors, std::ios::binary);
  google::protobuf::FileDescriptorSet files;
  Require(files.ParseFromIstream(&stream), "cannot read ", descriptors);
  for (const auto& file : files.file()) {
    Require(pool_->BuildFile(file) != nullptr, descriptors, " lacks what ",
            file.name(), " needs");
  }
}

SettingsTables::~SettingsTables() = default;

const Descriptor& SettingsTables::Message(const std::string& name) const {
  const Descriptor* const message =
      pool_->FindMessageTypeByName("caffe." + name);
  Require(message != nullptr, "caffe.proto has no message ", name);
  return *message;
}

std::string SettingsTables::Of(const std::string& message) const {
  const Descriptor& fields = Message(message);
  std::string table =
      "| field | type | default | meaning |\n| --- | --- | --- | --- |\n";
  for (int i = 0; i < fields.field_count(); ++i) {
    const FieldDescriptor& field = *fields.field(i);
    table += Concat("| ", Code(field.name()), " | ", TypeOf(field), " | ",
                    DefaultOf(field), " | ", CommentOf(field), " |\n");
  }
  return table;
}

std::string SettingsTables::MessageOf(const std::string& layer_field) const {
  const FieldDescriptor* const field =
      Message("LayerParameter").FindFieldByName(layer_field);
  Require(field != nullptr && field->message_type() != nullptr,
          "LayerParameter has no settings ", layer_field);
  return field->message_type()->name();
}

std::string SettingsTables::FieldOf(const std::string& message) const {
  const Descriptor& layer = Message("LayerParameter");
  for (int i = 0; i < layer.field_count(); ++i) {
    const Descriptor* const type = layer.field(i)->message_type();
    if (type != nullptr && type->name() == message) {
      return layer.field(i)->name();
    }
  }
  return "";
}

}  // namespace caffe
