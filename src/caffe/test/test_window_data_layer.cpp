#include "caffe/layers/window_data_layer.hpp"

#include <gmock/gmock.h>

#include <opencv2/imgproc.hpp>
#include <set>
#include <string>
#include <vector>

#include "caffe/test/test_error_util.hpp"
#include "caffe/util/io.hpp"
#include "data/window_file.hpp"
#include "data_layer_test_util.hpp"
#include "temporary_folder.hpp"

namespace caffe {

using ::testing::HasSubstr;

namespace {

constexpr int kHeight = 20;
constexpr int kWidth = 30;

ImageWindow Window(int x1, int y1, int x2, int y2) {
  ImageWindow window;
  window.x1 = x1;
  window.y1 = y1;
  window.x2 = x2;
  window.y2 = y2;
  return window;
}

vector<int> Place(const ImageWindow& window, int crop_size, int context_pad,
                  bool square, bool mirrored = false) {
  const WindowPlacement at = PlaceWindow(window, kWidth, kHeight, crop_size,
                                         context_pad, square, mirrored);
  return {
      at.x,    at.y,  at.width, at.height, at.resized_width, at.resized_height,
      at.left, at.top};
}

}  // namespace

TEST(PlaceWindowTest, WarpsTheWindowItself) {
  EXPECT_EQ((vector<int>{3, 4, 8, 4, 10, 10, 0, 0}),
            Place(Window(3, 4, 10, 7), 10, 0, false));
  EXPECT_EQ((vector<int>{0, 0, 30, 20, 10, 10, 0, 0}),
            Place(Window(0, 0, 29, 19), 10, 0, false));
}

TEST(PlaceWindowTest, TakesContextFromTheImage) {
  // 6 of 10 pixels are the window's, so it takes 10 / 6 as much of the image:
  // from 12.5 - 4.17 to 12.5 + 4.17 and from 10.5 - 2.5 to 10.5 + 2.5.
  EXPECT_EQ((vector<int>{8, 8, 10, 6, 10, 10, 0, 0}),
            Place(Window(10, 9, 14, 11), 10, 2, false));
}

TEST(PlaceWindowTest, SquareTakesTheLongerSide) {
  // 9 wide and 3 high around (9.5, 10.5): a square from 5 to 14 and 6 to 15.
  EXPECT_EQ((vector<int>{5, 6, 10, 10, 12, 12, 0, 0}),
            Place(Window(5, 9, 13, 11), 12, 0, true));
}

TEST(PlaceWindowTest, PadsWhatIsOutsideTheImage) {
  // Of the square from -2 to 8 and 3 to 13, which is 11 long, 2 columns are
  // outside: 22 / 11 = 2 times as large, 4.
  EXPECT_EQ((vector<int>{0, 3, 9, 11, 18, 22, 4, 0}),
            Place(Window(-2, 5, 7, 9), 22, 0, true));
  // In the mirror image the padding is on the right.
  EXPECT_EQ((vector<int>{0, 3, 9, 11, 18, 22, 0, 0}),
            Place(Window(-2, 5, 7, 9), 22, 0, true, true));
  // On the other side.
  EXPECT_EQ((vector<int>{22, 10, 8, 10, 16, 20, 0, 0}),
            Place(Window(22, 10, 31, 19), 22, 0, true));
  EXPECT_EQ((vector<int>{22, 10, 8, 10, 16, 20, 6, 0}),
            Place(Window(22, 10, 31, 19), 22, 0, true, true));
}

TEST(PlaceWindowTest, NeverLeavesTheCropNorTheImage) {
  for (const bool square : {false, true}) {
    for (const bool mirrored : {false, true}) {
      for (int pad = square ? 0 : 1; pad < 4; ++pad) {
        for (int x1 = -5; x1 < 30; x1 += 3) {
          for (int y1 = -5; y1 < 20; y1 += 2) {
            for (int size = 6; size < 40; size += 7) {
              const WindowPlacement at =
                  PlaceWindow(Window(x1, y1, x1 + size, y1 + size / 2 + 4),
                              kWidth, kHeight, 9, pad, square, mirrored);
              ASSERT_GE(at.x, 0);
              ASSERT_GE(at.y, 0);
              ASSERT_LE(at.x + at.width, kWidth);
              ASSERT_LE(at.y + at.height, kHeight);
              ASSERT_GT(at.resized_width, 0);
              ASSERT_GT(at.resized_height, 0);
              ASSERT_GE(at.left, 0);
              ASSERT_GE(at.top, 0);
              ASSERT_LE(at.left + at.resized_width, 9);
              ASSERT_LE(at.top + at.resized_height, 9);
            }
          }
        }
      }
    }
  }
}

TEST(PlaceWindowTest, RefusesWindowsOutsideTheImage) {
  EXPECT_THAT(ErrorOf([] { Place(Window(0, 0, 30, 5), 10, 0, false); }),
              HasSubstr("over the edges"));
  EXPECT_THROW(Place(Window(-1, 0, 5, 5), 10, 0, false), Error);
  EXPECT_THROW(Place(Window(0, 3, 3, 20), 10, 0, false), Error);
  EXPECT_THAT(ErrorOf([] { Place(Window(90, 90, 99, 99), 10, 2, false); }),
              HasSubstr("nothing of it"));
}

template <typename TypeParam>
class WindowDataLayerTest : public MultiDeviceTest<TypeParam> {
  typedef typename TypeParam::Dtype Dtype;

