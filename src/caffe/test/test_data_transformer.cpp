#include "caffe/data_transformer.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <limits>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "caffe/util/io.hpp"
#include "temporary_folder.hpp"

namespace caffe {

namespace {

using ::testing::HasSubstr;

// Height and width differ, and no two values close by are alike.
constexpr int kHeight = 7;
constexpr int kWidth = 9;

uint8_t PixelAt(int image, int c, int h, int w) {
  return static_cast<uint8_t>(image * 91 + c * 53 + h * 17 + w * 5);
}

Datum ByteDatum(int image, int channels) {
  Datum datum;
  datum.set_channels(channels);
  datum.set_height(kHeight);
  datum.set_width(kWidth);
  for (int c = 0; c < channels; ++c) {
    for (int h = 0; h < kHeight; ++h) {
      for (int w = 0; w < kWidth; ++w) {
        datum.mutable_data()->push_back(
            static_cast<char>(PixelAt(image, c, h, w)));
      }
    }
  }
  return datum;
}

Datum FloatDatum(int image, int channels) {
  Datum datum = ByteDatum(image, channels);
  for (const char byte : datum.data()) {
    datum.add_float_data(static_cast<uint8_t>(byte));
  }
  datum.clear_data();
  return datum;
}

// A part of a larger matrix, so that rows do not follow each other in memory.
cv::Mat Matrix(int image, int channels) {
  cv::Mat whole(kHeight + 2, kWidth + 3, CV_8UC(channels), cv::Scalar::all(99));
  cv::Mat part = whole(cv::Rect(2, 1, kWidth, kHeight));
  for (int h = 0; h < kHeight; ++h) {
    for (int w = 0; w < kWidth; ++w) {
      for (int c = 0; c < channels; ++c) {
        part.ptr(h)[w * channels + c] = PixelAt(image, c, h, w);
      }
    }
  }
  return part;
}

Datum EncodedDatum(int image, int channels) {
  vector<uchar> file;
  cv::imencode(".png", Matrix(image, channels), file);
  Datum datum;
  datum.set_data(file.data(), file.size());
  datum.set_encoded(true);
  return datum;
}

// Takes its random numbers from a list and keeps what they were asked for.
template <typename Dtype>
class ScriptedTransformer : public DataTransformer<Dtype> {
 public:
  using DataTransformer<Dtype>::DataTransformer;

  std::deque<int> script_;
  vector<int> asked_;

 protected:
  int Rand(int n) override {
    asked_.push_back(n);
    const int next = script_.empty() ? 0 : script_.front();
    if (!script_.empty()) script_.pop_front();
    return next % n;
  }
};

enum class Mean { kNone, kOne, kEach, kFile };

struct Case {
  Phase phase = TEST;
  int channels = 3;
  int crop = 0;
  bool mirror = false;
  Mean mean = Mean::kNone;
  float scale = 1;
  // What the random numbers turn out to be.
  bool flip = false;
  int top = 0;
  int left = 0;
};

float MeanValue(const Case& options, int c, int h, int w) {
  switch (options.mean) {
    case Mean::kNone:
      return 0;
    case Mean::kOne:
      return 13.5F;
    case Mean::kEach:
      return 10.25F * (c + 1);
    case Mean::kFile:
      return 0.5F * c + 3 * h - 1.25F * w;
  }
  return 0;
}

}  // namespace

template <typename TypeParam>
class DataTransformerTest : public MultiDeviceTest<TypeParam> {
  typedef typename TypeParam::Dtype Dtype;

 protected:
  string WriteMeanFile(const Case& options) const {
    BlobProto mean;
    mean.set_num(1);
    mean.set_channels(options.channels);
    mean.set_height(kHeight);
    mean.set_width(kWidth);
    for (int c = 0; c < options.channels; ++c) {
      for (int h = 0; h < kHeight; ++h) {
        for (int w = 0; w < kWidth; ++w) {
          mean.add_data(MeanValue(options, c, h, w));
        }
      }
    }
    string name = folder_ / Concat("mean", options.channels);
    WriteProtoToBinaryFile(mean, name);
    return name;
  }

  TransformationParameter Settings(const Case& options) const {
    TransformationParameter param;
    param.set_crop_size(options.crop);
    param.set_mirror(options.mirror);
    param.set_scale(options.scale);
    if (options.mean == Mean::kFile) {
      param.set_mean_file(WriteMeanFile(options));
    } else if (options.mean != Mean::kNone) {
      const int count = options.mean == Mean::kOne ? 1 : options.channels;
      for (int c = 0; c < count; ++c) {
        param.add_mean_value(MeanValue(options, c, 0, 0));
      }
    }
    return param;
  }

