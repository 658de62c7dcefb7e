#include "caffe/util/io.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "temporary_folder.hpp"

namespace caffe {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class IOTest : public ::testing::Test {
 protected:
  static string TextError(const string& filename) {
    NetParameter net;
    return ErrorOf([&] { ReadProtoFromTextFileOrDie(filename, &net); });
  }
  static string BinaryError(const string& filename) {
    NetParameter net;
    return ErrorOf([&] { ReadProtoFromBinaryFileOrDie(filename, &net); });
  }
  static NetParameter SmallNet() {
    NetParameter net;
    net.set_name("small");
    LayerParameter* const layer = net.add_layer();
    layer->set_name("ip");
    layer->set_type("InnerProduct");
    for (int i = 0; i < 1000; ++i) {
      layer->mutable_blobs()->Add()->add_data(i);
    }
    return net;
  }
  // Rows * 16 + columns, with 100 times the channel on top.
  static cv::Mat SmallImage(int channels) {
    cv::Mat image(5, 7, CV_8UC(channels));
    for (int row = 0; row < 5; ++row) {
      for (int column = 0; column < 7; ++column) {
        for (int c = 0; c < channels; ++c) {
          image.ptr<uchar>(row)[column * channels + c] =
              row * 16 + column + 100 * c;
        }
      }
    }
    return image;
  }
  static void ExpectSmallImage(const Datum& datum, int channels) {
    ASSERT_EQ(channels, datum.channels());
    ASSERT_EQ(5, datum.height());
    ASSERT_EQ(7, datum.width());
    ASSERT_EQ(channels * 35, datum.data().size());
    EXPECT_FALSE(datum.encoded());
    for (int c = 0; c < channels; ++c) {
      for (int row = 0; row < 5; ++row) {
        for (int column = 0; column < 7; ++column) {
          const int value =
              static_cast<uchar>(datum.data()[(c * 5 + row) * 7 + column]);
          EXPECT_EQ((row * 16 + column + 100 * c) % 256, value);
        }
      }
    }
  }
  string WriteImage(const string& name, const cv::Mat& image) const {
    cv::imwrite(folder_ / name, image);
    return folder_ / name;
  }

