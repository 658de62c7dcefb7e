#include "caffe/blob.hpp"

#include "caffe/filler.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/math_functions.hpp"

namespace caffe {

template <typename Dtype>
class BlobTest : public ::testing::Test {};
TYPED_TEST_SUITE(BlobTest, TestDtypes);

TYPED_TEST(BlobTest, StartsEmpty) {
  Blob<TypeParam> blob;
  EXPECT_EQ(0, blob.num_axes());
  EXPECT_EQ(0, blob.count());
}

TYPED_TEST(BlobTest, KnowsItsShape) {
  Blob<TypeParam> blob(2, 3, 4, 5);
  EXPECT_EQ(2, blob.num());
  EXPECT_EQ(3, blob.channels());
  EXPECT_EQ(4, blob.height());
  EXPECT_EQ(5, blob.width());
  EXPECT_EQ(120, blob.count());
  EXPECT_EQ(20, blob.count(2));
  EXPECT_EQ(12, blob.count(1, 3));
  EXPECT_EQ(5, blob.shape(-1));
  EXPECT_EQ("2 3 4 5 (120)", blob.shape_string());
  EXPECT_EQ(((1 * 3 + 2) * 4 + 3) * 5 + 4, blob.offset(1, 2, 3, 4));
  EXPECT_EQ(60, blob.offset(vector<int>{1}));
}

TYPED_TEST(BlobTest, KeepsMemoryWhenItShrinks) {
  Blob<TypeParam> blob(2, 3, 4, 5);
  const void* const before = blob.cpu_data();
  blob.Reshape(1, 3, 4, 5);
  EXPECT_EQ(before, blob.cpu_data());
  blob.Reshape(2, 3, 4, 5);
  EXPECT_EQ(before, blob.cpu_data());
}

TYPED_TEST(BlobTest, GivesUpMemoryWhenAskedTo) {
  Blob<TypeParam> blob(vector<int>{4, 5});
  blob.mutable_cpu_data()[0] = 1;
  {
    const TightReshape tight;
    blob.Reshape({4, 5});
    EXPECT_EQ(1, blob.cpu_data()[0]);
    blob.Reshape({2, 5});
    EXPECT_EQ(10 * sizeof(TypeParam), blob.data()->size());
    EXPECT_EQ(10 * sizeof(TypeParam), blob.diff()->size());
  }
  blob.Reshape({1, 5});
  EXPECT_EQ(10 * sizeof(TypeParam), blob.data()->size());
}

TYPED_TEST(BlobTest, RefusesImpossibleShapes) {
  Blob<TypeParam> blob;
  EXPECT_THROW(blob.Reshape(vector<int>(33, 1)), Error);
  EXPECT_THROW(blob.Reshape(vector<int>{-1}), Error);
  EXPECT_THROW(blob.Reshape(vector<int>{1 << 16, 1 << 16}), Error);
  blob.Reshape(2, 3, 4, 5);
  EXPECT_THROW(blob.CanonicalAxisIndex(4), Error);
  EXPECT_THROW(blob.CanonicalAxisIndex(-5), Error);
}

TYPED_TEST(BlobTest, StartsWithZerosAndSums) {
  Blob<TypeParam> blob(2, 3, 4, 5);
  EXPECT_EQ(0, blob.asum_data());
  EXPECT_EQ(0, blob.sumsq_diff());
  for (int i = 0; i < blob.count(); ++i) {
    EXPECT_EQ(0, blob.cpu_data()[i]);
    blob.mutable_cpu_data()[i] = i % 2 ? 2 : -2;
    blob.mutable_cpu_diff()[i] = 1;
  }
  EXPECT_EQ(240, blob.asum_data());
  EXPECT_EQ(480, blob.sumsq_data());
  EXPECT_EQ(120, blob.asum_diff());
  blob.scale_diff(3);
  EXPECT_EQ(1080, blob.sumsq_diff());
  blob.Update();
  EXPECT_EQ(-5, blob.cpu_data()[0]);
  EXPECT_EQ(-1, blob.cpu_data()[1]);
}

TYPED_TEST(BlobTest, CopiesAndShares) {
  Blob<TypeParam> source(2, 3, 4, 5);
  FillerParameter param;
  GaussianFiller<TypeParam>(param).Fill(&source);
  Blob<TypeParam> copy;
  EXPECT_THROW(copy.CopyFrom(source), Error);
  copy.CopyFrom(source, false, true);
  EXPECT_EQ(source.shape(), copy.shape());
  EXPECT_NE(source.cpu_data(), copy.cpu_data());
  EXPECT_EQ(source.cpu_data()[7], copy.cpu_data()[7]);
  copy.ShareData(source);
  EXPECT_EQ(source.cpu_data(), copy.cpu_data());
}

TYPED_TEST(BlobTest, SurvivesProtoRoundTrip) {
  Blob<TypeParam> source(2, 3, 1, 5);
  FillerParameter param;
  GaussianFiller<TypeParam>(param).Fill(&source);
  caffe_set(source.count(), TypeParam(3), source.mutable_cpu_diff());
  BlobProto proto;
  source.ToProto(&proto, true);
  Blob<TypeParam> read;
  read.FromProto(proto);
  ASSERT_EQ(source.shape(), read.shape());
  for (int i = 0; i < source.count(); ++i) {
    EXPECT_EQ(source.cpu_data()[i], read.cpu_data()[i]);
    EXPECT_EQ(3, read.cpu_diff()[i]);
  }
}

TYPED_TEST(BlobTest, RefusesProtoThatDoesNotAddUp) {
  BlobProto proto;
  proto.mutable_shape()->add_dim(3);
  proto.add_data(1);
  Blob<TypeParam> blob;
  EXPECT_THROW(blob.FromProto(proto), Error);
  proto.mutable_shape()->set_dim(0, -3);
  EXPECT_THROW(blob.FromProto(proto), Error);
  proto.mutable_shape()->set_dim(0, int64_t{1} << 40);
  EXPECT_THROW(blob.FromProto(proto), Error);
}

TYPED_TEST(BlobTest, MatchesLegacyShapes) {
  BlobProto proto;
  proto.set_num(1);
  proto.set_channels(1);
  proto.set_height(4);
  proto.set_width(5);
  EXPECT_TRUE(Blob<TypeParam>(vector<int>{4, 5}).ShapeEquals(proto));
  EXPECT_TRUE(Blob<TypeParam>(vector<int>{1, 4, 5}).ShapeEquals(proto));
  EXPECT_FALSE(Blob<TypeParam>(vector<int>{5}).ShapeEquals(proto));
  EXPECT_FALSE(Blob<TypeParam>(vector<int>{5, 4}).ShapeEquals(proto));
}

}  // namespace caffe
