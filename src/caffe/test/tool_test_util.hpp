#ifndef CAFFE_SRC_TEST_TOOL_TEST_UTIL_HPP_
#define CAFFE_SRC_TEST_TOOL_TEST_UTIL_HPP_

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "caffe/test/test_caffe_main.hpp"
#include "temporary_folder.hpp"

// Runs tools as a user does, in an empty folder.

namespace caffe {

class ToolTest : public ::testing::Test {
 protected:
  struct Result {
    int exit_code;
    string output;  // Standard output and error.
  };

  // `prefix` goes before the tool's path.
  Result Run(const string& tool, const string& arguments,
             const string& prefix = "") const {
    const string command = "cd '" + folder_.path() + "' && TMPDIR='" +
                           folder_.path() + "' " + prefix + " " + TOOLS_DIR +
                           "/" + tool + " " + arguments + " 2>&1";
    FILE* const pipe = popen(command.c_str(), "r");
    CHECK(pipe);
    Result result;
    char buffer[4096];
    while (const size_t n = fread(buffer, 1, sizeof(buffer), pipe)) {
      result.output.append(buffer, n);
    }
    const int status = pclose(pipe);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
  }

  void ExpectSuccess(const string& tool, const string& arguments) const {
    const Result result = Run(tool, arguments);
    EXPECT_EQ(0, result.exit_code) << result.output;
  }

  // Expects that the tool says so, in one sentence at the end.
  void ExpectComplaint(const string& tool, const string& arguments,
                       const string& complaint) const {
    const Result result = Run(tool, arguments);
    EXPECT_EQ(1, result.exit_code) << result.output;
    const size_t start = result.output.rfind(
        '\n', result.output.size() - 2);  // Of the last line.
    const string last =
        result.output.substr(start == string::npos ? 0 : start + 1);
    EXPECT_THAT(last, ::testing::AllOf(::testing::HasSubstr(tool + ": "),
                                       ::testing::HasSubstr(complaint)))
        << result.output;
  }

  bool Exists(const string& name) const {
    return std::filesystem::exists(folder_ / name);
  }

  TemporaryFolder folder_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_TEST_TOOL_TEST_UTIL_HPP_
