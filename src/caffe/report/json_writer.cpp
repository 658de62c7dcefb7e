#include <charconv>
#include <cmath>

#include "report/json.hpp"

namespace caffe {

namespace {

// How many bytes the UTF-8 character at the front takes; 0 when it is none.
size_t CharacterSize(std::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  size_t size = 0;
  if (byte(0) < 0x80) return 1;
  if (byte(0) >= 0xC2 && byte(0) < 0xE0) size = 2;
  if (byte(0) >= 0xE0 && byte(0) < 0xF0) size = 3;
  if (byte(0) >= 0xF0 && byte(0) < 0xF5) size = 4;
  if (size == 0 || size > text.size()) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Longer than needed, halves of pairs, beyond the last character.
  if (byte(0) == 0xE0 && byte(1) < 0xA0) return 0;
  if (byte(0) == 0xED && byte(1) >= 0xA0) return 0;
  if (byte(0) == 0xF0 && byte(1) < 0x90) return 0;
  if (byte(0) == 0xF4 && byte(1) >= 0x90) return 0;
  return size;
}

template <typename Float>
std::string Shortest(Float value) {
  char text[64];
  const auto result = std::to_chars(text, text + sizeof(text), value);
  return {text, result.ptr};
}

}  // namespace

std::string ToJson(std::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    const char c = text[0];
    if (size == 0) {
      json += '?';
    } else if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (c == '\n') {
      json += "\\n";
    } else if (c == '\t') {
      json += "\\t";
    } else if (size == 1 && (c < 0x20 || c == 0x7F)) {
      constexpr char kDigits[] = "0123456789abcdef";
      json += "\\u00";
      json += kDigits[c >> 4];
      json += kDigits[c & 15];
    } else {
      json += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return json + "\"";
}

std::string ToJson(const char* text) { return ToJson(std::string_view(text)); }

std::string ToJson(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  // Most numbers were floats, which take fewer digits.
  const auto narrow = static_cast<float>(value);
  return narrow == value ? Shortest(narrow) : Shortest(value);
}

std::string ToJson(bool value) { return value ? "true" : "false"; }
std::string ToJson(const JsonArray& array) { return array.text(); }
std::string ToJson(const JsonObject& object) { return object.text(); }

}  // namespace caffe