  // What the transformer should draw for one image.
  static std::deque<int> Script(const Case& options) {
    std::deque<int> script;
    if (options.mirror) script.push_back(options.flip ? 1 : 0);
    if (options.crop > 0 && options.phase == TRAIN) {
      script.push_back(options.top);
      script.push_back(options.left);
    }
    return script;
  }

  // Compares image n of the blob, value by value, with the definition.
  static void ExpectImage(const Case& options, int image, int n,
                          const Blob<Dtype>& blob) {
    const int height = options.crop > 0 ? options.crop : kHeight;
    const int width = options.crop > 0 ? options.crop : kWidth;
    int top = 0;
    int left = 0;
    if (options.crop > 0) {
      const bool train = options.phase == TRAIN;
      top = train ? options.top : (kHeight - height) / 2;
      left = train ? options.left : (kWidth - width) / 2;
    }
    for (int c = 0; c < options.channels; ++c) {
      for (int h = 0; h < height; ++h) {
        for (int w = 0; w < width; ++w) {
          const bool flip = options.mirror && options.flip;
          const int y = top + h;
          const int x = left + (flip ? width - 1 - w : w);
          const Dtype expected =
              (PixelAt(image, c, y, x) - MeanValue(options, c, y, x)) *
              options.scale;
          ASSERT_NEAR(expected, blob.data_at(n, c, h, w), 1e-4)
              << "image " << image << " at " << c << ", " << h << ", " << w;
        }
      }
    }
  }

  static vector<int> ExpectedShape(const Case& options, int num) {
    return {num, options.channels, options.crop > 0 ? options.crop : kHeight,
            options.crop > 0 ? options.crop : kWidth};
  }

  template <typename Image>
  static void CheckOne(const Case& options,
                       ScriptedTransformer<Dtype>* transformer,
                       const Image& image) {
    transformer->asked_.clear();
    transformer->script_ = Script(options);
    ASSERT_EQ(ExpectedShape(options, 1), transformer->InferBlobShape(image));
    Blob<Dtype> blob(transformer->InferBlobShape(image));
    transformer->Transform(image, &blob);
    ExpectImage(options, 1, 0, blob);
    vector<int> ranges;
    if (options.mirror) ranges.push_back(2);
    if (options.crop > 0 && options.phase == TRAIN) {
      ranges.push_back(kHeight - options.crop + 1);
      ranges.push_back(kWidth - options.crop + 1);
    }
    EXPECT_EQ(ranges, transformer->asked_);
  }

  template <typename Image>
  static void CheckVector(const Case& options,
                          ScriptedTransformer<Dtype>* transformer,
                          const vector<Image>& images) {
    transformer->script_.clear();
    for (size_t i = 0; i < images.size(); ++i) {
      for (const int draw : Script(options)) {
        transformer->script_.push_back(draw);
      }
    }
    const vector<int> shape = transformer->InferBlobShape(images);
    ASSERT_EQ(ExpectedShape(options, images.size()), shape);
    Blob<Dtype> blob(shape);
    transformer->Transform(images, &blob);
    for (size_t i = 0; i < images.size(); ++i) ExpectImage(options, i, i, blob);
  }

  static void CheckBlob(const Case& options,
                        ScriptedTransformer<Dtype>* transformer) {
    Blob<Dtype> input(2, options.channels, kHeight, kWidth);
    for (int i = 0; i < input.count(); ++i) {
      const int w = i % kWidth;
      const int h = i / kWidth % kHeight;
      const int c = i / (kWidth * kHeight) % options.channels;
      const int n = i / (kWidth * kHeight * options.channels);
      input.mutable_cpu_data()[i] = PixelAt(n, c, h, w);
    }
    transformer->script_ = Script(options);
    Blob<Dtype> output;
    transformer->Transform(&input, &output);
    ASSERT_EQ(ExpectedShape(options, 2), output.shape());
    ExpectImage(options, 0, 0, output);
    ExpectImage(options, 1, 1, output);
  }

