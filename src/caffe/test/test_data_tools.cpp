#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/util/io.hpp"
#include "data_layer_test_util.hpp"
#include "net_test_util.hpp"
#include "tool_test_util.hpp"

// Runs the tools that make and read databases as a user does.

namespace caffe {

namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

std::map<string, Datum> ReadDatabase(const string& path,
                                     const string& backend = "lmdb") {
  const std::unique_ptr<db::DB> database(db::GetDB(backend));
  database->Open(path, db::READ);
  const std::unique_ptr<db::Cursor> cursor(database->NewCursor());
  std::map<string, Datum> records;
  for (; cursor->valid(); cursor->Next()) {
    CHECK(records[cursor->key()].ParseFromString(cursor->value()));
  }
  return records;
}

void WriteDatums(const string& path, const vector<Datum>& datums) {
  vector<string> values(datums.size());
  for (size_t i = 0; i < datums.size(); ++i) {
    values[i] = datums[i].SerializeAsString();
  }
  WriteDatabase("lmdb", path, values);
}

Datum NumberedDatum(int number) {
  Datum datum;
  CVMatToDatum(NumberedImage(number, 2, 3, 1), &datum);
  datum.set_label(number);
  return datum;
}

// A number of the idx format.
string BigEndian(uint32_t number) {
  string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>(number >> shift));
  }
  return bytes;
}

}  // namespace

class DataToolsTest : public ToolTest {
 protected:
  // Four images of 6 x 5 pixels, and a list of them.
  void WriteImages() const {
    fs::create_directory(folder_ / "images");
    string list;
    for (int i = 0; i < 4; ++i) {
      const string name = Concat("image ", i, i == 3 ? ".jpg" : ".png");
      cv::imwrite(folder_ / "images/" + name, NumberedImage(i, 6, 5, 3));
      list += Concat(name, " ", 10 + i, "\n");
    }
    WriteWholeFile(folder_ / "list.txt", list);
  }

  // Three images of 2 x 3 pixels with labels 7, 8, 255.
  void WriteMnist() const {
    string pixels;
    for (int i = 0; i < 18; ++i) pixels.push_back(static_cast<char>(100 + i));
    WriteWholeFile(
        folder_ / "images.idx",
        BigEndian(2051) + BigEndian(3) + BigEndian(2) + BigEndian(3) + pixels);
    WriteWholeFile(folder_ / "labels.idx",
                   BigEndian(2049) + BigEndian(3) + "\x07\x08\xff");
  }
};

TEST_F(DataToolsTest, HelpHasAnExampleAndTheFlags) {
  for (const char* const tool :
       {"convert_imageset", "compute_image_mean", "extract_features",
        "convert_mnist_data", "convert_cifar_data",
        "convert_mnist_siamese_data"}) {
    const Result result = Run(tool, "--help");
    EXPECT_EQ(0, result.exit_code);
    EXPECT_THAT(result.output,
                AllOf(HasSubstr(Concat("usage: ", tool)), HasSubstr("Example")))
        << tool;
  }
  ExpectComplaint("convert_cifar_data", "only one",
                  "wrong number of arguments; usage: ");
  EXPECT_THAT(Run("convert_imageset", "--help").output,
              HasSubstr("--resize_height"));
}

TEST_F(DataToolsTest, ImagesetAsRawPixels) {
  WriteImages();
  ExpectSuccess("convert_imageset", "images/ list.txt db");
  const auto records = ReadDatabase(folder_ / "db");
  ASSERT_EQ(4u, records.size());
  const Datum& datum = records.at("00000002_image 2.png");
  EXPECT_EQ(12, datum.label());
  Datum expected;
  CVMatToDatum(NumberedImage(2, 6, 5, 3), &expected);
  EXPECT_EQ(expected.data(), datum.data());
  EXPECT_EQ(3, datum.channels());
  EXPECT_EQ(6, datum.height());
  EXPECT_EQ(5, datum.width());
  EXPECT_FALSE(datum.encoded());
  EXPECT_FALSE(Exists("db.partial"));
}

