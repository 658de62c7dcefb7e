#include "caffe/util/upgrade_proto.hpp"
#include "upgrade_tool.hpp"

int main(int argc, char** argv) {
  constexpr char kUsage[] =
      "usage: upgrade_net_proto_text IN OUT\n"
      "Brings a net's prototxt of any older version of Caffe into today's "
      "format.\n"
      "\n"
      "Example:\n"
      "  upgrade_net_proto_text old.prototxt new.prototxt\n";
  return caffe::RunUpgradeTool("upgrade_net_proto_text", argc, argv, kUsage,
                               caffe::FileFormat::kText,
                               caffe::UpgradeNetAsNeeded);
}