 protected:
  WindowDataLayerTest() {
    Caffe::set_random_seed(1701);
    for (int i = 0; i < 2; ++i) {
      cv::imwrite(folder_ / Concat(i, ".png"),
                  NumberedImage(i, kHeight, kWidth, 3));
    }
    // One window of an object, one of background, and one of neither.
    WriteWindows(
        "# 0\n0.png\n3\n20\n30\n3\n"
        "5 0.9 1 2 8 9\n"
        "5 0.1 10 3 19 12\n"
        "5 0.4 0 0 4 4\n"
        "# 1\n1.png\n3\n20\n30\n1\n"
        "7 0.7 4 4 13 13\n");
  }

  void WriteWindows(const string& text) const {
    WriteWholeFile(folder_ / "windows.txt", text);
  }

  string Settings(const string& window_data_param,
                  const string& transform_param = "crop_size: 8") const {
    return "type: 'WindowData' window_data_param { source: '" +
           folder_ / "windows.txt" + "' root_folder: '" + folder_.path() +
           "/' " + window_data_param + "} transform_param { " +
           transform_param + " }";
  }

  // The same with batches of 4 windows, background below 0.3.
  string UsualSettings(const string& window_data_param,
                       const string& transform_param = "crop_size: 8") const {
    return Settings(window_data_param + " batch_size: 4 bg_threshold: 0.3",
                    transform_param);
  }

  string Complaint(const string& settings) const {
    return FeedComplaint<Dtype>(settings, 2);
  }