TEST_F(DataToolsTest, ImagesetResizedAndGrey) {
  WriteImages();
  ExpectSuccess("convert_imageset",
                "--gray --resize_height=4 --resize_width=7 images/ list.txt "
                "db/");
  const auto records = ReadDatabase(folder_ / "db");
  const Datum& datum = records.at("00000000_image 0.png");
  EXPECT_EQ(1, datum.channels());
  EXPECT_EQ(4, datum.height());
  EXPECT_EQ(7, datum.width());
  EXPECT_EQ(28u, datum.data().size());
}

TEST_F(DataToolsTest, ImagesetEncoded) {
  WriteImages();
  ExpectSuccess("convert_imageset", "--encoded images/ list.txt as_they_are");
  const auto files = ReadDatabase(folder_ / "as_they_are");
  const Datum& datum = files.at("00000003_image 3.jpg");
  EXPECT_TRUE(datum.encoded());
  EXPECT_EQ(13, datum.label());
  EXPECT_EQ(ReadWholeFile(folder_ / "images/image 3.jpg"), datum.data());
  ExpectSuccess("convert_imageset", "--encode_type=png images/ list.txt png");
  for (const auto& [key, png] : ReadDatabase(folder_ / "png")) {
    EXPECT_TRUE(png.encoded());
    EXPECT_EQ("\x89PNG", png.data().substr(0, 4)) << key;
  }
}

TEST_F(DataToolsTest, ImagesetShuffled) {
  string list;
  fs::create_directory(folder_ / "images");
  for (int i = 0; i < 30; ++i) {
    cv::imwrite(folder_ / Concat("images/", i, ".png"),
                NumberedImage(i, 1, 1, 1));
    list += Concat(i, ".png ", i, "\n");
  }
  WriteWholeFile(folder_ / "list.txt", list);
  ExpectSuccess("convert_imageset", "--shuffle images/ list.txt db");
  const auto records = ReadDatabase(folder_ / "db");
  ASSERT_EQ(30u, records.size());
  int in_place = 0;
  for (const auto& [key, datum] : records) {
    EXPECT_EQ(Concat("_", datum.label(), ".png"), key.substr(8));
    in_place += std::stoi(key) == datum.label();
  }
  EXPECT_LT(in_place, 15);
}

TEST_F(DataToolsTest, ImagesetWithUnreadableImages) {
  WriteImages();
  WriteWholeFile(folder_ / "images/image 1.png", "no image");
  WriteWholeFile(folder_ / "list.txt",
                 ReadWholeFile(folder_ / "list.txt") + "missing.png 3\n");
  const Result result = Run("convert_imageset", "images/ list.txt db");
  EXPECT_EQ(0, result.exit_code);
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("image 1.png"), HasSubstr("missing.png"),
                    HasSubstr("Skipped 2 of 5 images")));
  const auto records = ReadDatabase(folder_ / "db");
  // The keys are those of the list.
  EXPECT_EQ(3u, records.size());
  EXPECT_TRUE(records.contains("00000003_image 3.jpg"));
  ExpectComplaint("convert_imageset", "nowhere/ list.txt other",
                  "none of the 5 images of list.txt could be read");
  EXPECT_FALSE(Exists("other"));
}

TEST_F(DataToolsTest, ImagesetRefuses) {
  WriteImages();
  ExpectComplaint("convert_imageset", "images/ none.txt db", "none.txt");
  ExpectComplaint("convert_imageset", "--backend=sqlite images/ list.txt db",
                  "sqlite");
  cv::imwrite(folder_ / "images/image 2.png", NumberedImage(2, 9, 9, 3));
  ExpectComplaint("convert_imageset", "--check_size images/ list.txt db",
                  "image 2.png takes 243 bytes where the images before it take "
                  "90");
  // Nothing is left that looks like a database.
  EXPECT_FALSE(Exists("db"));
  EXPECT_FALSE(Exists("db.partial"));
  WriteWholeFile(folder_ / "bad.txt", "image0.png\n");
  ExpectComplaint("convert_imageset", "images/ bad.txt db", "bad.txt:1: ");
}

TEST_F(DataToolsTest, ExistingDatabasesStay) {
  WriteImages();
  ExpectSuccess("convert_imageset", "images/ list.txt db");
  WriteMnist();
  ExpectComplaint("convert_imageset", "images/ list.txt db",
                  "db exists already");
  ExpectComplaint("convert_mnist_data", "images.idx labels.idx db/",
                  "db exists already");
  EXPECT_EQ(4u, ReadDatabase(folder_ / "db").size());
}

