#include "caffe/memory/bytes.hpp"

#include <charconv>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "caffe/error.hpp"

namespace caffe::memory {

namespace {

struct Unit {
  const char* name;
  double bytes;
};

constexpr Unit kUnits[] = {
    {"", 1},          {"B", 1},
    {"KB", 1e3},      {"MB", 1e6},
    {"GB", 1e9},      {"TB", 1e12},
    {"KiB", 1 << 10}, {"MiB", 1 << 20},
    {"GiB", 1 << 30}, {"TiB", double{1 << 30} * (1 << 10)}};

// Beyond this no machine has any, and integers are no longer exact.
constexpr double kMost = 1LL << 53;

}  // namespace

size_t ParseBytes(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc()) {
    const char* unit = rest;
    while (unit != end && *unit == ' ') ++unit;
    for (const Unit& known : kUnits) {
      if (std::string(unit, end) != known.name) continue;
      const double bytes = number * known.bytes;
      if (bytes >= 1 && bytes <= kMost) return static_cast<size_t>(bytes);
    }
  }
  Fail("'", text, "' is no amount of memory; write it like 4GiB or 800MB");
}

std::string ReadableBytes(double bytes) {
  std::ostringstream text;
  text << std::fixed;
  // 999.5 MB would be rounded to a thousand.
  if (bytes >= 999.5e6) {
    text << std::setprecision(2) << bytes / 1e9 << " GB";
  } else if (bytes >= 999.5e3) {
    text << std::setprecision(bytes < 9.95e6 ? 1 : 0) << bytes / 1e6 << " MB";
  } else {
    text << std::setprecision(0) << std::ceil(bytes / 1e3) << " KB";
  }
  return text.str();
}

}  // namespace caffe::memory