  void Check(const Case& options) const {
    const int channels = options.channels;
    ScriptedTransformer<Dtype> transformer(Settings(options), options.phase);
    CheckOne(options, &transformer, ByteDatum(1, channels));
    CheckOne(options, &transformer, FloatDatum(1, channels));
    CheckOne(options, &transformer, Matrix(1, channels));
    if (channels != 2) {  // No image file has two channels.
      CheckOne(options, &transformer, EncodedDatum(1, channels));
    }
    CheckVector(options, &transformer,
                vector<Datum>{ByteDatum(0, channels), FloatDatum(1, channels),
                              ByteDatum(2, channels)});
    CheckVector(options, &transformer,
                vector<cv::Mat>{Matrix(0, channels), Matrix(1, channels)});
    CheckBlob(options, &transformer);
  }

  // The sentence with which a transformer of these settings refuses the image.
  template <typename Image>
  static string Complaint(const TransformationParameter& param,
                          const Image& image) {
    try {
      DataTransformer<Dtype> transformer(param, TEST);
      transformer.InitRand();
      Blob<Dtype> blob(transformer.InferBlobShape(image));
      transformer.Transform(image, &blob);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const TemporaryFolder folder_;
};

TYPED_TEST_SUITE(DataTransformerTest, TestDtypesAndDevices);

TYPED_TEST(DataTransformerTest, EveryCombinationOfSettings) {
  for (const Phase phase : {TRAIN, TEST}) {
    for (const int channels : {1, 2, 3, 4}) {
      for (const int crop : {0, 4, kHeight}) {
        for (const bool mirror : {false, true}) {
          for (const Mean mean :
               {Mean::kNone, Mean::kOne, Mean::kEach, Mean::kFile}) {
            for (const float scale : {1.0F, 0.125F}) {
              Case options{phase, channels, crop, mirror, mean, scale};
              options.top = crop == 4 ? 3 : 0;
              options.left = 2;
              for (const bool flip : {false, true}) {
                if (flip && !mirror) continue;
                options.flip = flip;
                SCOPED_TRACE(testing::Message()
                             << "phase " << phase << " channels " << channels
                             << " crop " << crop << " mirror " << mirror
                             << " flip " << flip << " mean "
                             << static_cast<int>(mean) << " scale " << scale);
                ASSERT_NO_FATAL_FAILURE(this->Check(options));
              }
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(DataTransformerTest, LongRowsAndAllCropsAreWhole) {
  typedef typename TypeParam::Dtype Dtype;
  // Wider than what the kernel takes at a time.
  cv::Mat image(2, 1000, CV_8UC3);
  for (int i = 0; i < 6000; ++i) image.data[i] = static_cast<uint8_t>(i % 251);
  for (const bool flip : {false, true}) {
    TransformationParameter param;
    param.set_mirror(true);
    ScriptedTransformer<Dtype> transformer(param, TRAIN);
    transformer.script_ = {flip ? 1 : 0};
    Blob<Dtype> blob(transformer.InferBlobShape(image));
    transformer.Transform(image, &blob);
    for (int c = 0; c < 3; ++c) {
      for (int h = 0; h < 2; ++h) {
        for (int w = 0; w < 1000; ++w) {
          const int x = flip ? 999 - w : w;
          ASSERT_EQ((h * 3000 + x * 3 + c) % 251, blob.data_at(0, c, h, w));
        }
      }
    }
  }
}

TYPED_TEST(DataTransformerTest, RandomCropsAndMirrorsAllHappen) {
  typedef typename TypeParam::Dtype Dtype;
  Caffe::set_random_seed(1701);
  TransformationParameter param;
  param.set_crop_size(kHeight - 1);
  param.set_mirror(true);
  DataTransformer<Dtype> transformer(param, TRAIN);
  transformer.InitRand();
  Blob<Dtype> blob(1, 1, kHeight - 1, kHeight - 1);
  std::map<pair<Dtype, Dtype>, int> seen;
  for (int i = 0; i < 1600; ++i) {
    transformer.Transform(ByteDatum(0, 1), &blob);
    ++seen[{blob.cpu_data()[0], blob.cpu_data()[1]}];
  }
  // Two rows, four columns and two directions, all about as often.
  EXPECT_EQ(16u, seen.size());
  for (const auto& [values, times] : seen) EXPECT_NEAR(100, times, 50);
}

TYPED_TEST(DataTransformerTest, SameSeedSameChoices) {
  typedef typename TypeParam::Dtype Dtype;
  TransformationParameter param;
  param.set_crop_size(3);
  param.set_mirror(true);
  const auto crops = [&](DataTransformer<Dtype>* transformer) {
    vector<Dtype> values;
    Blob<Dtype> blob(1, 3, 3, 3);
    for (int i = 0; i < 20; ++i) {
      transformer->Transform(ByteDatum(i, 3), &blob);
      values.insert(values.end(), blob.cpu_data(), blob.cpu_data() + 27);
    }
    return values;
  };
  DataTransformer<Dtype> a(param, TRAIN);
  DataTransformer<Dtype> b(param, TRAIN);
  Caffe::set_random_seed(5);
  a.InitRand();
  Caffe::set_random_seed(5);
  b.InitRand();
  EXPECT_EQ(crops(&a), crops(&b));
  // A saved state continues where it was saved.
  const string state = a.SaveState();
  const vector<Dtype> next = crops(&a);
  DataTransformer<Dtype> restored(param, TRAIN);
  restored.RestoreState(state);
  EXPECT_EQ(next, crops(&restored));
  EXPECT_NE(next, crops(&restored));
  EXPECT_THROW(restored.RestoreState(""), Error);
  EXPECT_THROW(restored.RestoreState("no state"), Error);
  EXPECT_EQ("", DataTransformer<Dtype>({}, TRAIN).SaveState());
}

TYPED_TEST(DataTransformerTest, ForcesColours) {
  typedef typename TypeParam::Dtype Dtype;
  TransformationParameter param;
  param.set_force_color(true);
  DataTransformer<Dtype> color(param, TEST);
  Blob<Dtype> blob(color.InferBlobShape(EncodedDatum(0, 1)));
  EXPECT_EQ((vector<int>{1, 3, kHeight, kWidth}), blob.shape());
  color.Transform(EncodedDatum(0, 1), &blob);
  for (int c = 0; c < 3; ++c) {
    EXPECT_EQ(PixelAt(0, 0, 2, 3), blob.data_at(0, c, 2, 3));
  }
  param.clear_force_color();
  param.set_force_gray(true);
  DataTransformer<Dtype> gray(param, TEST);
  EXPECT_EQ((vector<int>{1, 1, kHeight, kWidth}),
            gray.InferBlobShape(EncodedDatum(0, 3)));
  param.set_force_color(true);
  EXPECT_THROW(DataTransformer<Dtype>(param, TEST), Error);
}

TYPED_TEST(DataTransformerTest, RefusesSettingsThatContradict) {
  typedef typename TypeParam::Dtype Dtype;
  TransformationParameter param;
  param.set_mean_file("/nowhere/mean.binaryproto");
  EXPECT_THAT(ErrorOf([&] { DataTransformer<Dtype>(param, TEST); }),
              HasSubstr("/nowhere/mean.binaryproto"));
  param.add_mean_value(1);
  EXPECT_THROW(DataTransformer<Dtype>(param, TEST), Error);
}

TYPED_TEST(DataTransformerTest, RefusesImagesThatDoNotFit) {
  TransformationParameter param;
  param.set_crop_size(8);
  EXPECT_EQ("crop_size 8 is larger than the 7 x 9 image",
            this->Complaint(param, ByteDatum(0, 3)));
  EXPECT_THAT(this->Complaint(param, Matrix(0, 3)), HasSubstr("crop_size 8"));
  param.Clear();
  param.add_mean_value(1);
  param.add_mean_value(2);
  EXPECT_EQ("", this->Complaint(param, Matrix(0, 2)));
  EXPECT_THAT(this->Complaint(param, Matrix(0, 3)),
              HasSubstr("2 mean_values for an image of 3 channel(s)"));
  Case options;
  options.mean = Mean::kFile;
  EXPECT_THAT(this->Complaint(this->Settings(options), Matrix(0, 1)),
              HasSubstr("1 x 7 x 9 does not fit mean file"));
}

TYPED_TEST(DataTransformerTest, RefusesHostileDatums) {
  const TransformationParameter none;
  Datum datum = ByteDatum(0, 3);
  datum.mutable_data()->pop_back();
  EXPECT_EQ("the datum has 188 values, which does not fit its size, 3 x 7 x 9",
            this->Complaint(none, datum));
  datum = FloatDatum(0, 3);
  datum.add_float_data(1);
  EXPECT_THAT(this->Complaint(none, datum), HasSubstr("190 values"));
  EXPECT_NE("", this->Complaint(none, Datum()));
  const int huge = std::numeric_limits<int>::max();
  for (const int extent : {-1, 0, 1, 65536, huge}) {
    datum = ByteDatum(0, 3);
    datum.set_channels(extent);
    datum.set_height(extent);
    datum.set_width(extent);
    EXPECT_NE("", this->Complaint(none, datum)) << extent;
  }
  datum = EncodedDatum(0, 3);
  datum.mutable_data()->resize(20);
  EXPECT_NE("", this->Complaint(none, datum));
  datum.set_data("");
  EXPECT_NE("", this->Complaint(none, datum));
  EXPECT_THAT(this->Complaint(none, cv::Mat(2, 2, CV_16U, cv::Scalar(0))),
              HasSubstr("16 bits"));
  EXPECT_NE("", this->Complaint(none, cv::Mat()));
  EXPECT_NE("", this->Complaint(none, vector<Datum>()));
  EXPECT_NE("", this->Complaint(none, vector<cv::Mat>()));
  // The second image has another size than the first.
  EXPECT_NE("", this->Complaint(
                    none, vector<Datum>{ByteDatum(0, 3), ByteDatum(0, 1)}));
}

TYPED_TEST(DataTransformerTest, RefusesBlobsOfAnotherShape) {
  typedef typename TypeParam::Dtype Dtype;
  DataTransformer<Dtype> transformer({}, TEST);
  for (const vector<int>& shape : {vector<int>{1, 3, kWidth, kHeight},
                                   {1, 1, kHeight, kWidth},
                                   {0, 3, kHeight, kWidth},
                                   {1, 3, kHeight, kWidth, 1},
                                   {1}}) {
    Blob<Dtype> blob(shape);
    EXPECT_THROW(transformer.Transform(Matrix(0, 3), &blob), Error);
    EXPECT_THROW(transformer.Transform(ByteDatum(0, 3), &blob), Error);
  }
  Blob<Dtype> two(2, 3, kHeight, kWidth);
  Blob<Dtype> three(3, 3, kHeight, kWidth);
  EXPECT_NO_THROW(transformer.Transform(&two, &three));
  EXPECT_THROW(transformer.Transform(&three, &two), Error);
  EXPECT_THROW(transformer.Transform(vector<Datum>(3, ByteDatum(0, 3)), &two),
               Error);
}

// The same random numbers, bit for bit the same values.
TYPED_TEST(DataTransformerTest, CutAndFinishedIsTransformed) {
  typedef typename TypeParam::Dtype Dtype;
  const auto expect_same = [](const auto& image, const Case& options,
                              DataTransformer<Dtype>* whole,
                              DataTransformer<Dtype>* steps) {
    Blob<Dtype> expected(whole->InferBlobShape(image));
    whole->Transform(image, &expected);
    // Of a larger batch, and without any memory.
    vector<int> shape = expected.shape();
    shape[0] = 4;
    const Blob<Dtype> batch(shape);
    vector<uint8_t> bytes(expected.count());
    ASSERT_TRUE(steps->IsOfBytes(image));
    const CropWindow window = steps->Cut(image, batch, bytes.data());
    EXPECT_EQ(SyncedMemory::UNINITIALIZED, batch.data()->head());
    vector<Dtype> values(expected.count());
    steps->Finish(options.channels, bytes.data(), window, values.data());
    EXPECT_EQ(vector<Dtype>(expected.cpu_data(),
                            expected.cpu_data() + expected.count()),
              values);
  };
  for (const Phase phase : {TRAIN, TEST}) {
    for (const int channels : {1, 3}) {
      for (const Mean mean :
           {Mean::kNone, Mean::kOne, Mean::kEach, Mean::kFile}) {
        for (const int crop : {0, 4}) {
          const Case options{phase, channels, crop, true, mean, 0.3F};
          const TransformationParameter settings = this->Settings(options);
          DataTransformer<Dtype> whole(settings, phase);
          DataTransformer<Dtype> steps(settings, phase);
          for (DataTransformer<Dtype>* const each : {&whole, &steps}) {
            Caffe::set_random_seed(5);
            each->InitRand();
          }
          for (int i = 0; i < 4; ++i) {
            expect_same(ByteDatum(i, channels), options, &whole, &steps);
            expect_same(Matrix(i, channels), options, &whole, &steps);
            expect_same(EncodedDatum(i, channels), options, &whole, &steps);
          }
        }
      }
    }
  }
  DataTransformer<Dtype> transformer({}, TEST);
  EXPECT_FALSE(transformer.IsOfBytes(FloatDatum(0, 3)));
  uint8_t byte = 0;
  EXPECT_THROW(
      transformer.Cut(FloatDatum(0, 3),
                      Blob<Dtype>(vector<int>{1, 3, kHeight, kWidth}), &byte),
      Error);
  EXPECT_THROW(transformer.Cut(ByteDatum(0, 3),
                               Blob<Dtype>(vector<int>{1, 3, 2, 2}), &byte),
               Error);
}

}  // namespace caffe