  const TemporaryFolder folder_;
  const string file_ = folder_ / "file";
};

TEST_F(IOTest, TemporaryNamesAreNew) {
  string first;
  string second;
  MakeTempFilename(&first);
  MakeTempFilename(&second);
  EXPECT_NE(first, second);
  WriteWholeFile(first, "writable");
  EXPECT_EQ("writable", ReadWholeFile(first));
  std::filesystem::remove_all(std::filesystem::path(first).parent_path());
}

TEST_F(IOTest, ProtosSurviveText) {
  const NetParameter net = SmallNet();
  WriteProtoToTextFile(net, file_);
  EXPECT_THAT(ReadWholeFile(file_), StartsWith("name: \"small\""));
  NetParameter read;
  ASSERT_TRUE(ReadProtoFromTextFile(file_, &read));
  EXPECT_EQ(net.SerializeAsString(), read.SerializeAsString());
  EXPECT_THAT(folder_.Names(), ElementsAre("file"));
}

TEST_F(IOTest, ProtosSurviveBinary) {
  const NetParameter net = SmallNet();
  WriteProtoToBinaryFile(net, file_);
  EXPECT_EQ(net.SerializeAsString(), ReadWholeFile(file_));
  NetParameter read;
  ASSERT_TRUE(ReadProtoFromBinaryFile(file_, &read));
  EXPECT_EQ(net.SerializeAsString(), read.SerializeAsString());
}

TEST_F(IOTest, ReadsMessagesBeyondProtobufsOldLimit) {
  BlobProto blob;
  blob.mutable_data()->Resize(70 << 18, 1.5F);  // 70 MiB; the limit was 64.
  WriteProtoToBinaryFile(blob, file_);
  BlobProto read;
  ReadProtoFromBinaryFileOrDie(file_, &read);
  EXPECT_EQ(70 << 18, read.data_size());
}

TEST_F(IOTest, TextErrorsSayWhere) {
  WriteWholeFile(file_, "name: \"net\"\nlayer {\n  nmae: \"ip\"\n}\n");
  EXPECT_THAT(TextError(file_), StartsWith(file_ + ":3:"));
  EXPECT_THAT(TextError(file_), HasSubstr("no field named \"nmae\""));
  WriteWholeFile(file_, "layer {\n  type: \"ReLU\"\n");
  EXPECT_THAT(TextError(file_), StartsWith(file_ + ":3:"));
  WriteWholeFile(file_, "layer {\n  phase: TRIAN\n}");
  EXPECT_THAT(TextError(file_), HasSubstr("TRIAN"));
  WriteWholeFile(file_, "layer { clip_param { min: 1 } }");
  EXPECT_THAT(TextError(file_), HasSubstr("clip_param.max"));
  NetParameter net;
  EXPECT_FALSE(ReadProtoFromTextFile(file_, &net));
}

TEST_F(IOTest, HostileTextIsAnError) {
  WriteWholeFile(file_, SmallNet().SerializeAsString());
  EXPECT_THAT(TextError(file_), StartsWith(file_));
  EXPECT_THAT(TextError(folder_ / "no"),
              HasSubstr("no: No such file or directory"));
  EXPECT_THAT(TextError(folder_.path()), HasSubstr("Is a directory"));
  // Any nests without end; the parser must not run out of stack.
  string nested;
  for (int i = 0; i < 100000; ++i) nested += "a { ";
  WriteWholeFile(file_, nested);
  EXPECT_THAT(TextError(file_), StartsWith(file_));
}

TEST_F(IOTest, DamagedBinaryIsAnError) {
  const string bytes = SmallNet().SerializeAsString();
  WriteWholeFile(file_, bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(file_ + " is damaged, cut short or not a binary caffe.NetParameter",
            BinaryError(file_));
  WriteWholeFile(file_, "");
  EXPECT_EQ(file_ + " is empty", BinaryError(file_));
  WriteProtoToTextFile(SmallNet(), file_);
  EXPECT_THAT(BinaryError(file_), HasSubstr("not a binary"));
  EXPECT_THAT(BinaryError(folder_ / "no"),
              HasSubstr("no: No such file or directory"));
  EXPECT_THAT(BinaryError(folder_.path()), HasSubstr("Is a directory"));
  NetParameter net;
  EXPECT_FALSE(ReadProtoFromBinaryFile(file_, &net));
}

TEST_F(IOTest, BinaryOfAnotherMessageIsAnError) {
  WriteProtoToBinaryFile(SmallNet(), file_);
  SolverState state;
  EXPECT_THAT(ErrorOf([&] { ReadProtoFromBinaryFileOrDie(file_, &state); }),
              HasSubstr("not a binary caffe.SolverState"));
}

TEST_F(IOTest, WriteErrorsNameTheFile) {
  EXPECT_EQ("cannot write /dev/full: No space left on device",
            ErrorOf([] { WriteProtoToBinaryFile(SmallNet(), "/dev/full"); }));
  EXPECT_EQ("cannot write /dev/full: No space left on device",
            ErrorOf([] { WriteProtoToTextFile(SmallNet(), "/dev/full"); }));
  const string missing = folder_ / "missing/file";
  EXPECT_EQ("cannot write " + missing + ": No such file or directory",
            ErrorOf([&] { WriteProtoToTextFile(SmallNet(), missing); }));
  NetParameter net;
  net.add_layer()->mutable_clip_param()->set_min(1);
  EXPECT_THAT(ErrorOf([&] { WriteProtoToBinaryFile(net, file_); }),
              HasSubstr("lacks layer[0].clip_param.max"));
}

TEST_F(IOTest, ReadsColourAndGrayImages) {
  for (const int channels : {1, 3}) {
    const string name = WriteImage("image.png", SmallImage(channels));
    Datum datum;
    ASSERT_TRUE(ReadImageToDatum(name, 4, channels == 3, &datum));
    EXPECT_EQ(4, datum.label());
    ExpectSmallImage(datum, channels);
  }
  const string gray = WriteImage("image.png", SmallImage(1));
  EXPECT_EQ(3, ReadImageToCVMat(gray).channels());
  EXPECT_EQ(1, ReadImageToCVMat(gray, false).channels());
}

TEST_F(IOTest, ResizesOnlyWithBothExtents) {
  const string name = WriteImage("image.png", SmallImage(3));
  int height = 0;
  int width = 0;
  const cv::Mat image = ReadImageToCVMat(name, 10, 14, true, &height, &width);
  EXPECT_EQ(10, image.rows);
  EXPECT_EQ(14, image.cols);
  EXPECT_EQ(5, height);
  EXPECT_EQ(7, width);
  EXPECT_EQ(5, ReadImageToCVMat(name, 10, 0).rows);
  // Bilinear between the rows' values 0 and 16, a quarter of the way.
  EXPECT_EQ(4, image.at<cv::Vec3b>(1, 0)[0]);
}

TEST_F(IOTest, KeepsTheBytesOfAFileInTheRightEncoding) {
  const string name = WriteImage("image.PNG", SmallImage(3));
  Datum datum;
  ASSERT_TRUE(ReadImageToDatum(name, 2, "png", &datum));
  EXPECT_TRUE(datum.encoded());
  EXPECT_EQ(2, datum.label());
  EXPECT_EQ(ReadWholeFile(name), datum.data());
}

TEST_F(IOTest, EncodesWhenAskedTo) {
  const string name = WriteImage("image.bmp", SmallImage(3));
  Datum datum;
  ASSERT_TRUE(ReadImageToDatum(name, 2, "png", &datum));
  EXPECT_THAT(datum.data(), StartsWith("\x89PNG"));
  EXPECT_EQ(2, datum.label());
  EXPECT_TRUE(DecodeDatum(&datum, true));
  ExpectSmallImage(datum, 3);
  EXPECT_EQ(2, datum.label());
  EXPECT_THAT(ErrorOf([&] { ReadImageToDatum(name, 2, "xyz", &datum); }),
              HasSubstr("xyz"));
}

TEST_F(IOTest, DecodesInNativeOrAskedForColours) {
  const string name = WriteImage("image.png", SmallImage(1));
  Datum encoded;
  ASSERT_TRUE(ReadFileToDatum(name, 1, &encoded));
  Datum datum = encoded;
  ASSERT_TRUE(DecodeDatumNative(&datum));
  ExpectSmallImage(datum, 1);
  EXPECT_FALSE(DecodeDatumNative(&datum)) << "it is decoded already";
  EXPECT_FALSE(DecodeDatum(&datum, true));
  EXPECT_EQ(3, DecodeDatumToCVMat(encoded, true).channels());
  EXPECT_EQ(1, DecodeDatumToCVMat(encoded, false).channels());
  EXPECT_EQ(1, DecodeDatumToCVMatNative(encoded).channels());
}

TEST_F(IOTest, DamagedImagesAreErrors) {
  cv::Mat noise(64, 64, CV_8UC3);
  cv::randu(noise, 0, 255);
  for (const char* const name : {"image.jpg", "image.png"}) {
    const string whole = ReadWholeFile(WriteImage(name, noise));
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{100},
                               whole.size() / 2, whole.size() - 20}) {
      Datum datum;
      datum.set_encoded(true);
      datum.set_data(whole.substr(0, bytes));
      EXPECT_THAT(ErrorOf([&] { DecodeDatum(&datum, true); }),
                  HasSubstr("damaged or cut short"))
          << name << " " << bytes;
      WriteWholeFile(file_, datum.data());
      EXPECT_TRUE(ReadImageToCVMat(file_).empty());
      EXPECT_FALSE(ReadImageToDatum(file_, 0, &datum));
    }
  }
  EXPECT_TRUE(ReadImageToCVMat(folder_ / "missing.jpg").empty());
  Datum datum;
  EXPECT_FALSE(ReadFileToDatum(folder_ / "missing.jpg", &datum));
}

TEST_F(IOTest, OnlyEightBitsFitADatum) {
  const string name = WriteImage("deep.png", cv::Mat(4, 4, CV_16UC1));
  Datum datum;
  ASSERT_TRUE(ReadFileToDatum(name, &datum));
  EXPECT_THAT(ErrorOf([&] { DecodeDatumNative(&datum); }), HasSubstr("8 bits"));
}

}  // namespace caffe
