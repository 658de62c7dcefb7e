#ifndef CAFFE_TOOLS_UPGRADE_TOOL_HPP_
#define CAFFE_TOOLS_UPGRADE_TOOL_HPP_

#include <glog/logging.h>

#include <string>

#include "caffe/error.hpp"
#include "caffe/util/io.hpp"
#include "tool.hpp"

namespace caffe {

enum class FileFormat { kText, kBinary };

// What the upgrade tools do: read a message from the first argument, bring it
// up to date with upgrade(file, &message), and write it to the second.
template <typename Proto>
int RunUpgradeTool(const std::string& name, int argc, char** argv,
                   const std::string& usage, FileFormat format,
                   bool (*upgrade)(const std::string& file, Proto* proto)) {
  return RunTool(name, argc, argv, usage, [&](int count, char** arguments) {
    RequireUsage(count == 3, usage);
    const std::string in = arguments[1];
    const std::string out = arguments[2];
    const bool is_text = format == FileFormat::kText;
    Proto proto;
    is_text ? ReadProtoFromTextFileOrDie(in, &proto)
            : ReadProtoFromBinaryFileOrDie(in, &proto);
    const bool complete = upgrade(in, &proto);
    is_text ? WriteProtoToTextFile(proto, out)
            : WriteProtoToBinaryFile(proto, out);
    LOG(INFO) << "Wrote " << out;
    Require(complete, in, " could not be upgraded in full (see above); ", out,
            " has what could");
    return 0;
  });
}

}  // namespace caffe

#endif  // CAFFE_TOOLS_UPGRADE_TOOL_HPP_
