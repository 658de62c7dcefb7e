#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "caffe/net.hpp"
#include "caffe/test/test_caffe_main.hpp"

// Weights that stock Caffe trained and wrote, on the data it tests them with.

namespace caffe {

static const string kData = PROJECT_DIR "/../shared/data";
static const string kWeights =
    kData + "/caffemodels/lenet_iter_10000.caffemodel";
static const string kImages = kData + "/mnist/t10k-images-idx3-ubyte.gz";
static const string kLabels = kData + "/mnist/t10k-labels-idx1-ubyte.gz";

// The values of a gzipped idx file of bytes, without its header of one number
// for the type and one for each axis.
static vector<uint8_t> ReadIdx(const string& filename, int num_axes) {
  FILE* const file = popen(("gzip -dc '" + filename + "'").c_str(), "r");
  CHECK(file) << "cannot start gzip";
  vector<uint8_t> bytes;
  vector<uint8_t> piece(1 << 20);
  while (const size_t n = fread(piece.data(), 1, piece.size(), file)) {
    bytes.insert(bytes.end(), piece.begin(), piece.begin() + n);
  }
  CHECK_EQ(0, pclose(file)) << filename;
  bytes.erase(bytes.begin(), bytes.begin() + 4 * (1 + num_axes));
  return bytes;
}

TEST(NetLeNetTest, ScoresAsItDoesInCaffe) {
  for (const string& file : {kWeights, kImages, kLabels}) {
    if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  }
  const vector<uint8_t> pixels = ReadIdx(kImages, 3);
  const vector<uint8_t> labels = ReadIdx(kLabels, 1);
  ASSERT_EQ(10000u, labels.size());
  ASSERT_EQ(labels.size() * 28 * 28, pixels.size());

  Net<float> net(PROJECT_DIR "/examples/mnist/lenet.prototxt", TEST);
  net.CopyTrainedLayersFrom(kWeights);
  const int batch = 100;
  Blob<float>* const data = net.input_blobs()[0];
  data->Reshape({batch, 1, 28, 28});
  int correct = 0;
  for (size_t first = 0; first < labels.size(); first += batch) {
    const uint8_t* const images = pixels.data() + first * 28 * 28;
    std::transform(images, images + data->count(), data->mutable_cpu_data(),
                   [](uint8_t pixel) { return pixel / 256.F; });
    const float* const scores = net.Forward()[0]->cpu_data();
    for (int i = 0; i < batch; ++i) {
      const float* const of_image = scores + 10 * i;
      const auto best = std::max_element(of_image, of_image + 10) - of_image;
      correct += best == labels[first + i];
    }
  }
  EXPECT_EQ(9914, correct);
}

}  // namespace caffe
