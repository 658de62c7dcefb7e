#include <google/protobuf/text_format.h>

#include "caffe/error.hpp"
#include "caffe_commands.hpp"
#include "util/first_error.hpp"

namespace caffe {

void ApplyCompressionFlag(SolverParameter* param) {
  const std::string& text = FLAGS_compression;
  if (gflags::GetCommandLineFlagInfoOrDie("compression").is_default) return;
  if (text == "off") {
    param->clear_compression();
    return;
  }
  CompressionParameter* const settings = param->mutable_compression();
  if (text == "on") return;
  FirstError error("--compression");
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  CompressionParameter given;
  Require(parser.ParseFromString(text, &given), error.message());
  settings->MergeFrom(given);
}

}  // namespace caffe
