#include "caffe/solver_factory.hpp"

#include "caffe/solver.hpp"

namespace caffe {

template <typename Dtype>
typename SolverRegistry<Dtype>::CreatorRegistry&
SolverRegistry<Dtype>::Registry() {
  // Never destroyed: solvers in other libraries may outlive this one's statics.
  static CreatorRegistry* const registry = new CreatorRegistry();
  return *registry;
}

template <typename Dtype>
void SolverRegistry<Dtype>::AddCreator(const string& type, Creator creator) {
  const bool is_new = Registry().emplace(type, creator).second;
  CHECK(is_new) << "Solver type " << type << " already registered.";
}

template <typename Dtype>
Solver<Dtype>* SolverRegistry<Dtype>::CreateSolver(
    const SolverParameter& param) {
  const auto found = Registry().find(param.type());
  Require(found != Registry().end(), "unknown solver type '", param.type(),
          "' (known types: ", SolverTypeListString(), ")");
  return found->second(param);
}

template <typename Dtype>
vector<string> SolverRegistry<Dtype>::SolverTypeList() {
  vector<string> types;
  for (const auto& entry : Registry()) types.push_back(entry.first);
  return types;
}

template <typename Dtype>
string SolverRegistry<Dtype>::SolverTypeListString() {
  string list;
  for (const string& type : SolverTypeList()) {
    if (!list.empty()) list += ", ";
    list += type;
  }
  return list;
}

template class SolverRegistry<float>;
template class SolverRegistry<double>;

}  // namespace caffe
