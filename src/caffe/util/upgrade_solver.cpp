#include <filesystem>

#include "caffe/util/io.hpp"
#include "caffe/util/upgrade_proto.hpp"

namespace caffe {

namespace {

namespace fs = std::filesystem;

const char* TypeName(SolverParameter::SolverType type) {
  switch (type) {
    case SolverParameter::SGD:
      return "SGD";
    case SolverParameter::NESTEROV:
      return "Nesterov";
    case SolverParameter::ADAGRAD:
      return "AdaGrad";
    case SolverParameter::RMSPROP:
      return "RMSProp";
    case SolverParameter::ADADELTA:
      return "AdaDelta";
    case SolverParameter::ADAM:
      return "Adam";
  }
  LOG(FATAL) << "Unknown SolverParameter solver_type " << type;
  return "";
}

void CompleteSnapshotPrefix(const string& param_file, SolverParameter* param) {
  const fs::path file(param_file);
  std::error_code ignored;
  if (!param->has_snapshot_prefix()) {
    param->set_snapshot_prefix(fs::path(file).replace_extension().string());
  } else if (fs::is_directory(param->snapshot_prefix(), ignored)) {
    param->set_snapshot_prefix(
        (fs::path(param->snapshot_prefix()) / file.stem()).string());
  } else {
    return;
  }
  LOG(INFO) << "Snapshots will be named " << param->snapshot_prefix()
            << "_iter_...";
}

}  // namespace

bool SolverNeedsTypeUpgrade(const SolverParameter& solver_param) {
  Require(!solver_param.has_solver_type() || !solver_param.has_type(),
          "both type and the old solver_type are given; keep type only");
  return solver_param.has_solver_type();
}

bool UpgradeSolverType(SolverParameter* solver_param) {
  if (!SolverNeedsTypeUpgrade(*solver_param)) return true;
  solver_param->set_type(TypeName(solver_param->solver_type()));
  solver_param->clear_solver_type();
  return true;
}

bool UpgradeSolverAsNeeded(const string& param_file,
                           SolverParameter* param) try {
  if (!SolverNeedsTypeUpgrade(*param)) return true;
  LOG(INFO) << "Upgrading solver_type of " << param_file;
  return UpgradeSolverType(param);
} catch (const Error& error) {
  Fail(param_file, ": ", error.what());
}

void ReadSolverParamsFromTextFileOrDie(const string& param_file,
                                       SolverParameter* param) {
  ReadProtoFromTextFileOrDie(param_file, param);
  UpgradeSolverAsNeeded(param_file, param);
  CompleteSnapshotPrefix(param_file, param);
}

}  // namespace caffe
