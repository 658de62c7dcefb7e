#ifndef CAFFE_SRC_REPORT_REPORT_PAGE_HPP_
#define CAFFE_SRC_REPORT_REPORT_PAGE_HPP_

#include <string>

#include "report/run_history.hpp"

namespace caffe {

// The page of a run: one HTML file that needs nothing else, in light and dark.
std::string ReportPage(const RunHistory& run);

// Reads the log in the folder of a run and writes its page. Throws Error when
// there is none, or it cannot be used.
void WriteReport(const std::string& run_dir, const std::string& output);

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_REPORT_PAGE_HPP_
