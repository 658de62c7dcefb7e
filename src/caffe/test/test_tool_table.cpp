#include <fstream>

#include "tool_test_util.hpp"

// Compares the programs with data/caffe_tools_and_flags.txt, the table of all
// of Caffe 1.0's and of their flags, types and defaults.

namespace caffe {

using ::testing::HasSubstr;

class ToolTableTest : public ToolTest {};

// "--backend<tab>string<tab>default="lmdb"" as --help has it.
string AsInHelp(const string& row) {
  std::istringstream columns(row);
  string flag, type, value;
  columns >> flag >> type >> value;
  CHECK(value.starts_with("default=")) << row;
  return Concat("\n  ", flag, "  (", type, ", default ", value.substr(8),
                ")\n");
}

TEST_F(ToolTableTest, ProgramsHaveCaffesFlagsAndDefaults) {
  int programs = 0;
  int flags = 0;
  string help;
  std::ifstream table(TEST_DATA_DIR "/caffe_tools_and_flags.txt");
  for (string line; std::getline(table, line);) {
    if (line.starts_with("[")) {
      const std::filesystem::path source = line.substr(1, line.size() - 2);
      EXPECT_TRUE(std::filesystem::exists(PROJECT_DIR / source)) << source;
      const Result result = Run(source.stem(), "--help");
      EXPECT_EQ(0, result.exit_code) << source;
      help = result.output;
      ++programs;
    } else {
      EXPECT_THAT(help, HasSubstr(AsInHelp(line)));
      ++flags;
    }
  }
  EXPECT_EQ(11, programs);
  EXPECT_EQ(21, flags);
}

TEST_F(ToolTableTest, CaffeHasItsCommands) {
  for (const char* const command : {"train", "test", "time", "device_query"}) {
    const Result result = Run("caffe", Concat(command, " --help"));
    EXPECT_EQ(0, result.exit_code) << command;
    EXPECT_THAT(result.output, HasSubstr(Concat("usage: caffe ", command)));
  }
}

}  // namespace caffe
