#ifndef CAFFE_SRC_REPORT_JSON_HPP_
#define CAFFE_SRC_REPORT_JSON_HPP_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// JSON as far as logs of runs need it. Numbers that JSON does not know are the
// strings "NaN", "Infinity" and "-Infinity".

namespace caffe {

class JsonArray;
class JsonObject;

// As JSON. Bytes that are no UTF-8 become question marks.
std::string ToJson(std::string_view text);
std::string ToJson(const char* text);
std::string ToJson(double value);
std::string ToJson(bool value);
std::string ToJson(const JsonArray& array);
std::string ToJson(const JsonObject& object);
template <std::integral Integer>
std::string ToJson(Integer value) {
  return std::to_string(value);
}

// Are written from the front to the back.
class JsonArray {
 public:
  JsonArray() = default;
  template <typename Value>
  explicit JsonArray(const std::vector<Value>& values) {
    for (const Value& value : values) Add(value);
  }

  template <typename Value>
  JsonArray& Add(const Value& value) {
    if (!text_.empty()) text_ += ',';
    text_ += ToJson(value);
    return *this;
  }
  std::string text() const { return "[" + text_ + "]"; }

 private:
  std::string text_;
};

class JsonObject {
 public:
  template <typename Value>
  JsonObject& Add(std::string_view name, const Value& value) {
    if (!text_.empty()) text_ += ',';
    text_ += ToJson(name);
    text_ += ':';
    text_ += ToJson(value);
    return *this;
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

// A value that was read.
class JsonValue {
 public:
  enum class Kind { kNull, kBool, kNumber, kText, kArray, kObject };

  // Empty when the text is no JSON value, or one nested too deeply.
  static std::optional<JsonValue> Parse(std::string_view text);

  Kind kind() const { return kind_; }
  // Of an array or an object, and the names of an object's.
  const std::vector<JsonValue>& items() const { return items_; }
  const std::vector<std::string>& names() const { return names_; }
  // The member of an object; a null value when there is none.
  const JsonValue& operator[](std::string_view name) const;

  // The number, or one of the strings that stand for what is none; otherwise
  // `other`.
  double Number(double other) const;
  // The text; empty when it is something else.
  const std::string& Text() const { return text_; }
  bool Bool() const { return kind_ == Kind::kBool && number_ != 0; }

 private:
  friend class JsonParser;

  Kind kind_ = Kind::kNull;
  double number_ = 0;
  std::string text_;
  std::vector<JsonValue> items_;
  std::vector<std::string> names_;
};

}  // namespace caffe

#endif  // CAFFE_SRC_REPORT_JSON_HPP_