  TemporaryFolder folder_;
};

TYPED_TEST_SUITE(WindowDataLayerTest, TestDtypesAndDevices);

TYPED_TEST(WindowDataLayerTest, MixesObjectsAndBackground) {
  typedef typename TypeParam::Dtype Dtype;
  for (const string cache : {"", "cache_images: true "}) {
    Feed<Dtype> feed(this->UsualSettings(cache + "fg_fraction: 0.5"), 2);
    EXPECT_EQ((vector<int>{4, 3, 8, 8}), feed.top(0).shape());
    EXPECT_EQ((vector<int>{4}), feed.top(1).shape());
    std::set<Dtype> objects;
    for (int batch = 0; batch < 20; ++batch) {
      const vector<Dtype> labels = feed.NextOf(1);
      EXPECT_EQ(0, labels[0]);
      EXPECT_EQ(0, labels[1]);
      objects.insert(labels.begin() + 2, labels.end());
    }
    EXPECT_EQ((std::set<Dtype>{5, 7}), objects);
  }
}

TYPED_TEST(WindowDataLayerTest, WarpsWindows) {
  typedef typename TypeParam::Dtype Dtype;
  Feed<Dtype> feed(this->UsualSettings("fg_fraction: 0.75",
                                       "crop_size: 8 scale: 0.5 mean_value: 3"),
                   2);
  cv::Mat windows[8];  // By label.
  cv::resize(NumberedImage(0, kHeight, kWidth, 3)(cv::Rect(10, 3, 10, 10)),
             windows[0], cv::Size(8, 8));
  windows[5] = NumberedImage(0, kHeight, kWidth, 3)(cv::Rect(1, 2, 8, 8));
  cv::resize(NumberedImage(1, kHeight, kWidth, 3)(cv::Rect(4, 4, 10, 10)),
             windows[7], cv::Size(8, 8));
  for (int batch = 0; batch < 5; ++batch) {
    feed.Next();
    for (int n = 0; n < 4; ++n) {
      const cv::Mat& window =
          windows[static_cast<int>(feed.top(1).cpu_data()[n])];
      for (int c = 0; c < 3; ++c) {
        for (int h = 0; h < 8; ++h) {
          for (int w = 0; w < 8; ++w) {
            ASSERT_EQ((window.ptr(h)[w * 3 + c] - 3) * Dtype(0.5),
                      feed.top(0).data_at(n, c, h, w));
          }
        }
      }
    }
  }
}

TYPED_TEST(WindowDataLayerTest, PadsMirrorsAndSubtractsTheCentreOfTheMean) {
  typedef typename TypeParam::Dtype Dtype;
  // A square from -2 to 8 and 3 to 13: two columns are outside of the image.
  this->WriteWindows("# 0\n0.png\n3\n20\n30\n1\n9 1 -2 5 7 9\n");
  BlobProto mean;
  mean.set_num(1);
  mean.set_channels(3);
  mean.set_height(13);
  mean.set_width(15);
  for (int i = 0; i < 3 * 13 * 15; ++i) mean.add_data(i % 50);
  WriteProtoToBinaryFile(mean, this->folder_ / "mean");
  Feed<Dtype> feed(
      this->UsualSettings("fg_fraction: 1 crop_mode: 'square'",
                          "crop_size: 11 mirror: true mean_file: '" +
                              this->folder_ / "mean" + "'"),
      2);
  const cv::Mat image = NumberedImage(0, kHeight, kWidth, 3);
  std::set<bool> seen;
  for (int batch = 0; batch < 5; ++batch) {
    feed.Next();
    for (int n = 0; n < 4; ++n) {
      const bool mirrored = feed.top(0).data_at(n, 0, 0, 0) != 0;
      seen.insert(mirrored);
      for (int c = 0; c < 3; ++c) {
        for (int h = 0; h < 11; ++h) {
          for (int w = 0; w < 11; ++w) {
            const int x = (mirrored ? 10 - w : w) - 2;
            // The mean is not mirrored; it is 2 higher and 4 wider.
            const int index = (c * 13 + h + 1) * 15 + w + 2;
            const Dtype expected =
                x < 0 ? 0 : image.ptr(3 + h)[x * 3 + c] - index % 50;
            ASSERT_EQ(expected, feed.top(0).data_at(n, c, h, w))
                << mirrored << " at " << c << " " << h << " " << w;
          }
        }
      }
    }
  }
  EXPECT_EQ(2u, seen.size());
}

TYPED_TEST(WindowDataLayerTest, ResumesExactly) {
  typedef typename TypeParam::Dtype Dtype;
  ExpectExactResume<Dtype>(
      this->UsualSettings("fg_fraction: 0.5 context_pad: 2",
                          "crop_size: 8 mirror: true"),
      2);
}

TYPED_TEST(WindowDataLayerTest, RefusesSettings) {
  EXPECT_THAT(this->Complaint(this->UsualSettings("", "")),
              HasSubstr("crop_size"));
  EXPECT_THAT(this->Complaint(this->UsualSettings("context_pad: 4")),
              HasSubstr("context_pad 4 leaves nothing of crop_size 8"));
  EXPECT_THAT(this->Complaint(this->UsualSettings("crop_mode: 'round'")),
              HasSubstr("crop_mode is 'round'"));
  EXPECT_THAT(this->Complaint(this->UsualSettings("fg_fraction: 1.5")),
              HasSubstr("fg_fraction is 1.5"));
  EXPECT_THAT(this->Complaint(this->Settings("batch_size: 0")),
              HasSubstr("batch_size"));
  EXPECT_THAT(this->Complaint(this->UsualSettings("fg_threshold: 0.99")),
              HasSubstr("no window of overlap 0.99 or more"));
  EXPECT_THAT(
      this->Complaint(this->Settings("batch_size: 4 bg_threshold: 0.01")),
      HasSubstr("no window of overlap less than 0.01"));
  EXPECT_THAT(this->Complaint(this->UsualSettings(
                  "", "crop_size: 8 mean_value: 1 mean_value: 2")),
              HasSubstr("2 mean_values"));
}

TYPED_TEST(WindowDataLayerTest, RefusesWindowFiles) {
  const auto complaint = [this](const string& text) {
    this->WriteWindows(text);
    return this->Complaint(this->UsualSettings("fg_fraction: 1"));
  };
  EXPECT_THAT(complaint(""), HasSubstr("windows.txt lists no images"));
  EXPECT_THAT(complaint("0.png\n"), HasSubstr("expected '# index'"));
  EXPECT_THAT(complaint("# 0\n0.png\n3\n20\n"), HasSubstr("number of windows"));
  EXPECT_THAT(complaint("# 0\n0.png\n2\n20\n30\n0\n"), HasSubstr("2 channels"));
  EXPECT_THAT(complaint("# 0\n0.png\n3\n20\n30\n0\n# 1\n1.png\n1\n2\n3\n0\n"),
              HasSubstr("image number 1"));
  const string start = "# 0\n0.png\n3\n20\n30\n1\n";
  EXPECT_THAT(complaint(start + "1 0.9 1 2 3\n"), HasSubstr("window 0 of 1"));
  EXPECT_THAT(complaint(start + "1 0.9 8 2 3 9\n"), HasSubstr("window 0 of 1"));
  EXPECT_THAT(complaint(start + "1 0.9 0 0 2000000000 5\n"),
              HasSubstr("window 0 of 1"));
  EXPECT_THAT(complaint(start + "0 0.9 1 2 3 9\n"), HasSubstr("label 0"));
  // Only found out when the window is needed.
  EXPECT_THAT(complaint(start + "1 0.9 1 2 3 99\n"),
              HasSubstr("window 1 2 3 99 of image"));
  EXPECT_THAT(complaint("# 0\nnone.png\n3\n20\n30\n1\n1 1 0 0 1 1\n"),
              HasSubstr("none.png"));
}

}  // namespace caffe
