#include <algorithm>
#include <cstring>
#include <filesystem>

#include "caffe/solver.hpp"
#include "caffe/util/io.hpp"
#include "caffe/util/rng.hpp"
#include "compress/solver_compression.hpp"
#include "util/atomic_file.hpp"

namespace caffe {

namespace {

namespace fs = std::filesystem;

// Tells one set of weights from another; not meant to withstand anybody.
template <typename Dtype>
uint64_t HashWeights(const Net<Dtype>& net) {
  uint64_t hash = 0;
  const auto add = [&hash](uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32;
  };
  for (const Blob<Dtype>* blob : net.learnable_params()) {
    const auto* const bytes = reinterpret_cast<const char*>(blob->cpu_data());
    const size_t size = blob->count() * sizeof(Dtype);
    add(size);
    uint64_t word = 0;
    for (size_t at = 0; at < size; at += sizeof(word)) {
      word = 0;
      std::memcpy(&word, bytes + at, std::min(sizeof(word), size - at));
      add(word);
    }
  }
  return hash;
}

// Without exceptions for names that cannot be those of files.
bool Exists(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

// The model a state names, or, after a move, the one of that name beside it.
string FindModel(const string& state_file, const string& learned_net) {
  if (Exists(learned_net)) return learned_net;
  const fs::path beside =
      fs::path(state_file).replace_filename(fs::path(learned_net).filename());
  Require(Exists(beside), state_file, " names the model ", learned_net,
          ", which does not exist");
  return beside.string();
}

// Explains the one mix-up that everybody makes once.
void RequireNotAModel(const string& file) {
  const bool is_hdf5 = file.ends_with(".h5");
  const size_t end = file.size() - (is_hdf5 ? 3 : 0);
  const string suffix = ".caffemodel";
  if (!file.substr(0, end).ends_with(suffix)) return;
  const string state = file.substr(0, end - suffix.size()) + ".solverstate" +
                       (is_hdf5 ? ".h5" : "");
  Fail(file, " holds the weights of a net, not the state of a solver; to ",
       "resume give ", Exists(state) ? state : "a .solverstate file",
       ", or start from these weights with --weights (in a solver: weights)");
}

// Files of the form <prefix>_iter_<N>.solverstate[.h5], the largest N first.
vector<string> FindStates(const string& prefix) {
  const fs::path folder = fs::path(prefix).parent_path();
  const string start = fs::path(prefix).filename().string() + "_iter_";
  vector<pair<int64_t, string>> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(
           folder.empty() ? fs::path(".") : folder, ignored)) {
    const string name = entry.path().filename().string();
    if (!name.starts_with(start)) continue;
    const size_t end = name.find_first_not_of("0123456789", start.size());
    const size_t digits = std::min(end, name.size()) - start.size();
    const string rest = name.substr(start.size() + digits);
    if (rest != ".solverstate" && rest != ".solverstate.h5") continue;
    if (digits == 0 || digits > 10) continue;
    found.emplace_back(std::stoll(name.substr(start.size(), digits)),
                       (folder / name).string());
  }
  std::sort(found.rbegin(), found.rend());
  vector<string> files;
  files.reserve(found.size());
  for (const auto& [iter, file] : found) files.push_back(file);
  return files;
}

}  // namespace

template <typename Dtype>
string Solver<Dtype>::SnapshotFilename(const string& extension) {
  Require(!param_.snapshot_prefix().empty(),
          "a snapshot needs a name: the solver has no snapshot_prefix");
  return param_.snapshot_prefix() + "_iter_" + std::to_string(iter_) +
         extension;
}

template <typename Dtype>
void Solver<Dtype>::ProbeSnapshots() {
  // Makes a temporary file there and drops it.
  const AtomicFile probe(SnapshotFilename(".solverstate"));
}

template <typename Dtype>
void Solver<Dtype>::CheckSnapshotWritePermissions() {
  if (Caffe::root_solver() && param_.snapshot() > 0) ProbeSnapshots();
}

template <typename Dtype>
void Solver<Dtype>::Snapshot() {
  CHECK(Caffe::root_solver());
  // A snapshot takes memory, too.
  if (batches()) compression_->Trim();
  const bool is_binary =
      param_.snapshot_format() == SolverParameter::BINARYPROTO;
  // The state comes last: where there is a state there is its model.
  const string model = is_binary ? SnapshotToBinaryProto() : SnapshotToHDF5();
  SnapshotSolverState(model);
  TellObservers([&](SolverObserver* o) { o->OnSnapshot(iter_, model); });
}

template <typename Dtype>
string Solver<Dtype>::SnapshotToBinaryProto() {
  string filename = SnapshotFilename(".caffemodel");
  LOG(INFO) << "Snapshotting to binary proto file " << filename;
  NetParameter net_param;
  net_->ToProto(&net_param, param_.snapshot_diff());
  WriteProtoToBinaryFile(net_param, filename);
  return filename;
}

template <typename Dtype>
string Solver<Dtype>::SnapshotToHDF5() {
  string filename = SnapshotFilename(".caffemodel.h5");
  LOG(INFO) << "Snapshotting to HDF5 file " << filename;
  net_->ToHDF5(filename, param_.snapshot_diff());
  return filename;
}

template <typename Dtype>
ResumeState Solver<Dtype>::CurrentState() const {
  ResumeState state;
  state.set_rng(SaveRng(*caffe_rng()));
  for (const Dtype loss : losses_) state.add_loss(loss);
  state.set_smoothed_loss(smoothed_loss_);
  net_->SaveState(state.add_net());
  for (const auto& net : test_nets_) net->SaveState(state.add_net());
  if (compression_) {
    *state.mutable_compression() = compression_->SaveState();
    if (batches()) SavePace(state.mutable_compression()->mutable_batch());
  }
  return state;
}

template <typename Dtype>
ResumeState Solver<Dtype>::SaveResumeState() const {
  ResumeState state = before_tests_ ? *before_tests_ : CurrentState();
  state.set_weights_hash(HashWeights(*net_));
  return state;
}

template <typename Dtype>
void Solver<Dtype>::Restore(const char* resume_file) {
  const string file(resume_file);
  LOG(INFO) << "Restoring previous solver status from " << file;
  RequireNotAModel(file);
  before_tests_.reset();
  constexpr int64_t kUnknown = -1;
  updates_ = kUnknown;
  if (file.ends_with(".h5")) {
    RestoreSolverStateFromHDF5(file);
  } else {
    RestoreSolverStateFromBinaryProto(file);
  }
  // As in states of stock Caffe.
  if (updates_ == kUnknown) ResetPace();
}

template <typename Dtype>
bool Solver<Dtype>::RestoreNewest() {
  const vector<string> files = FindStates(param_.snapshot_prefix());
  string first_error;
  for (const string& file : files) {
    try {
      Restore(file.c_str());
      return true;
    } catch (const Error& error) {
      LOG(WARNING) << "Skipping a snapshot that cannot be used: "
                   << error.what();
      if (first_error.empty()) first_error = error.what();
    }
  }
  Require(files.empty(), "none of the ", files.size(), " snapshot(s) under ",
          param_.snapshot_prefix(), " can be used; the newest: ", first_error);
  return false;
}

template <typename Dtype>
void Solver<Dtype>::RestoreNets(const string& state_file,
                                const string& learned_net,
                                const std::optional<ResumeState>& resume) {
  const string model = FindModel(state_file, learned_net);
  net_->CopyTrainedLayersFrom(model);
  losses_restored_ = resume.has_value();
  if (!resume) return;
  Require(resume->weights_hash() == HashWeights(*net_), model,
          " does not give this net the weights that ", state_file,
          " was written with: it is damaged or from another run, or the net "
          "has changed; to start from it anyway, use --weights");
  losses_.assign(resume->loss().begin(), resume->loss().end());
  RestorePace(resume->compression().batch());
  smoothed_loss_ = static_cast<Dtype>(resume->smoothed_loss());
  if (compression_ && resume->has_compression()) {
    compression_->RestoreState(resume->compression());
  }
  // With other data, training goes on as well as it can.
  const size_t nets =
      std::min<size_t>(resume->net_size(), 1 + test_nets_.size());
  for (size_t i = 0; i < nets; ++i) {
    Net<Dtype>* const net = i == 0 ? net_.get() : test_nets_[i - 1].get();
    try {
      net->RestoreState(resume->net(static_cast<int>(i)));
    } catch (const Error& error) {
      LOG(WARNING) << "Cannot resume exactly, as the "
                   << (i == 0 ? "training" : "test")
                   << " data have changed: " << error.what();
    }
  }
  RestoreRng(resume->rng(), caffe_rng());
}

template class Solver<float>;
template class Solver<double>;

}  // namespace caffe