TEST_F(DataToolsTest, Mnist) {
  WriteMnist();
  for (const string& backend : Backends()) {
    ExpectSuccess(
        "convert_mnist_data",
        Concat("--backend=", backend, " images.idx labels.idx ", backend));
    const auto records = ReadDatabase(folder_ / backend, backend);
    ASSERT_EQ(3u, records.size());
    const Datum& datum = records.at("00000002");
    EXPECT_EQ(255, datum.label());
    EXPECT_EQ(1, datum.channels());
    EXPECT_EQ(2, datum.height());
    EXPECT_EQ(3, datum.width());
    EXPECT_EQ(string("\x70\x71\x72\x73\x74\x75"), datum.data());
  }
}

#ifdef USE_LEVELDB
TEST_F(DataToolsTest, MnistInPairs) {
  // A hundred images of one pixel, which tells the label.
  string pixels, labels;
  for (int i = 0; i < 100; ++i) {
    pixels.push_back(static_cast<char>(i));
    labels.push_back(static_cast<char>(i % 2));
  }
  WriteWholeFile(
      folder_ / "images.idx",
      BigEndian(2051) + BigEndian(100) + BigEndian(1) + BigEndian(1) + pixels);
  WriteWholeFile(folder_ / "labels.idx",
                 BigEndian(2049) + BigEndian(100) + labels);
  ExpectSuccess("convert_mnist_siamese_data", "images.idx labels.idx db");
  const auto records = ReadDatabase(folder_ / "db", "leveldb");
  ASSERT_EQ(100u, records.size());
  EXPECT_TRUE(records.contains("00000099"));
  int same = 0;
  std::set<string> pairs;
  for (const auto& [key, datum] : records) {
    EXPECT_EQ(2, datum.channels());
    EXPECT_EQ(1, datum.height());
    ASSERT_EQ(2u, datum.data().size());
    EXPECT_EQ((datum.data()[0] - datum.data()[1]) % 2 == 0, datum.label() == 1);
    same += datum.label();
    pairs.insert(datum.data());
  }
  // Drawn at random: all but certainly within these.
  EXPECT_GT(same, 20);
  EXPECT_LT(same, 80);
  EXPECT_GT(pairs.size(), 90u);
}
#endif

TEST_F(DataToolsTest, MnistRefusesDamagedFiles) {
  WriteMnist();
  const string images = ReadWholeFile(folder_ / "images.idx");
  const string labels = ReadWholeFile(folder_ / "labels.idx");
  const auto expect = [&](const string& complaint) {
    ExpectComplaint("convert_mnist_data", "images.idx labels.idx db",
                    complaint);
    EXPECT_FALSE(Exists("db"));
    EXPECT_FALSE(Exists("db.partial"));
    WriteMnist();
  };
  for (const size_t size : {size_t{3}, size_t{14}, images.size() - 1}) {
    WriteWholeFile(folder_ / "images.idx", images.substr(0, size));
    expect("images.idx is cut short");
  }
  WriteWholeFile(folder_ / "labels.idx", labels.substr(0, labels.size() - 1));
  expect("labels.idx is cut short");
  WriteWholeFile(folder_ / "images.idx", labels);
  expect("images.idx is not an idx file of images");
  WriteWholeFile(folder_ / "labels.idx", BigEndian(2049) + BigEndian(2) + "12");
  expect("3 images, and labels.idx has 2 labels");
  WriteWholeFile(folder_ / "images.idx", BigEndian(2051) + BigEndian(3) +
                                             BigEndian(0xffffffff) +
                                             BigEndian(0xffffffff));
  expect("out of range");
  fs::remove(folder_ / "labels.idx");
  expect("cannot read labels.idx");
}

