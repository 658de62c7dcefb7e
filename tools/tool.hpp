#ifndef CAFFE_TOOLS_TOOL_HPP_
#define CAFFE_TOOLS_TOOL_HPP_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// What all command-line tools share: one way in and out of main, and one way
// to show progress.

namespace caffe {

// Runs a tool: `body` gets what is left of the command line after the flags
// (argv[0] is the program) and returns the exit code. Logging goes to stderr
// as well, as in Caffe. An exception from `body` becomes the one line
// "name: message" on stderr and exit code 1.
//
// --help prints `usage`, which starts with how to call the tool and has an
// example, and then the flags that `name`.cpp defines: all, or those listed.
int RunTool(const std::string& name, int argc, char** argv,
            const std::string& usage,
            const std::function<int(int argc, char** argv)>& body,
            const std::vector<std::string>& flags = {});

// Throws Error "wrong number of arguments..." with the usage's first line
// unless `holds`.
void RequireUsage(bool holds, const std::string& usage);

// One line at the bottom of the terminal that is written over and over. Log
// lines go on top of it. Does nothing where stderr is not a terminal.
class LiveLine {
 public:
  LiveLine();
  ~LiveLine() { Clear(); }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  bool is_terminal() const { return is_terminal_; }
  // Cuts the text where the terminal's line ends.
  void Show(const std::string& text);
  void Clear();

 private:
  const bool is_terminal_;
  bool shown_ = false;
};

// Shows how far a long loop is: a live line on a terminal, a log line every so
// often elsewhere. For example "12000 of 60000 images (20%), 5321/s, ETA 9s".
class Progress {
 public:
  // `what` is counted, in the plural. A total of 0 means that nobody knows it.
  explicit Progress(const std::string& what, int64_t total = 0);

  void Add(int64_t n = 1);
  // Ends the live line and logs the final count and rate.
  void Finish();

  int64_t count() const { return count_; }

 private:
  using Clock = std::chrono::steady_clock;

  double SecondsSince(Clock::time_point start) const;
  std::string Text() const;

  const std::string what_;
  const int64_t total_;
  int64_t count_ = 0;
  LiveLine line_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_shown_ = start_;
};

// A span of time for people, such as "9s", "4m10s" or "2h05m".
std::string ReadableTime(double seconds);

}  // namespace caffe

#endif  // CAFFE_TOOLS_TOOL_HPP_
