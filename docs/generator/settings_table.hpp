#ifndef CAFFE_DOCS_GENERATOR_SETTINGS_TABLE_HPP_
#define CAFFE_DOCS_GENERATOR_SETTINGS_TABLE_HPP_

#include <memory>
#include <string>

namespace google::protobuf {
class Descriptor;
class DescriptorPool;
}  // namespace google::protobuf

namespace caffe {

// Describes messages of caffe.proto by what is in the file: fields, types,
// defaults, and the comments above them.
class SettingsTables {
 public:
  // Takes what protoc makes of the file with --include_source_info.
  explicit SettingsTables(const std::string& descriptors);
  ~SettingsTables();

  // A Markdown table of the fields of a message, such as "PoolingParameter".
  // Throws Error when there is no such message, or a field has no comment.
  std::string Of(const std::string& message) const;
  // The name of the message in a field of LayerParameter, such as
  // "pooling_param".
  std::string MessageOf(const std::string& layer_field) const;
  // The field of LayerParameter with such a message; empty if there is none.
  std::string FieldOf(const std::string& message) const;

 private:
  const google::protobuf::Descriptor& Message(const std::string& name) const;

  std::unique_ptr<google::protobuf::DescriptorPool> pool_;
};

}  // namespace caffe

#endif  // CAFFE_DOCS_GENERATOR_SETTINGS_TABLE_HPP_
