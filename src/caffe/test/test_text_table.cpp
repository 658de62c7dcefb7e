#include "caffe/test/test_caffe_main.hpp"
#include "util/text_table.hpp"

namespace caffe {

namespace {

TEST(TextTableTest, LinesUpTextAndNumbers) {
  TextTable table(1);
  table.Add({"layer", "bytes", "n"});
  table.Add({"conv1", "12", "100"});
  table.Add({"a long name"});
  EXPECT_EQ(
      (std::vector<std::string>{"layer        bytes    n",
                                "conv1           12  100", "a long name"}),
      table.Lines());
}

TEST(TextTableTest, WritesNumbers) {
  EXPECT_EQ("2.50", Fixed(2.5, 2));
  EXPECT_EQ("1.23e-07", Significant(1.2345e-7));
  EXPECT_EQ("0.0123", Significant(0.012345));
}

}  // namespace

}  // namespace caffe
