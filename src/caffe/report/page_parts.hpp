#ifndef CAFFE_SRC_REPORT_PAGE_PARTS_HPP_
#define CAFFE_SRC_REPORT_PAGE_PARTS_HPP_

#include <string>

#include "report/run_history.hpp"

// The parts that the page of a run is made of, as HTML. Each is empty when the
// log has nothing for it.

namespace caffe {

std::string PageStyle();

// page_charts.cpp
std::string TrainingCharts(const RunHistory& run);
std::string MemoryChart(const RunHistory& run);
std::string CompressionCharts(const RunHistory& run);

// page_tables.cpp
std::string SummaryTiles(const RunHistory& run);
std::string InputTable(const RunHistory& run);
std::string PeakTable(const RunHistory& run);
std::string HappeningTable(const RunHistory& run);
std::string Description(const RunHistory& run);

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_PAGE_PARTS_HPP_
