// The helpers that a user of Caffe 1.0 calls in their own sources, by Caffe's
// signatures and with its meanings.

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "boost/scoped_ptr.hpp"
#include "gtest/gtest.h"

#include "caffe/blob.hpp"
#include "caffe/common.hpp"
#include "caffe/data_transformer.hpp"
#include "caffe/filler.hpp"
#include "caffe/internal_thread.hpp"
#include "caffe/proto/caffe.pb.h"
#include "caffe/syncedmem.hpp"
#include "caffe/test/test_caffe_main.hpp"
#include "caffe/util/benchmark.hpp"
#include "caffe/util/blocking_queue.hpp"
#include "caffe/util/db.hpp"
#include "caffe/util/format.hpp"
#include "caffe/util/hdf5.hpp"
#include "caffe/util/im2col.hpp"
#include "caffe/util/io.hpp"
#include "caffe/util/math_functions.hpp"
#include "caffe/util/rng.hpp"

namespace caffe {

using boost::scoped_ptr;

template <typename Dtype>
class CaffeStyleMathTest : public CPUDeviceTest<Dtype> {
 protected:
  CaffeStyleMathTest() { Caffe::set_random_seed(1701); }

  // Mean and standard deviation.
  static void Moments(const vector<Dtype>& x, double* mean, double* deviation) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      sum += x[i];
    }
    *mean = sum / x.size();
    for (size_t i = 0; i < x.size(); ++i) {
      squares += (x[i] - *mean) * (x[i] - *mean);
    }
    *deviation = std::sqrt(squares / x.size());
  }
};

TYPED_TEST_CASE(CaffeStyleMathTest, TestDtypes);

// The same product of a 2 x 3 and a 3 x 4 matrix, however they are stored.
TYPED_TEST(CaffeStyleMathTest, TestGemm) {
  const TypeParam a[] = {1, 2, 3, 4, 5, 6};
  const TypeParam a_transposed[] = {1, 4, 2, 5, 3, 6};
  const TypeParam b[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const TypeParam b_transposed[] = {1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12};
  const TypeParam product[] = {38, 44, 50, 56, 83, 98, 113, 128};
  for (int i = 0; i < 4; ++i) {
    TypeParam c[] = {1, 1, 1, 1, 1, 1, 1, 1};
    caffe_cpu_gemm<TypeParam>(
        i % 2 ? CblasTrans : CblasNoTrans, i / 2 ? CblasTrans : CblasNoTrans, 2,
        4, 3, 2., i % 2 ? a_transposed : a, i / 2 ? b_transposed : b, 10., c);
    for (int k = 0; k < 8; ++k) {
      EXPECT_EQ(c[k], 2 * product[k] + 10);
    }
  }
}

TYPED_TEST(CaffeStyleMathTest, TestGemv) {
  const TypeParam a[] = {1, 2, 3, 4, 5, 6};
  const TypeParam x[] = {1, -1, 2};
  TypeParam y[] = {100, 100, 100};
  caffe_cpu_gemv<TypeParam>(CblasNoTrans, 2, 3, 1., a, x, 0., y);
  EXPECT_EQ(y[0], 5);
  EXPECT_EQ(y[1], 11);
  EXPECT_EQ(y[2], 100);
  caffe_cpu_gemv<TypeParam>(CblasTrans, 2, 3, 1., a, x, 1., y);
  EXPECT_EQ(y[0], 5 + 1 - 4);
  EXPECT_EQ(y[1], 11 + 2 - 5);
  EXPECT_EQ(y[2], 100 + 3 - 6);
}

TYPED_TEST(CaffeStyleMathTest, TestVectors) {
  const TypeParam a[] = {-2, 0, 0.5, 3};
  const TypeParam b[] = {4, 1, 2, -1};
  TypeParam y[4];
  caffe_add(4, a, b, y);
  EXPECT_EQ(y[3], 2);
  caffe_sub(4, a, b, y);
  EXPECT_EQ(y[3], 4);
  caffe_mul(4, a, b, y);
  EXPECT_EQ(y[0], -8);
  caffe_div(4, a, b, y);
  EXPECT_EQ(y[0], -0.5);
  caffe_abs(4, a, y);
  EXPECT_EQ(y[0], 2);
  caffe_exp(4, a, y);
  EXPECT_NEAR(y[3], std::exp(3.), 1e-4);
  caffe_log(4, b, y);
  EXPECT_NEAR(y[0], std::log(4.), 1e-6);
  caffe_sqrt(1, b, y);
  EXPECT_EQ(y[0], 2);
  caffe_cpu_sign<TypeParam>(4, a, y);
  EXPECT_EQ(y[0], -1);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[3], 1);
  caffe_cpu_sgnbit<TypeParam>(4, a, y);
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[3], 0);
  caffe_cpu_fabs<TypeParam>(4, a, y);
  EXPECT_EQ(y[0], 2);
  caffe_copy(4, a, y);
  caffe_axpy<TypeParam>(4, 2., b, y);
  EXPECT_EQ(y[0], 6);
  caffe_cpu_axpby<TypeParam>(4, 1., a, 0.5, y);
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(caffe_cpu_dot(4, a, b), -8 + 0 + 1 - 3);
  EXPECT_EQ(caffe_cpu_strided_dot(2, a, 2, b, 1), -8 + 0.5);
  EXPECT_EQ(caffe_cpu_asum(4, a), 5.5);
  EXPECT_GT(caffe_nextafter(TypeParam(1)), TypeParam(1));
  EXPECT_EQ(static_cast<int>(caffe_sign(TypeParam(-3))), -1);
}

