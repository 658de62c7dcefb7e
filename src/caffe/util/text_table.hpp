#ifndef CAFFE_SRC_UTIL_TEXT_TABLE_HPP_
#define CAFFE_SRC_UTIL_TEXT_TABLE_HPP_

#include <string>
#include <vector>

namespace caffe {

// Rows of cells for the log or a terminal, lined up in columns that are as wide
// as their widest cell. Columns count from the left: the first `text_columns`
// are text, flush left; the others are numbers, flush right.
class TextTable {
 public:
  explicit TextTable(size_t text_columns) : text_columns_(text_columns) {}

  void Add(std::vector<std::string> cells) {
    rows_.push_back(std::move(cells));
  }
  // One string a row.
  std::vector<std::string> Lines() const;

 private:
  size_t text_columns_;
  std::vector<std::vector<std::string>> rows_;
};

// A number with so many digits after the point.
std::string Fixed(double value, int digits);
// With three digits that count, for numbers of any size.
std::string Significant(double value);

}  // namespace caffe

#endif  // CAFFE_SRC_UTIL_TEXT_TABLE_HPP_