TEST_F(DataToolsTest, InterruptedConversionLeavesNoDatabase) {
  WriteMnist();
  // Labels that never come keep the tool waiting until it is killed.
  const string pipe = folder_ / "pipe";
  ASSERT_EQ(0, mkfifo(pipe.c_str(), 0600));
  const int writer = open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  const string start = BigEndian(2049) + BigEndian(3) + "\x01";
  ASSERT_EQ(static_cast<ssize_t>(start.size()),
            write(writer, start.data(), start.size()));
  Run("convert_mnist_data", "images.idx pipe db", "timeout -s KILL 2");
  close(writer);
  EXPECT_FALSE(Exists("db"));
  EXPECT_TRUE(Exists("db.partial"));
  // The next run does not mind what the killed one left.
  ExpectSuccess("convert_mnist_data", "images.idx labels.idx db");
  EXPECT_EQ(3u, ReadDatabase(folder_ / "db").size());
  EXPECT_FALSE(Exists("db.partial"));
}

TEST_F(DataToolsTest, Cifar) {
  const auto batch = [](int number) {
    string bytes;
    for (int i = 0; i < 2; ++i) {
      bytes.push_back(static_cast<char>(number + i));
      bytes += string(3072, static_cast<char>(10 * number + i));
    }
    return bytes;
  };
  for (int i = 1; i <= 5; ++i) {
    WriteWholeFile(folder_ / Concat("data_batch_", i, ".bin"), batch(i));
  }
  ExpectComplaint("convert_cifar_data", ". . lmdb", "test_batch.bin");
  EXPECT_FALSE(Exists("cifar10_train_lmdb"));
  WriteWholeFile(folder_ / "test_batch.bin", batch(6) + "?");
  ExpectComplaint("convert_cifar_data", ". . lmdb",
                  "test_batch.bin has 6147 bytes");
  WriteWholeFile(folder_ / "test_batch.bin", batch(6));
  for (const string& backend : Backends()) {
    ExpectSuccess("convert_cifar_data", ". . " + backend);
    const auto train =
        ReadDatabase(folder_ / ("cifar10_train_" + backend), backend);
    const auto test =
        ReadDatabase(folder_ / ("cifar10_test_" + backend), backend);
    EXPECT_EQ(10u, train.size());
    EXPECT_EQ(2u, test.size());
    const Datum& datum = train.at("20001");
    EXPECT_EQ(4, datum.label());
    EXPECT_EQ(3, datum.channels());
    EXPECT_EQ(32, datum.height());
    EXPECT_EQ(32, datum.width());
    EXPECT_EQ(string(3072, 31), datum.data());
    EXPECT_EQ(string(3072, 60), test.at("00000").data());
  }
}

TEST_F(DataToolsTest, ImageMean) {
  vector<Datum> datums;
  double sum = 0;
  for (int i = 0; i < 5; ++i) {
    datums.push_back(NumberedDatum(i));
    sum += static_cast<uint8_t>(datums.back().data()[4]);
  }
  // Floats and encoded images count like bytes.
  Datum floats = datums[3];
  floats.clear_data();
  for (const char byte : datums[3].data()) {
    floats.add_float_data(static_cast<uint8_t>(byte));
  }
  datums[3] = floats;
  vector<uchar> png;
  cv::imencode(".png", NumberedImage(1, 2, 3, 1), png);
  datums[1].Clear();
  datums[1].set_encoded(true);
  datums[1].set_data(png.data(), png.size());
  WriteDatums(folder_ / "db", datums);
  const Result result =
      Run("compute_image_mean", "--backend=lmdb db mean.binaryproto");
  EXPECT_EQ(0, result.exit_code) << result.output;
  EXPECT_THAT(result.output, HasSubstr("mean_value channel [0]: "));
  BlobProto mean;
  ReadProtoFromBinaryFileOrDie(folder_ / "mean.binaryproto", &mean);
  EXPECT_EQ(1, mean.num());
  EXPECT_EQ(1, mean.channels());
  EXPECT_EQ(2, mean.height());
  EXPECT_EQ(3, mean.width());
  ASSERT_EQ(6, mean.data_size());
  EXPECT_NEAR(sum / 5, mean.data(4), 1e-4);
  ExpectSuccess("compute_image_mean", "db");
}