TYPED_TEST(CaffeStyleMathTest, TestRandomNumbers) {
  const int n = 10000;
  vector<TypeParam> x(n);
  double mean, deviation;
  caffe_rng_gaussian<TypeParam>(n, 2., 3., &x[0]);
  this->Moments(x, &mean, &deviation);
  EXPECT_NEAR(mean, 2, 5 * 3 / std::sqrt(n));
  EXPECT_NEAR(deviation, 3, 0.15);
  caffe_rng_uniform<TypeParam>(n, -1., 5., &x[0]);
  this->Moments(x, &mean, &deviation);
  EXPECT_NEAR(mean, 2, 0.1);
  EXPECT_NEAR(deviation, 6 / std::sqrt(12.), 0.1);
  for (int i = 0; i < n; ++i) {
    EXPECT_GE(x[i], -1);
    EXPECT_LE(x[i], 5);
  }
  vector<int> coins(n);
  caffe_rng_bernoulli<TypeParam>(n, 0.3, &coins[0]);
  int heads = 0;
  for (int i = 0; i < n; ++i) {
    heads += coins[i];
  }
  EXPECT_NEAR(heads, 3000, 250);
  // A seed is a sequence.
  Caffe::set_random_seed(5);
  const unsigned int first = caffe_rng_rand();
  Caffe::set_random_seed(5);
  EXPECT_EQ(first, caffe_rng_rand());
  vector<int> order(100);
  for (int i = 0; i < 100; ++i) {
    order[i] = i;
  }
  const vector<int> sorted = order;
  shuffle(order.begin(), order.end());
  EXPECT_NE(order, sorted);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, sorted);
}

TYPED_TEST(CaffeStyleMathTest, TestIm2col) {
  // A 3 x 3 image of one channel, windows of 2 x 2.
  TypeParam image[9];
  for (int i = 0; i < 9; ++i) {
    image[i] = i;
  }
  vector<TypeParam> columns(4 * 4);
  im2col_cpu(image, 1, 3, 3, 2, 2, 0, 0, 1, 1, 1, 1, &columns[0]);
  const TypeParam upper_left[] = {0, 1, 3, 4};
  const TypeParam lower_right[] = {4, 5, 7, 8};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(columns[i], upper_left[i]);
    EXPECT_EQ(columns[12 + i], lower_right[i]);
  }
  TypeParam counts[9];
  std::fill(columns.begin(), columns.end(), 1);
  col2im_cpu(&columns[0], 1, 3, 3, 2, 2, 0, 0, 1, 1, 1, 1, counts);
  EXPECT_EQ(counts[0], 1);
  EXPECT_EQ(counts[1], 2);
  EXPECT_EQ(counts[4], 4);
}

