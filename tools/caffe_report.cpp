#include <iostream>

#include "caffe_commands.hpp"
#include "report/report_page.hpp"
#include "tool.hpp"

namespace caffe {

int Report(const std::string& run_dir) {
  const std::string output =
      FLAGS_output.empty() ? run_dir + "/report.html" : FLAGS_output;
  WriteReport(run_dir, output);
  std::cout << output << '\n';
  return 0;
}

}  // namespace caffe
