#include "caffe/layers/image_data_layer.hpp"

#include <set>
#include <string>
#include <vector>

#include "data/visit_order.hpp"
#include "data_layer_test_util.hpp"
#include "temporary_folder.hpp"

namespace caffe {

namespace {

using ::testing::HasSubstr;

constexpr int kImages = 7;

}  // namespace

TEST(VisitOrderTest, InOrderWithoutShuffling) {
  VisitOrder order(3, false, 5);
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(i, order.current());
      EXPECT_EQ(i == 2, order.Next());
    }
  }
}

TEST(VisitOrderTest, ShufflesEveryPassAnew) {
  VisitOrder order(50, true, 5);
  std::set<vector<size_t>> passes;
  for (int pass = 0; pass < 4; ++pass) {
    vector<size_t> visited;
    for (int i = 0; i < 50; ++i) {
      visited.push_back(order.current());
      EXPECT_EQ(i == 49, order.Next());
    }
    EXPECT_EQ(50u, std::set<size_t>(visited.begin(), visited.end()).size());
    passes.insert(visited);
  }
  EXPECT_EQ(4u, passes.size());
}

TEST(VisitOrderTest, PositionIsEnoughToGoOn) {
  VisitOrder order(10, true, 5);
  for (int i = 0; i < 23; ++i) order.Next();
  VisitOrder other(10, true, 77);
  other.Restore(order.Save());
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(order.current(), other.current());
    order.Next();
    other.Next();
  }
  VisitOrder shorter(2, true, 5);
  ListPosition beyond;
  beyond.set_index(2);
  EXPECT_THROW(shorter.Restore(beyond), Error);
}

template <typename TypeParam>
class ImageDataLayerTest : public MultiDeviceTest<TypeParam> {
  typedef typename TypeParam::Dtype Dtype;

 protected:
  ImageDataLayerTest() {
    string list;
    for (int i = 0; i < kImages; ++i) {
      // Names may have spaces.
      const string name = Concat("image ", i, ".png");
      cv::imwrite(folder_ / name, NumberedImage(i, 4, 5, 3));
      list += Concat(name, " ", i, i == 3 ? "\r\n\n" : "\n");
    }
    WriteWholeFile(folder_ / "list.txt", list);
  }

  string Settings(const string& image_data_param, const string& more = "",
                  const string& list = "list.txt") const {
    return "type: 'ImageData' image_data_param { root_folder: '" +
           folder_.path() + "/' source: '" + folder_ / list + "' " +
           image_data_param + "} " + more;
  }

  TemporaryFolder folder_;
};

TYPED_TEST_SUITE(ImageDataLayerTest, TestDtypesAndDevices);

TYPED_TEST(ImageDataLayerTest, ReadsImagesInTheOrderOfTheList) {
  typedef typename TypeParam::Dtype Dtype;
  Feed<Dtype> feed(this->Settings("batch_size: 3"), 2);
  EXPECT_EQ((vector<int>{3, 3, 4, 5}), feed.top(0).shape());
  EXPECT_EQ((vector<int>{3}), feed.top(1).shape());
  for (int i = 0; i < 15; i += 3) {
    feed.Next();
    for (int item = 0; item < 3; ++item) {
      const int number = (i + item) % kImages;
      EXPECT_EQ(number, feed.top(1).cpu_data()[item]);
      const cv::Mat image = NumberedImage(number, 4, 5, 3);
      for (int c = 0; c < 3; ++c) {
        ASSERT_EQ(image.ptr(3)[4 * 3 + c], feed.top(0).data_at(item, c, 3, 4));
      }
    }
  }
}

TYPED_TEST(ImageDataLayerTest, ResizesAndTurnsGrey) {
  typedef typename TypeParam::Dtype Dtype;
  Feed<Dtype> feed(this->Settings("batch_size: 2 new_height: 8 new_width: 6 "
                                  "is_color: false"),
                   2);
  EXPECT_EQ((vector<int>{2, 1, 8, 6}), feed.top(0).shape());
  feed.Next();
  EXPECT_EQ((vector<int>{2, 1, 8, 6}), feed.top(0).shape());
}

TYPED_TEST(ImageDataLayerTest, ShufflesEveryPass) {
  typedef typename TypeParam::Dtype Dtype;
  Caffe::set_random_seed(1701);
  Feed<Dtype> feed(this->Settings("batch_size: 7 shuffle: true"), 2);
  std::set<vector<Dtype>> orders;
  for (int pass = 0; pass < 6; ++pass) {
    const vector<Dtype> labels = feed.NextOf(1);
    EXPECT_EQ(7u, std::set<Dtype>(labels.begin(), labels.end()).size());
    orders.insert(labels);
    // Images stay with their labels.
    for (int item = 0; item < 7; ++item) {
      const int number = static_cast<int>(labels[item]);
      EXPECT_EQ(NumberedImage(number, 4, 5, 3).ptr(1)[2],
                feed.top(0).data_at(item, 2, 1, 0));
    }
  }
  EXPECT_GT(orders.size(), 4u);
}

