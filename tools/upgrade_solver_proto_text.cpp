#include "caffe/util/upgrade_proto.hpp"
#include "upgrade_tool.hpp"

int main(int argc, char** argv) {
  constexpr char kUsage[] =
      "usage: upgrade_solver_proto_text IN OUT\n"
      "Brings a solver's prototxt of any older version of Caffe into today's "
      "format.\n"
      "\n"
      "Example:\n"
      "  upgrade_solver_proto_text old_solver.prototxt new_solver.prototxt\n";
  return caffe::RunUpgradeTool("upgrade_solver_proto_text", argc, argv, kUsage,
                               caffe::FileFormat::kText,
                               caffe::UpgradeSolverAsNeeded);
}
