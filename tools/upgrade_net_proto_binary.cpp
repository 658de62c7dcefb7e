#include "caffe/util/upgrade_proto.hpp"
#include "upgrade_tool.hpp"

int main(int argc, char** argv) {
  constexpr char kUsage[] =
      "usage: upgrade_net_proto_binary IN OUT\n"
      "Brings trained weights of any older version of Caffe into today's "
      "format.\n"
      "\n"
      "Example:\n"
      "  upgrade_net_proto_binary old.caffemodel new.caffemodel\n";
  return caffe::RunUpgradeTool("upgrade_net_proto_binary", argc, argv, kUsage,
                               caffe::FileFormat::kBinary,
                               caffe::UpgradeNetAsNeeded);
}
