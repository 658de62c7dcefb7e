#include "report/machine.hpp"

#include <omp.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace caffe {

namespace {

// What follows the colon in the first line of the file that starts with `key`.
std::string Lookup(const char* filename, const std::string& key) {
  std::ifstream file(filename);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

}  // namespace

JsonObject DescribeMachine() {
  JsonObject machine;
  utsname system;
  if (uname(&system) == 0) {
    machine.Add("host", system.nodename)
        .Add("system", std::string(system.sysname) + " " + system.release +
                           " " + system.machine);
  }
  const std::string processor = Lookup("/proc/cpuinfo", "model name");
  if (!processor.empty()) machine.Add("processor", processor);
  machine.Add("processors", sysconf(_SC_NPROCESSORS_ONLN))
      .Add("threads", omp_get_max_threads())
      .Add("memory", sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
  return machine;
}

}  // namespace caffe
