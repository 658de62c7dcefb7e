#include <charconv>
#include <cmath>
#include <limits>

#include "report/json.hpp"

namespace caffe {

// Reads from the front of a text; every method returns whether it went well.
class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : rest_(text) {}

  bool ReadAll(JsonValue* value) {
    return Read(value, 0) && (SkipSpace(), rest_.empty());
  }

 private:
  using Kind = JsonValue::Kind;
  static constexpr int kMostNested = 32;

  bool Read(JsonValue* value, int depth) {
    SkipSpace();
    if (rest_.empty() || depth > kMostNested) return false;
    switch (rest_[0]) {
      case '{':
        return ReadItems(value, Kind::kObject, '}', depth);
      case '[':
        return ReadItems(value, Kind::kArray, ']', depth);
      case '"':
        value->kind_ = Kind::kText;
        return ReadText(&value->text_);
      case 't':
        return ReadWord("true", Kind::kBool, 1, value);
      case 'f':
        return ReadWord("false", Kind::kBool, 0, value);
      case 'n':
        return ReadWord("null", Kind::kNull, 0, value);
      default:
        return ReadNumber(value);
    }
  }

  bool ReadItems(JsonValue* value, Kind kind, char end, int depth) {
    value->kind_ = kind;
    rest_.remove_prefix(1);
    SkipSpace();
    if (Skip(end)) return true;
    do {
      if (kind == Kind::kObject) {
        SkipSpace();
        if (!ReadText(&value->names_.emplace_back())) return false;
        SkipSpace();
        if (!Skip(':')) return false;
      }
      if (!Read(&value->items_.emplace_back(), depth + 1)) return false;
      SkipSpace();
    } while (Skip(','));
    return Skip(end);
  }

  bool ReadText(std::string* text) {
    if (!Skip('"')) return false;
    while (!rest_.empty() && rest_[0] != '"') {
      if (static_cast<unsigned char>(rest_[0]) < 0x20) return false;
      if (rest_[0] == '\\') {
        if (!ReadEscape(text)) return false;
      } else {
        *text += rest_[0];
        rest_.remove_prefix(1);
      }
    }
    return Skip('"');
  }

  bool ReadEscape(std::string* text) {
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (rest_.size() < 2) return false;
    const char escape = rest_[1];
    rest_.remove_prefix(2);
    if (escape == 'u') return ReadCharacter(text);
    const size_t found = kEscapes.find(escape);
    if (found == std::string_view::npos) return false;
    *text += kMeanings[found];
    return true;
  }

  bool ReadUnit(uint32_t* unit) {
    if (rest_.size() < 4) return false;
    const char* const end = rest_.data() + 4;
    const auto result = std::from_chars(rest_.data(), end, *unit, 16);
    rest_.remove_prefix(4);
    return result.ptr == end;
  }

  // After \u: perhaps the first half of a pair.
  bool ReadCharacter(std::string* text) {
    uint32_t code = 0;
    if (!ReadUnit(&code)) return false;
    if (code >= 0xD800 && code < 0xE000) {
      uint32_t low = 0;
      if (code >= 0xDC00 || !Skip('\\') || !Skip('u') || !ReadUnit(&low) ||
          low < 0xDC00 || low >= 0xE000) {
        return false;
      }
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    const auto add = [&](uint32_t byte) { *text += static_cast<char>(byte); };
    if (code < 0x80) {
      add(code);
      return true;
    }
    if (code >= 0x10000) {
      add(0xF0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3F));
    } else if (code >= 0x800) {
      add(0xE0 | code >> 12);
    }
    if (code >= 0x800) {
      add(0x80 | (code >> 6 & 0x3F));
    } else {
      add(0xC0 | code >> 6);
    }
    add(0x80 | (code & 0x3F));
    return true;
  }

  bool ReadWord(std::string_view word, Kind kind, double number,
                JsonValue* value) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    value->kind_ = kind;
    value->number_ = number;
    return true;
  }

  bool ReadNumber(JsonValue* value) {
    // from_chars also knows inf and nan.
    if (rest_[0] != '-' && (rest_[0] < '0' || rest_[0] > '9')) return false;
    if (rest_.size() > 1 && rest_[0] == '-' &&
        (rest_[1] < '0' || rest_[1] > '9')) {
      return false;
    }
    const auto result = std::from_chars(
        rest_.data(), rest_.data() + rest_.size(), value->number_);
    if (result.ptr == rest_.data()) return false;
    // Too large, or too small, for a double.
    if (result.ec != std::errc()) value->number_ = 0;
    value->kind_ = Kind::kNumber;
    rest_.remove_prefix(static_cast<size_t>(result.ptr - rest_.data()));
    return true;
  }

  void SkipSpace() {
    const size_t end = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
  }
  bool Skip(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
};

std::optional<JsonValue> JsonValue::Parse(std::string_view text) {
  JsonValue value;
  if (!JsonParser(text).ReadAll(&value)) return std::nullopt;
  return value;
}

const JsonValue& JsonValue::operator[](std::string_view name) const {
  static const JsonValue kNone;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return items_[i];
  }
  return kNone;
}

double JsonValue::Number(double other) const {
  if (kind_ == Kind::kNumber) return number_;
  if (kind_ != Kind::kText) return other;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text_ == "NaN") return std::nan("");
  if (text_ == "Infinity") return kInfinity;
  if (text_ == "-Infinity") return -kInfinity;
  return other;
}

}  // namespace caffe
