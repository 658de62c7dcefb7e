#include <algorithm>
#include <sstream>

#include "caffe/layer_factory.hpp"
#include "caffe/solver_factory.hpp"
#include "caffe/test/test_caffe_main.hpp"

// The types a prototxt may name. Built twice: with the library as it is, and
// with the same objects as an archive, from which the linker drops what nothing
// refers to unless it is told not to.

namespace caffe {

namespace {

// One a line, so that changes to different types do not meet.
constexpr const char* kLayers = R"(
AbsVal
Accuracy
ArgMax
BatchNorm
BatchReindex
Bias
BNLL
Clip
Concat
ContrastiveLoss
Convolution
Crop
Data
Deconvolution
Dropout
DummyData
Eltwise
ELU
Embed
EuclideanLoss
Exp
Filter
Flatten
HingeLoss
Im2col
ImageData
InfogainLoss
InnerProduct
Input
Log
LRN
LSTM
LSTMUnit
MemoryData
MultinomialLogisticLoss
MVN
Parameter
Pooling
Power
PReLU
Reduction
ReLU
Reshape
RNN
Scale
Sigmoid
SigmoidCrossEntropyLoss
Silence
Slice
Softmax
SoftmaxWithLoss
Split
SPP
Swish
TanH
Threshold
Tile
WindowData
)"
#ifdef USE_HDF5
                                "HDF5Data HDF5Output"
#endif
    ;

const char* const kSolvers[] = {"AdaDelta", "AdaGrad", "Adam",
                                "Nesterov", "RMSProp", "SGD"};

bool Has(const vector<string>& types, const string& type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

TEST(RegisteredTypesTest, HasTheLayers) {
  std::istringstream layers(kLayers);
  for (string type; layers >> type;) {
    EXPECT_TRUE(Has(LayerRegistry<float>::LayerTypeList(), type)) << type;
    EXPECT_TRUE(Has(LayerRegistry<double>::LayerTypeList(), type)) << type;
  }
}

TEST(RegisteredTypesTest, HasTheSolvers) {
  for (const char* const type : kSolvers) {
    EXPECT_TRUE(Has(SolverRegistry<float>::SolverTypeList(), type)) << type;
    EXPECT_TRUE(Has(SolverRegistry<double>::SolverTypeList(), type)) << type;
  }
}

}  // namespace

}  // namespace caffe
