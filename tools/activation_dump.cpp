#include "activation_dump.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "caffe/error.hpp"
#include "codec_measures.hpp"
#include "tensor_file.hpp"

namespace caffe {

namespace {

// Layers whose backward pass reads their inputs' values, or needs to know which
// of them it was.
constexpr std::string_view kTypes[] = {
    "BatchNorm", "Convolution", "Deconvolution", "InnerProduct",
    "LRN",       "Pooling",     "Scale"};

// Axes beyond what codecs take are joined with the last they do.
codec::Shape ShapeOf(const Blob<float>& blob) {
  vector<int64_t> extents(blob.shape().begin(), blob.shape().end());
  constexpr int kMaxAxes = codec::Shape::kMaxAxes;
  if (blob.num_axes() > kMaxAxes) {
    extents.resize(kMaxAxes);
    extents.back() = blob.count(kMaxAxes - 1);
  }
  return codec::Shape(extents);
}

Tensor TensorOf(const Blob<float>& blob) {
  Tensor tensor(ShapeOf(blob), codec::DataType::kFloat32);
  std::copy_n(blob.cpu_data(), blob.count(),
              tensor.MutableValues<float>().begin());
  return tensor;
}

size_t HashOf(const Tensor& tensor) {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(tensor.data()), tensor.bytes()});
}

// Of the finite values.
double Mean(const Tensor& tensor) {
  double sum = 0, count = 0;
  for (const float value : tensor.Values<float>()) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

double ZeroFraction(const Tensor& tensor) {
  const auto values = tensor.Values<float>();
  if (values.empty()) return 0;
  return static_cast<double>(std::count(values.begin(), values.end(), 0.F)) /
         static_cast<double>(values.size());
}

// A field of a CSV file; names may have anything in them.
string Quoted(const string& text) {
  string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? string("\"\"") : string(1, c);
  return quoted + '"';
}

// What every file system and shell takes as part of a file's name.
string SafeName(string name) {
  constexpr size_t kLongest = 200;
  constexpr std::string_view kAlsoSafe = "_.-";
  for (char& c : name) {
    const bool is_safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') ||
                         kAlsoSafe.find(c) != std::string_view::npos;
    if (!is_safe) c = '_';
  }
  if (name.front() == '.' || name.front() == '-') name.front() = '_';
  return name.substr(0, kLongest);
}

}  // namespace

ActivationDump::ActivationDump(Solver<float>* solver, const string& folder,
                               int iteration)
    : solver_(solver), folder_(folder), iteration_(iteration) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  Require(!error, "--dump_activations: cannot make the folder ", folder, ": ",
          error.message());
  Require(access(folder.c_str(), W_OK | X_OK) == 0,
          "--dump_activations: cannot write to ", folder, ": ",
          std::strerror(errno));
  solver->add_callback(this);
  solver->net()->add_before_forward(this);
}

void ActivationDump::on_start() {
  if (solver_->iter() == iteration_ && !is_done_) Begin();
}

void ActivationDump::Begin() {
  is_due_ = true;
  // Of an earlier dump.
  std::filesystem::remove(std::filesystem::path(folder_) / "index.csv");
  index_ = "file,layer,type,blob,shape,mean,std,zero_fraction\n";
}

void ActivationDump::run(int layer) {
  if (!is_due_) return;
  const Net<float>& net = *solver_->net();
  if (std::ranges::count(kTypes, net.layers()[layer]->type()) > 0) {
    for (size_t i = 0; i < net.bottom_vecs()[layer].size(); ++i) {
      Dump(layer, static_cast<int>(i));
    }
  }
  // With iter_size, more passes follow; the first is enough.
  if (layer + 1 == static_cast<int>(net.layers().size())) Finish();
}

void ActivationDump::Dump(int layer, int bottom) {
  const Net<float>& net = *solver_->net();
  const Blob<float>& blob = *net.bottom_vecs()[layer][bottom];
  const Tensor tensor = TensorOf(blob);
  const size_t hash = HashOf(tensor);
  const auto [written, is_new] = written_.try_emplace(blob.data().get(), hash);
  if (!is_new && written->second == hash) return;
  written->second = hash;

  const string& layer_name = net.layer_names()[layer];
  const string& blob_name = net.blob_names()[net.bottom_ids(layer)[bottom]];
  const string file = FileFor(layer_name, blob_name);
  WriteTensor(tensor, (std::filesystem::path(folder_) / file).string());
  index_ += Concat(file, ',', Quoted(layer_name), ',',
                   net.layers()[layer]->type(), ',', Quoted(blob_name), ',',
                   ShapeText(tensor.shape()), ',', Mean(tensor), ',',
                   StandardDeviation(tensor), ',', ZeroFraction(tensor), '\n');
}

string ActivationDump::FileFor(const string& layer, const string& blob) {
  const string name = SafeName(layer + '.' + blob);
  string file = name + ".npy";
  for (int i = 2; !files_.insert(file).second; ++i) {
    file = Concat(name, '_', i, ".npy");
  }
  return file;
}

void ActivationDump::Finish() {
  is_due_ = false;
  is_done_ = true;
  WriteBytes({reinterpret_cast<const uint8_t*>(index_.data()), index_.size()},
             (std::filesystem::path(folder_) / "index.csv").string());
  LOG(INFO) << "Iteration " << iteration_ << ": wrote " << files_.size()
            << " tensors that layers read to " << folder_;
}

}  // namespace caffe
