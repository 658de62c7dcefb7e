#ifndef CAFFE_SRC_TEST_DATA_LAYER_TEST_UTIL_HPP_
#define CAFFE_SRC_TEST_DATA_LAYER_TEST_UTIL_HPP_

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "caffe/batch_source.hpp"
#include "caffe/layer.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/db.hpp"
#include "caffe/util/format.hpp"

// What the tests of data layers share.

namespace caffe {

// The database backends of this build.
inline vector<string> Backends() {
#ifdef USE_LEVELDB
  return {"lmdb", "leveldb"};
#else
  return {"lmdb"};
#endif
}

// A new database of records with the keys "00000000", "00000001", ...
inline void WriteDatabase(const string& backend, const string& path,
                          const vector<string>& values) {
  const std::unique_ptr<db::DB> database(db::GetDB(backend));
  database->Open(path, db::NEW);
  const std::unique_ptr<db::Transaction> transaction(
      database->NewTransaction());
  for (size_t i = 0; i < values.size(); ++i) {
    transaction->Put(format_int(static_cast<int>(i), 8), values[i]);
  }
  transaction->Commit();
}

// A data layer and its tops.
template <typename Dtype>
class Feed {
 public:
  // `settings` is a LayerParameter as text.
  Feed(const string& settings, int num_tops) : blobs_(num_tops) {
    LayerParameter param;
    CHECK(google::protobuf::TextFormat::ParseFromString(settings, &param));
    for (auto& blob : blobs_) {
      blob = std::make_unique<Blob<Dtype>>();
      tops_.push_back(blob.get());
    }
    layer_ = LayerRegistry<Dtype>::CreateLayer(param);
    layer_->SetUp({}, tops_);
  }

  // All values of the tops of the next batch, one after the other.
  vector<Dtype> Next() {
    layer_->Forward({}, tops_);
    vector<Dtype> values;
    for (const Blob<Dtype>* top : tops_) {
      values.insert(values.end(), top->cpu_data(),
                    top->cpu_data() + top->count());
    }
    return values;
  }
  vector<vector<Dtype>> Next(int batches) {
    vector<vector<Dtype>> values(batches);
    for (vector<Dtype>& batch : values) batch = Next();
    return values;
  }

  // The values of one top of the next batch.
  vector<Dtype> NextOf(int top) {
    layer_->Forward({}, tops_);
    return vector<Dtype>(tops_[top]->cpu_data(),
                         tops_[top]->cpu_data() + tops_[top]->count());
  }

  Layer<Dtype>& layer() { return *layer_; }
  const Blob<Dtype>& top(int i) const { return *tops_[i]; }
  const vector<Blob<Dtype>*>& tops() const { return tops_; }

 private:
  vector<std::unique_ptr<Blob<Dtype>>> blobs_;
  vector<Blob<Dtype>*> tops_;
  shared_ptr<Layer<Dtype>> layer_;
};

// The sentence with which the layer refuses its settings or its data within
// the first batches; empty when it does not.
template <typename Dtype>
string FeedComplaint(const string& settings, int num_tops, int batches = 3) {
  try {
    Feed<Dtype>(settings, num_tops).Next(batches);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// A state saved after any number of batches must make another layer, and the
// same one, go on exactly as the first did.
template <typename Dtype>
void ExpectExactResume(const string& settings, int num_tops) {
  constexpr int kBatches = 7;
  for (const int before : {0, 1, 2, 9}) {
    SCOPED_TRACE(before);
    Caffe::set_random_seed(1701);
    Feed<Dtype> original(settings, num_tops);
    original.Next(before);
    const string state = original.layer().SaveState();
    const auto expected = original.Next(kBatches);

    Caffe::set_random_seed(before + 1);
    Feed<Dtype> resumed(settings, num_tops);
    resumed.Next(before % 2 + 1);
    Caffe::set_random_seed(7);
    resumed.layer().RestoreState(state);
    EXPECT_EQ(state, resumed.layer().SaveState());
    // The caller's generator belongs to somebody else.
    const unsigned int drawn = caffe_rng_rand();
    Caffe::set_random_seed(7);
    EXPECT_EQ(caffe_rng_rand(), drawn);
    EXPECT_EQ(expected, resumed.Next(kBatches));
    EXPECT_EQ(original.layer().SaveState(), resumed.layer().SaveState());

    original.layer().RestoreState(state);
    EXPECT_EQ(expected, original.Next(kBatches));
    EXPECT_THROW(original.layer().RestoreState("\xff no state"), Error);
  }
}

// Batches of another size must go on with the image after the last one, and
// tell so in their state.
template <typename Dtype>
void ExpectBatchSizeToChange(const string& settings, int num_tops) {
  Caffe::set_random_seed(1701);
  Feed<Dtype> original(settings, num_tops);
  Caffe::set_random_seed(1701);
  Feed<Dtype> changed(settings, num_tops);
  auto* const source = dynamic_cast<BatchSource<Dtype>*>(&changed.layer());
  ASSERT_NE(nullptr, source);
  const int batch_size = source->batch_size();
  EXPECT_EQ(original.Next(2), changed.Next(2));
  for (const int factor : {3, 1, 2}) {
    SCOPED_TRACE(factor);
    source->SetBatchSize(factor * batch_size, changed.tops());
    EXPECT_EQ(factor * batch_size, changed.tops()[0]->shape(0));
    for (int batch = 0; batch < 3; ++batch) {
      vector<vector<Dtype>> expected(num_tops);
      for (int i = 0; i < factor; ++i) {
        original.Next();
        for (int top = 0; top < num_tops; ++top) {
          const Blob<Dtype>& blob = *original.tops()[top];
          expected[top].insert(expected[top].end(), blob.cpu_data(),
                               blob.cpu_data() + blob.count());
        }
      }
      changed.Next();
      for (int top = 0; top < num_tops; ++top) {
        const Blob<Dtype>& blob = *changed.tops()[top];
        EXPECT_EQ(expected[top], vector<Dtype>(blob.cpu_data(),
                                               blob.cpu_data() + blob.count()));
      }
      EXPECT_EQ(original.layer().SaveState(), changed.layer().SaveState());
    }
  }
}

// A small image whose pixels follow from its number.
inline cv::Mat NumberedImage(int number, int height, int width, int channels) {
  cv::Mat image(height, width, CV_8UC(channels));
  for (int h = 0; h < height; ++h) {
    for (int i = 0; i < width * channels; ++i) {
      image.ptr(h)[i] = static_cast<uint8_t>(number * 31 + h * 17 + i * 3);
    }
  }
  return image;
}

}  // namespace caffe

#endif  // CAFFE_SRC_TEST_DATA_LAYER_TEST_UTIL_HPP_
