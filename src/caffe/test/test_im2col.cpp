#include "caffe/util/im2col.hpp"

#include <omp.h>

#include "caffe/test/test_caffe_main.hpp"
#include "convolution_test_util.hpp"

namespace caffe {

namespace {

struct Case {
  int channels;
  vector<int> image;
  vector<int> kernel;
  vector<int> pad;
  vector<int> stride;
  vector<int> dilation;

  vector<int> Outputs() const {
    vector<int> outputs;
    for (size_t i = 0; i < image.size(); ++i) {
      const int window = dilation[i] * (kernel[i] - 1) + 1;
      outputs.push_back((image[i] + 2 * pad[i] - window) / stride[i] + 1);
    }
    return outputs;
  }
  int64_t ImageCount() const { return channels * ProductOf(image); }
  int64_t ColumnCount() const {
    return channels * ProductOf(kernel) * ProductOf(Outputs());
  }
};

const vector<Case> kCases = {
    {1, {4}, {2}, {0}, {1}, {1}},
    {3, {11}, {3}, {2}, {2}, {2}},
    {2, {5, 6}, {3, 3}, {0, 0}, {1, 1}, {1, 1}},
    {2, {5, 6}, {3, 2}, {1, 0}, {2, 1}, {1, 1}},
    {3, {9, 7}, {3, 3}, {2, 3}, {2, 3}, {2, 3}},
    // Whole rows and columns of windows lie in the padding.
    {1, {2, 2}, {2, 2}, {5, 4}, {1, 2}, {1, 1}},
    {2, {1, 1}, {3, 5}, {1, 2}, {1, 1}, {1, 1}},
    {1, {30, 40}, {11, 11}, {0, 5}, {4, 4}, {1, 1}},
    {2, {4, 5, 6}, {2, 3, 1}, {1, 1, 0}, {1, 2, 3}, {1, 2, 1}},
    {1, {3, 3, 3, 3}, {2, 2, 2, 2}, {1, 0, 1, 0}, {2, 1, 1, 2}, {1, 1, 2, 1}},
    // Enough for several threads.
    {8, {40, 40}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
};

// Calls visit(image, column) for every matrix entry that is not padding.
template <typename Visit>
void ForEntries(const Case& c, const Visit& visit) {
  const vector<int> outputs = c.Outputs();
  int64_t column = 0;
  for (int channel = 0; channel < c.channels; ++channel) {
    for (IndexCounter k(c.kernel); !k.done(); k.Next()) {
      for (IndexCounter o(outputs); !o.done(); o.Next(), ++column) {
        int64_t at = channel;
        bool inside = true;
        for (size_t a = 0; a < c.image.size(); ++a) {
          const int x = o[a] * c.stride[a] - c.pad[a] + k[a] * c.dilation[a];
          inside = inside && x >= 0 && x < c.image[a];
          at = at * c.image[a] + x;
        }
        if (inside) visit(at, column);
      }
    }
  }
}

template <typename Dtype>
vector<Dtype> Ramp(int64_t count) {
  vector<Dtype> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = i % 97 + 1;
  return values;
}

vector<int> Prepend(int first, const vector<int>& rest) {
  vector<int> all = {first};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

}  // namespace

template <typename Dtype>
class Im2colTest : public ::testing::Test {
 protected:
  static vector<Dtype> ToColumns(const Case& c, const vector<Dtype>& image) {
    vector<Dtype> columns(c.ColumnCount(), Dtype(-1));
    im2col_nd_cpu(image.data(), static_cast<int>(c.image.size()),
                  Prepend(c.channels, c.image).data(),
                  Prepend(0, c.Outputs()).data(), c.kernel.data(), c.pad.data(),
                  c.stride.data(), c.dilation.data(), columns.data());
    return columns;
  }

  static vector<Dtype> ToImage(const Case& c, const vector<Dtype>& columns) {
    vector<Dtype> image(c.ImageCount(), Dtype(-1));
    col2im_nd_cpu(columns.data(), static_cast<int>(c.image.size()),
                  Prepend(c.channels, c.image).data(),
                  Prepend(0, c.Outputs()).data(), c.kernel.data(), c.pad.data(),
                  c.stride.data(), c.dilation.data(), image.data());
    return image;
  }
};

TYPED_TEST_SUITE(Im2colTest, TestDtypes);

TYPED_TEST(Im2colTest, ColumnsAreTheWindows) {
  for (size_t i = 0; i < kCases.size(); ++i) {
    const Case& c = kCases[i];
    const vector<TypeParam> image = Ramp<TypeParam>(c.ImageCount());
    vector<TypeParam> expected(c.ColumnCount());
    ForEntries(c,
               [&](int64_t from, int64_t to) { expected[to] = image[from]; });
    EXPECT_EQ(expected, this->ToColumns(c, image)) << "case " << i;
  }
}

TYPED_TEST(Im2colTest, WindowsAddUpInTheImage) {
  for (size_t i = 0; i < kCases.size(); ++i) {
    const Case& c = kCases[i];
    const vector<TypeParam> columns = Ramp<TypeParam>(c.ColumnCount());
    vector<TypeParam> expected(c.ImageCount());
    ForEntries(
        c, [&](int64_t to, int64_t from) { expected[to] += columns[from]; });
    EXPECT_EQ(expected, this->ToImage(c, columns)) << "case " << i;
  }
}

TYPED_TEST(Im2colTest, TwoAxesHaveTheirOwnFunctions) {
  for (const Case& c : kCases) {
    if (c.image.size() != 2) continue;
    const vector<TypeParam> image = Ramp<TypeParam>(c.ImageCount());
    vector<TypeParam> columns(c.ColumnCount());
    im2col_cpu(image.data(), c.channels, c.image[0], c.image[1], c.kernel[0],
               c.kernel[1], c.pad[0], c.pad[1], c.stride[0], c.stride[1],
               c.dilation[0], c.dilation[1], columns.data());
    EXPECT_EQ(this->ToColumns(c, image), columns);
    vector<TypeParam> sums(c.ImageCount());
    col2im_cpu(columns.data(), c.channels, c.image[0], c.image[1], c.kernel[0],
               c.kernel[1], c.pad[0], c.pad[1], c.stride[0], c.stride[1],
               c.dilation[0], c.dilation[1], sums.data());
    EXPECT_EQ(this->ToImage(c, columns), sums);
  }
}

}  // namespace caffe