TEST_F(DataToolsTest, ImageMeanRefuses) {
  ExpectComplaint("compute_image_mean", "none", "none");
  WriteDatums(folder_ / "empty", {});
  ExpectComplaint("compute_image_mean", "empty", "'empty' is empty");
  Datum other;
  CVMatToDatum(NumberedImage(1, 3, 2, 1), &other);
  WriteDatums(folder_ / "sizes", {NumberedDatum(0), other});
  ExpectComplaint("compute_image_mean", "sizes mean.binaryproto",
                  "record '00000001' of database 'sizes'");
  other = NumberedDatum(0);
  other.set_data("12345");
  WriteDatums(folder_ / "short", {other});
  ExpectComplaint("compute_image_mean", "short", "5 values");
  other.set_encoded(true);
  WriteDatums(folder_ / "damaged", {NumberedDatum(0), other});
  ExpectComplaint("compute_image_mean", "damaged",
                  "record '00000001' of database 'damaged'");
  EXPECT_FALSE(Exists("mean.binaryproto"));
}

TEST_F(DataToolsTest, ExtractFeatures) {
  vector<Datum> datums(6);
  for (int i = 0; i < 6; ++i) datums[i] = NumberedDatum(i);
  WriteDatums(folder_ / "db", datums);
  const string net_text =
      "layer { name: 'data' type: 'Data' top: 'data' top: 'label' data_param { "
      "source: '" +
      folder_ / "db" +
      "' batch_size: 2 backend: LMDB } } "
      "layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip' "
      "inner_product_param { num_output: 4 weight_filler { type: 'xavier' } } }"
      "layer { name: 'drop' type: 'Silence' bottom: 'label' }";
  WriteWholeFile(folder_ / "net.prototxt", net_text);
  Caffe::set_random_seed(1701);
  Net<float> net(folder_ / "net.prototxt", TEST);
  NetParameter weights;
  net.ToProto(&weights);
  WriteProtoToBinaryFile(weights, folder_ / "net.caffemodel");

  const Result result =
      Run("extract_features",
          "net.caffemodel net.prototxt ip,data ip_lmdb,data_lmdb 3 lmdb CPU");
  EXPECT_EQ(0, result.exit_code) << result.output;
  const auto features = ReadDatabase(folder_ / "ip_lmdb");
  const auto images = ReadDatabase(folder_ / "data_lmdb");
  ASSERT_EQ(6u, features.size());
  ASSERT_EQ(6u, images.size());
  int image = 0;
  for (int batch = 0; batch < 3; ++batch) {
    net.Forward();
    const Blob<float>& ip = *net.blob_by_name("ip");
    for (int n = 0; n < 2; ++n, ++image) {
      const Datum& datum = features.at(format_int(image, 10));
      EXPECT_EQ(4, datum.channels());
      EXPECT_EQ(1, datum.height());
      EXPECT_EQ(1, datum.width());
      ASSERT_EQ(4, datum.float_data_size());
      for (int i = 0; i < 4; ++i) {
        EXPECT_FLOAT_EQ(ip.data_at({n, i}), datum.float_data(i));
      }
      const Datum& pixels = images.at(format_int(image, 10));
      EXPECT_EQ(2, pixels.height());
      EXPECT_EQ(3, pixels.width());
      EXPECT_EQ(static_cast<uint8_t>(datums[image].data()[5]),
                pixels.float_data(5));
    }
  }
}

TEST_F(DataToolsTest, ExtractFeaturesRefuses) {
  const string net_text =
      "layer { name: 'data' type: 'DummyData' top: 'data' dummy_data_param { "
      "shape { dim: 2 dim: 3 } } }";
  WriteWholeFile(folder_ / "net.prototxt", net_text);
  WriteProtoToBinaryFile(ParseNet("name: 'empty'"), folder_ / "net.caffemodel");
  const string both = "net.caffemodel net.prototxt ";
  ExpectComplaint("extract_features", both + "none db 1 lmdb",
                  "net net.prototxt has no blob 'none'");
  ExpectComplaint("extract_features", both + "data,data db 1 lmdb",
                  "one dataset for each blob");
  ExpectComplaint("extract_features", both + "data db many lmdb", "'many'");
  ExpectComplaint("extract_features", both + "data db 1 sqlite", "sqlite");
  ExpectComplaint("extract_features", both + "data db 1 lmdb GPU", "CUDA");
  ExpectComplaint("extract_features",
                  "none.caffemodel net.prototxt data db 1 lmdb",
                  "none.caffemodel");
  EXPECT_FALSE(Exists("db"));
}

}  // namespace caffe
