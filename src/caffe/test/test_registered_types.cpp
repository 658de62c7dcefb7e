#include <algorithm>
#include <fstream>
#include <sstream>

#include "caffe/layer_factory.hpp"
#include "caffe/solver_factory.hpp"
#include "caffe/test/test_caffe_main.hpp"

// The types a prototxt may name: those of data/caffe_registered_types.txt, and
// no others. Built twice: with the library as it is, and with the same objects
// as an archive, from which the linker drops what nothing refers to unless it
// is told not to.

namespace caffe {

namespace {

#ifdef USE_HDF5
constexpr bool kHasHdf5 = true;
#else
constexpr bool kHasHdf5 = false;
#endif

// Those of a kind ("layer", "solver") in the table, sorted.
vector<string> Expected(const string& wanted) {
  vector<string> types;
  std::ifstream table(TEST_DATA_DIR "/caffe_registered_types.txt");
  for (string line; std::getline(table, line);) {
    std::istringstream words(line);
    string kind;
    string type;
    words >> kind >> type;
    if (kind != wanted || (type.starts_with("HDF5") && !kHasHdf5)) continue;
    types.push_back(type);
  }
  std::sort(types.begin(), types.end());
  return types;
}

vector<string> Sorted(vector<string> types) {
  std::sort(types.begin(), types.end());
  return types;
}

TEST(RegisteredTypesTest, HasTheLayers) {
  const vector<string> expected = Expected("layer");
  EXPECT_EQ(kHasHdf5 ? 60 : 58, expected.size());
  EXPECT_EQ(expected, Sorted(LayerRegistry<float>::LayerTypeList()));
  EXPECT_EQ(expected, Sorted(LayerRegistry<double>::LayerTypeList()));
}

TEST(RegisteredTypesTest, HasTheSolvers) {
  const vector<string> expected = Expected("solver");
  EXPECT_EQ(6, expected.size());
  EXPECT_EQ(expected, Sorted(SolverRegistry<float>::SolverTypeList()));
  EXPECT_EQ(expected, Sorted(SolverRegistry<double>::SolverTypeList()));
}

}  // namespace

}  // namespace caffe