TYPED_TEST(CaffeStyleMathTest, TestBlobsAndFillers) {
  Blob<TypeParam> blob(2, 3, 4, 5);
  EXPECT_EQ(blob.shape_string(), "2 3 4 5 (120)");
  EXPECT_EQ(blob.offset(1, 2, 3, 4), 119);
  EXPECT_EQ(blob.count(1, 3), 12);
  EXPECT_EQ(blob.CanonicalAxisIndex(-1), 3);
  FillerParameter param;
  param.set_type("xavier");
  scoped_ptr<Filler<TypeParam> > filler(GetFiller<TypeParam>(param));
  filler->Fill(&blob);
  // Uniform within sqrt(3 / fan in).
  const TypeParam limit = std::sqrt(3. / 60);
  for (int i = 0; i < blob.count(); ++i) {
    EXPECT_LE(std::abs(blob.cpu_data()[i]), limit);
  }
  EXPECT_GT(blob.sumsq_data(), 0.5);
  EXPECT_EQ(blob.data()->head(), SyncedMemory::HEAD_AT_CPU);
  EXPECT_EQ(blob.data()->size(), 120 * sizeof(TypeParam));
  BlobProto proto;
  blob.ToProto(&proto);
  Blob<TypeParam> copy;
  copy.FromProto(proto);
  EXPECT_TRUE(copy.ShapeEquals(proto));
  EXPECT_EQ(copy.asum_data(), blob.asum_data());
  copy.scale_data(2);
  EXPECT_NEAR(copy.asum_data(), 2 * blob.asum_data(), 1e-4);
  copy.ShareData(blob);
  EXPECT_EQ(copy.cpu_data(), blob.cpu_data());
}

TYPED_TEST(CaffeStyleMathTest, TestTransformer) {
  Datum datum;
  datum.set_channels(2);
  datum.set_height(4);
  datum.set_width(4);
  for (int i = 0; i < 32; ++i) {
    datum.mutable_data()->push_back(i);
  }
  TransformationParameter param;
  param.set_crop_size(2);
  param.set_scale(0.5);
  param.add_mean_value(1);
  param.add_mean_value(2);
  DataTransformer<TypeParam> transformer(param, TEST);
  transformer.InitRand();
  Blob<TypeParam> blob(transformer.InferBlobShape(datum));
  EXPECT_EQ(blob.shape_string(), "1 2 2 2 (8)");
  transformer.Transform(datum, &blob);
  EXPECT_EQ(blob.data_at(0, 0, 0, 0), (5 - 1) * 0.5);
  EXPECT_EQ(blob.data_at(0, 1, 1, 1), (26 - 2) * 0.5);
}

