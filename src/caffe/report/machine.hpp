#ifndef CAFFE_SRC_REPORT_MACHINE_HPP_
#define CAFFE_SRC_REPORT_MACHINE_HPP_

#include "report/json.hpp"

namespace caffe {

// Host, system, processor, processors, threads, and memory in bytes, as far as
// the system tells.
JsonObject DescribeMachine();

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_MACHINE_HPP_
