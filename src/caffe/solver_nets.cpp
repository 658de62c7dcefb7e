#include "caffe/solver.hpp"
#include "caffe/util/comma_list.hpp"
#include "caffe/util/upgrade_proto.hpp"
#include "naming.hpp"

namespace caffe {

namespace {

// A net's settings and what to call them in errors: their file or their field.
struct NetSource {
  NetParameter param;
  string name;
};

NetSource FromFile(const string& file) {
  NetSource source = {NetParameter(), file};
  ReadNetParamsFromTextFileOrDie(file, &source.param);
  return source;
}

NetSource TrainNetSource(const SolverParameter& param) {
  const int given = param.has_net() + param.has_net_param() +
                    param.has_train_net() + param.has_train_net_param();
  Require(given > 0,
          "the solver has no net to train; give one of net, net_param, "
          "train_net and train_net_param");
  Require(given == 1,
          "the solver has more than one net to train; give only one of net, "
          "net_param, train_net and train_net_param");
  if (param.has_train_net()) return FromFile(param.train_net());
  if (param.has_net()) return FromFile(param.net());
  if (param.has_net_param()) return {param.net_param(), "net_param"};
  return {param.train_net_param(), "train_net_param"};
}

// The nets of test_net_param, then those of test_net; test_iters beyond those
// are for tests of the net that is trained.
vector<NetSource> TestNetSources(const SolverParameter& param) {
  const bool has_generic_net = param.has_net() || param.has_net_param();
  const int own_nets = param.test_net_param_size() + param.test_net_size();
  const int tests = param.test_iter_size();
  Require(tests == own_nets || (has_generic_net && tests > own_nets),
          "the solver has ", tests, " test_iter(s) for ", own_nets,
          " test net(s); give one for each",
          has_generic_net ? ", and one more for every test of the trained net"
                          : "");
  Require(param.test_state_size() == 0 || param.test_state_size() == tests,
          "the solver has ", param.test_state_size(), " test_state(s) for ",
          tests, " test net(s); give none or one for each");
  Require(tests == 0 || param.test_interval() > 0,
          "the solver has a test net but no positive test_interval");
  vector<NetSource> sources;
  for (const NetParameter& net : param.test_net_param()) {
    sources.push_back({net, "test_net_param"});
  }
  for (const string& file : param.test_net()) sources.push_back(FromFile(file));
  while (static_cast<int>(sources.size()) < tests) {
    sources.push_back(param.has_net_param()
                          ? NetSource{param.net_param(), "net_param"}
                          : FromFile(param.net()));
  }
  return sources;
}

// Where phases, levels and stages are given in several places, the later
// argument goes before the earlier.
NetState StateOf(Phase phase, const NetState& net, const NetState& solver) {
  NetState state;
  state.set_phase(phase);
  state.MergeFrom(net);
  state.MergeFrom(solver);
  return state;
}

template <typename Dtype>
shared_ptr<Net<Dtype>> MakeNet(const NetSource& source, const NetState& state) {
  NetParameter param = source.param;
  *param.mutable_state() = state;
  return NamingFile(source.name,
                    [&] { return boost::make_shared<Net<Dtype>>(param); });
}

template <typename Dtype>
void LoadWeights(const SolverParameter& param, Net<Dtype>* net) {
  for (const string& list : param.weights()) {
    for (const string& file : SplitAtCommas(list)) {
      LOG(INFO) << "Finetuning from " << file;
      net->CopyTrainedLayersFrom(file);
    }
  }
}

}  // namespace

template <typename Dtype>
void Solver<Dtype>::InitTrainNet() {
  const NetSource source = TrainNetSource(param_);
  LOG_IF(INFO, Caffe::root_solver())
      << "Creating training net from " << source.name;
  net_ = MakeNet<Dtype>(
      source, StateOf(TRAIN, source.param.state(), param_.train_state()));
  LoadWeights(param_, net_.get());
}

template <typename Dtype>
void Solver<Dtype>::InitTestNets() {
  const vector<NetSource> sources = TestNetSources(param_);
  test_nets_.clear();
  for (size_t i = 0; i < sources.size(); ++i) {
    LOG_IF(INFO, Caffe::root_solver())
        << "Creating test net (#" << i << ") from " << sources[i].name;
    const NetState& state = param_.test_state_size() > 0
                                ? param_.test_state(static_cast<int>(i))
                                : NetState::default_instance();
    test_nets_.push_back(MakeNet<Dtype>(
        sources[i], StateOf(TEST, sources[i].param.state(), state)));
    test_nets_.back()->set_debug_info(param_.debug_info());
    LoadWeights(param_, test_nets_.back().get());
  }
}

template class Solver<float>;
template class Solver<double>;

}  // namespace caffe