#ifdef USE_HDF5
TYPED_TEST(CaffeStyleMathTest, TestHDF5) {
  string filename;
  MakeTempFilename(&filename);
  Blob<TypeParam> blob(1, 2, 3, 4);
  caffe_rng_gaussian<TypeParam>(24, 0., 1., blob.mutable_cpu_data());
  hid_t file_id =
      H5Fcreate(filename.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(file_id, 0);
  hdf5_save_nd_dataset(file_id, "values", blob);
  hdf5_save_int(file_id, "answer", 42);
  hdf5_save_string(file_id, "name", "caffe");
  H5Fclose(file_id);
  file_id = H5Fopen(filename.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  Blob<TypeParam> loaded;
  hdf5_load_nd_dataset(file_id, "values", 1, 4, &loaded, true);
  EXPECT_EQ(loaded.shape(), blob.shape());
  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(loaded.cpu_data()[i], blob.cpu_data()[i]);
  }
  EXPECT_EQ(hdf5_load_int(file_id, "answer"), 42);
  EXPECT_EQ(hdf5_load_string(file_id, "name"), "caffe");
  EXPECT_EQ(hdf5_get_num_links(file_id), 3);
  EXPECT_EQ(hdf5_get_name_by_idx(file_id, 0), "answer");
  H5Fclose(file_id);
  std::remove(filename.c_str());
}
#endif

TEST(CaffeStyleUtilTest, TestProtosInFiles) {
  string filename;
  MakeTempFilename(&filename);
  NetParameter net, loaded;
  net.set_name("a net");
  net.add_layer()->set_type("ReLU");
  WriteProtoToTextFile(net, filename);
  ASSERT_TRUE(ReadProtoFromTextFile(filename, &loaded));
  EXPECT_EQ(loaded.DebugString(), net.DebugString());
  WriteProtoToBinaryFile(net, filename.c_str());
  ReadProtoFromBinaryFileOrDie(filename, &loaded);
  EXPECT_EQ(loaded.layer(0).type(), "ReLU");
  Datum datum;
  ASSERT_TRUE(ReadFileToDatum(filename, 3, &datum));
  EXPECT_EQ(datum.label(), 3);
  EXPECT_EQ(datum.data(), net.SerializeAsString());
  std::remove(filename.c_str());
  EXPECT_FALSE(ReadProtoFromTextFile(filename, &loaded));
}

TEST(CaffeStyleUtilTest, TestDatabase) {
  string folder;
  MakeTempDir(&folder);
  const string source = folder + "/db";
  {
    scoped_ptr<db::DB> db(db::GetDB("lmdb"));
    db->Open(source, db::NEW);
    scoped_ptr<db::Transaction> txn(db->NewTransaction());
    for (int i = 0; i < 3; ++i) {
      txn->Put(format_int(i, 5), string(i + 1, 'x'));
    }
    txn->Commit();
  }
  scoped_ptr<db::DB> db(db::GetDB(DataParameter_DB_LMDB));
  db->Open(source, db::READ);
  scoped_ptr<db::Cursor> cursor(db->NewCursor());
  int records = 0;
  for (; cursor->valid(); cursor->Next()) {
    EXPECT_EQ(cursor->key(), format_int(records, 5));
    EXPECT_EQ(cursor->value(), string(++records, 'x'));
  }
  EXPECT_EQ(records, 3);
  cursor->SeekToFirst();
  EXPECT_EQ(cursor->key(), "00000");
  std::filesystem::remove_all(folder);
}

// Doubles what it finds in one queue into another.
class Doubler : public InternalThread {
 public:
  virtual ~Doubler() { StopInternalThread(); }
  BlockingQueue<int> in_, out_;

 protected:
  virtual void InternalThreadEntry() {
    while (!must_stop()) {
      out_.push(2 * in_.pop());
    }
  }
};

TEST(CaffeStyleUtilTest, TestQueuesBetweenThreads) {
  Doubler doubler;
  EXPECT_FALSE(doubler.is_started());
  doubler.StartInternalThread();
  for (int i = 0; i < 100; ++i) {
    doubler.in_.push(i);
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(doubler.out_.peek(), 2 * i);
    EXPECT_EQ(doubler.out_.pop("waiting"), 2 * i);
  }
  int nothing;
  EXPECT_FALSE(doubler.out_.try_pop(&nothing));
  EXPECT_EQ(doubler.out_.size(), 0);
  doubler.StopInternalThread();
  EXPECT_FALSE(doubler.is_started());
}

TEST(CaffeStyleUtilTest, TestTimer) {
  Timer timer;
  EXPECT_TRUE(timer.initted());
  EXPECT_FALSE(timer.has_run_at_least_once());
  timer.Start();
  EXPECT_TRUE(timer.running());
  usleep(20 * 1000);
  EXPECT_GE(timer.MilliSeconds(), 19);
  EXPECT_FALSE(timer.running());
  EXPECT_GE(timer.MicroSeconds(), 19000);
  EXPECT_GE(timer.Seconds(), 0.019);
  CPUTimer cpu_timer;
  cpu_timer.Start();
  cpu_timer.Stop();
  EXPECT_GE(cpu_timer.MicroSeconds(), 0);
}

TEST(CaffeStyleUtilTest, TestSyncedMemory) {
  SyncedMemory memory(10 * sizeof(int));
  EXPECT_EQ(memory.head(), SyncedMemory::UNINITIALIZED);
  caffe_memset(memory.size(), 1, memory.mutable_cpu_data());
  EXPECT_EQ(memory.head(), SyncedMemory::HEAD_AT_CPU);
  EXPECT_EQ(static_cast<const char*>(memory.cpu_data())[39], 1);
  void* host = NULL;
  bool use_cuda = true;
  CaffeMallocHost(&host, 100, &use_cuda);
  EXPECT_FALSE(use_cuda);
  CaffeFreeHost(host, use_cuda);
}

}  // namespace caffe