TYPED_TEST(ImageDataLayerTest, SkipsAtRandomAtTheStart) {
  typedef typename TypeParam::Dtype Dtype;
  std::set<Dtype> firsts;
  for (int seed = 0; seed < 40; ++seed) {
    Caffe::set_random_seed(seed);
    firsts.insert(Feed<Dtype>(this->Settings("batch_size: 1 rand_skip: 3"), 2)
                      .NextOf(1)[0]);
  }
  EXPECT_EQ((std::set<Dtype>{0, 1, 2}), firsts);
}

TYPED_TEST(ImageDataLayerTest, BatchSizeMayChange) {
  typedef typename TypeParam::Dtype Dtype;
  ExpectBatchSizeToChange<Dtype>(this->Settings("batch_size: 2 shuffle: true"),
                                 2);
}

TYPED_TEST(ImageDataLayerTest, ResumesExactly) {
  typedef typename TypeParam::Dtype Dtype;
  ExpectExactResume<Dtype>(this->Settings("batch_size: 3"), 2);
  ExpectExactResume<Dtype>(
      this->Settings("batch_size: 3 shuffle: true rand_skip: 4",
                     "transform_param { crop_size: 2 mirror: true }"),
      2);
}

TYPED_TEST(ImageDataLayerTest, RefusesSettingsAndLists) {
  typedef typename TypeParam::Dtype Dtype;
  const auto complaint = [&](const string& settings) {
    return FeedComplaint<Dtype>(settings, 2);
  };
  EXPECT_THAT(complaint(this->Settings("batch_size: 0")),
              HasSubstr("batch_size"));
  EXPECT_THAT(complaint(this->Settings("new_height: 3")),
              HasSubstr("new_width 0"));
  EXPECT_THAT(complaint(this->Settings("", "", "none.txt")),
              HasSubstr(this->folder_ / "none.txt"));
  WriteWholeFile(this->folder_ / "empty.txt", "\n \n");
  EXPECT_THAT(complaint(this->Settings("", "", "empty.txt")),
              HasSubstr("empty.txt lists no images"));
  for (const string line : {"image.png", "image.png x", "image.png 1x", " 1",
                            "image.png 99999999999"}) {
    WriteWholeFile(this->folder_ / "bad.txt", "image 0.png 1\n" + line + "\n");
    EXPECT_THAT(complaint(this->Settings("", "", "bad.txt")),
                HasSubstr("bad.txt:2: \"" + line + "\""));
  }
}

TYPED_TEST(ImageDataLayerTest, DamagedAndMissingImagesNameThemselves) {
  typedef typename TypeParam::Dtype Dtype;
  WriteWholeFile(this->folder_ / "image 4.png", "no image");
  const string damaged =
      FeedComplaint<Dtype>(this->Settings("batch_size: 3"), 2);
  EXPECT_THAT(damaged, HasSubstr("image '" + this->folder_ / "image 4.png'"));
  EXPECT_THAT(damaged, HasSubstr(this->folder_ / "list.txt"));
  WriteWholeFile(this->folder_ / "missing.txt", "nothing.png 0\n");
  EXPECT_THAT(FeedComplaint<Dtype>(this->Settings("", "", "missing.txt"), 2),
              HasSubstr("nothing.png'"));
}

TYPED_TEST(ImageDataLayerTest, ImagesOfDifferentSizesNeedBatchesOfOne) {
  typedef typename TypeParam::Dtype Dtype;
  cv::imwrite(this->folder_ / "image 1.png", NumberedImage(1, 3, 9, 3));
  EXPECT_THAT(FeedComplaint<Dtype>(this->Settings("batch_size: 2"), 2),
              HasSubstr("image 1.png"));
  EXPECT_EQ("",
            FeedComplaint<Dtype>(
                this->Settings("batch_size: 2 new_height: 4 new_width: 4"), 2));
  Feed<Dtype> feed(this->Settings("batch_size: 1"), 2);
  feed.Next();
  EXPECT_EQ((vector<int>{1, 3, 4, 5}), feed.top(0).shape());
  feed.Next();
  EXPECT_EQ((vector<int>{1, 3, 3, 9}), feed.top(0).shape());
}

}  // namespace caffe
