#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <fstream>

#include "caffe/proto/caffe.pb.h"
#include "caffe/test/test_caffe_main.hpp"

// Compares caffe.proto with the table of everything that Caffe 1.0 has in it,
// data/caffe_proto_fields.txt. The only additions allowed are fields with
// numbers of ours.

namespace caffe {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

constexpr int kFirstNumberOfOurs = 8800;

string WithoutPackage(const string& full_name) {
  return full_name.substr(string("caffe.").size());
}

string TypeOf(const FieldDescriptor& field) {
  string type = field.type_name();
  if (field.message_type() != nullptr) {
    type += ":" + field.message_type()->full_name();
  } else if (field.enum_type() != nullptr) {
    type += ":" + field.enum_type()->full_name();
  }
  return type;
}

string LabelOf(const FieldDescriptor& field) {
  return field.is_repeated()   ? "repeated"
         : field.is_required() ? "required"
                               : "optional";
}

string DefaultOf(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(field.default_value_int32());
    case FieldDescriptor::CPPTYPE_UINT32:
      return std::to_string(field.default_value_uint32());
    case FieldDescriptor::CPPTYPE_INT64:
      return std::to_string(field.default_value_int64());
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Concat(field.default_value_float());
    case FieldDescriptor::CPPTYPE_BOOL:
      return field.default_value_bool() ? "true" : "false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return field.default_value_enum()->name();
    case FieldDescriptor::CPPTYPE_STRING:
      return "'" + field.default_value_string() + "'";
    default:
      return Concat("a ", field.cpp_type_name(), " that the test cannot print");
  }
}

class ProtoTable {
 public:
  explicit ProtoTable(const FileDescriptor& file) {
    Add(Concat("file\tcaffe.proto\tpackage=", file.package(),
               "\tsyntax=", FileDescriptor::SyntaxName(file.syntax())));
    for (int i = 0; i < file.enum_type_count(); ++i) Add(*file.enum_type(i));
    for (int i = 0; i < file.message_type_count(); ++i) {
      Add(*file.message_type(i));
    }
    std::sort(lines_.begin(), lines_.end());
  }

  const vector<string>& lines() const { return lines_; }

 private:
  void Add(const string& line) { lines_.push_back(line); }

  void Add(const EnumDescriptor& type) {
    for (int i = 0; i < type.value_count(); ++i) {
      Add(Concat("enum\t", WithoutPackage(type.full_name()), ".",
                 type.value(i)->name(), " = ", type.value(i)->number()));
    }
  }

  void Add(const FieldDescriptor& field) {
    if (field.number() >= kFirstNumberOfOurs) return;
    Add(Concat("field\t", WithoutPackage(field.full_name()), " = ",
               field.number(), "\t", TypeOf(field), "\t", LabelOf(field),
               field.has_default_value() ? "\tdefault=" + DefaultOf(field) : "",
               field.is_packed() ? "\tpacked" : ""));
  }

  void Add(const Descriptor& message) {
    Add("message\t" + WithoutPackage(message.full_name()));
    for (int i = 0; i < message.field_count(); ++i) Add(*message.field(i));
    for (int i = 0; i < message.enum_type_count(); ++i) {
      Add(*message.enum_type(i));
    }
    for (int i = 0; i < message.nested_type_count(); ++i) {
      Add(*message.nested_type(i));
    }
  }

  vector<string> lines_;
};

vector<string> LinesOf(const string& filename) {
  vector<string> lines;
  std::ifstream file(filename);
  for (string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

void ExpectNone(const vector<string>& from, const vector<string>& except,
                const string& what) {
  vector<string> rest;
  std::set_difference(from.begin(), from.end(), except.begin(), except.end(),
                      std::back_inserter(rest));
  for (const string& line : rest) ADD_FAILURE() << what << ": " << line;
}

TEST(ProtoFieldsTest, CaffeProtoIsCaffes) {
  const vector<string> caffe = LinesOf(TEST_DATA_DIR "/caffe_proto_fields.txt");
  // The file, 63 messages, 423 fields and 111 enum values.
  ASSERT_EQ(1 + 63 + 423 + 111, caffe.size());
  const ProtoTable table(*NetParameter::descriptor()->file());
  ExpectNone(caffe, table.lines(), "missing or different");
  ExpectNone(table.lines(), caffe, "not in Caffe");
}

}  // namespace caffe
