#include "tool.hpp"

#include <gflags/gflags.h>
#include <glog/logging.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>

#include "caffe/common.hpp"

namespace caffe {

namespace {

// Short enough to look alive, long enough to cost nothing.
constexpr double kLiveSeconds = 0.2;
constexpr double kLogSeconds = 10;

bool AsksForHelp(int argc, char** argv) {
  for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    for (const char* const flag : {"-h", "-help", "--help"}) {
      if (std::strcmp(argv[i], flag) == 0) return true;
    }
  }
  return false;
}

// gflags would print the flags of every library, and call help a failure.
void PrintHelp(const std::string& name, const std::string& usage,
               const std::vector<std::string>& shown) {
  std::cout << usage;
  if (!usage.empty() && usage.back() != '\n') std::cout << '\n';
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  const std::string source = "/" + name + ".cpp";
  bool first = true;
  for (const gflags::CommandLineFlagInfo& flag : flags) {
    if (!("/" + flag.filename).ends_with(source)) continue;
    if (!shown.empty() &&
        std::find(shown.begin(), shown.end(), flag.name) == shown.end()) {
      continue;
    }
    if (first) std::cout << "\nFlags:\n";
    first = false;
    const bool is_text = flag.type == "string";
    std::cout << "  --" << flag.name << "  (" << flag.type << ", default "
              << (is_text ? "\"" + flag.default_value + "\""
                          : flag.default_value)
              << ")\n      " << flag.description << '\n';
  }
}

int TerminalColumns() {
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

int RunTool(const std::string& name, int argc, char** argv,
            const std::string& usage,
            const std::function<int(int argc, char** argv)>& body,
            const std::vector<std::string>& flags) {
  if (AsksForHelp(argc, argv)) {
    PrintHelp(name, usage, flags);
    return 0;
  }
  FLAGS_alsologtostderr = true;
  gflags::SetUsageMessage(usage);
  GlobalInit(&argc, &argv);
  try {
    return body(argc, argv);
  } catch (const std::bad_alloc&) {
    std::cerr << name << ": out of memory" << std::endl;
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << std::endl;
  }
  return 1;
}

void RequireUsage(bool holds, const std::string& usage) {
  if (holds) return;
  Fail("wrong number of arguments; ", usage.substr(0, usage.find('\n')),
       " (--help tells more)");
}

LiveLine::LiveLine() : is_terminal_(isatty(STDERR_FILENO) != 0) {}

void LiveLine::Show(const std::string& text) {
  if (!is_terminal_) return;
  // Leaves the cursor at the start of the line, so that the next log line
  // takes the place of this one.
  std::fprintf(stderr, "%.*s\033[K\r", TerminalColumns() - 1, text.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void LiveLine::Clear() {
  if (!shown_) return;
  std::fprintf(stderr, "\033[K");
  std::fflush(stderr);
  shown_ = false;
}

Progress::Progress(const std::string& what, int64_t total)
    : what_(what), total_(total) {}

void Progress::Add(int64_t n) {
  count_ += n;
  const double interval = line_.is_terminal() ? kLiveSeconds : kLogSeconds;
  if (SecondsSince(last_shown_) < interval) return;
  last_shown_ = Clock::now();
  if (line_.is_terminal()) {
    line_.Show(Text());
  } else {
    LOG(INFO) << Text();
  }
}

void Progress::Finish() {
  line_.Clear();
  const double seconds = SecondsSince(start_);
  LOG(INFO) << count_ << " " << what_ << " in " << ReadableTime(seconds) << " ("
            << static_cast<int64_t>(count_ / std::max(seconds, 1e-3)) << "/s)";
}

double Progress::SecondsSince(Clock::time_point start) const {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string Progress::Text() const {
  const double rate = count_ / std::max(SecondsSince(start_), 1e-3);
  std::string text = std::to_string(count_);
  if (total_ > 0) text += " of " + std::to_string(total_);
  text += " " + what_;
  if (total_ > 0) text += " (" + std::to_string(100 * count_ / total_) + "%)";
  text += ", " + std::to_string(static_cast<int64_t>(rate)) + "/s";
  if (total_ > count_ && rate > 0) {
    text += ", ETA " + ReadableTime((total_ - count_) / rate);
  }
  return text;
}

std::string ReadableTime(double seconds) {
  const long long whole = std::llround(seconds);
  char text[64];
  if (whole < 60) {
    std::snprintf(text, sizeof(text), "%llds", whole);
  } else if (whole < 3600) {
    std::snprintf(text, sizeof(text), "%lldm%02llds", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof(text), "%lldh%02lldm", whole / 3600,
                  whole % 3600 / 60);
  }
  return text;
}

}  // namespace caffe
