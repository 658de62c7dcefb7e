#ifndef CAFFE_UTIL_UPGRADE_PROTO_H_
#define CAFFE_UTIL_UPGRADE_PROTO_H_

#include <string>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"

// Brings nets and solvers in any of Caffe's older formats into today's. A net
// goes through these steps, each of which does nothing to a net that does not
// need it:
//
//   V0 layers            layers { layer { type: "conv" kernelsize: 5 } }
//   data transformation  layers { data_param { scale: 0.1 } }
//   V1 layers            layers { type: CONVOLUTION blobs_lr: 1 }
//   input fields         input: "data" input_dim: 1 ...
//   batch norm           learning rates for the three statistics
//
// Functions that return bool return whether all of the old net could be
// expressed; what could not is in the log. They throw Error where there is
// nothing sensible to make of the old net.

namespace caffe {

bool NetNeedsUpgrade(const NetParameter& net_param);
// Does all steps. Errors and log lines name `param_file`.
bool UpgradeNetAsNeeded(const string& param_file, NetParameter* param);

// Read a net and upgrade it; throw Error when the file is not a net.
void ReadNetParamsFromTextFileOrDie(const string& param_file,
                                    NetParameter* param);
void ReadNetParamsFromBinaryFileOrDie(const string& param_file,
                                      NetParameter* param);

bool NetNeedsV0ToV1Upgrade(const NetParameter& net_param);
bool UpgradeV0Net(const NetParameter& v0_net_param, NetParameter* net_param);
// Folds padding layers into the convolution or pooling that follows.
void UpgradeV0PaddingLayers(const NetParameter& param,
                            NetParameter* param_upgraded_pad);
bool UpgradeV0LayerParameter(const V1LayerParameter& v0_layer_connection,
                             V1LayerParameter* layer_param);
V1LayerParameter_LayerType UpgradeV0LayerType(const string& type);

bool NetNeedsDataUpgrade(const NetParameter& net_param);
void UpgradeNetDataTransformation(NetParameter* net_param);

bool NetNeedsV1ToV2Upgrade(const NetParameter& net_param);
bool UpgradeV1Net(const NetParameter& v1_net_param, NetParameter* net_param);
bool UpgradeV1LayerParameter(const V1LayerParameter& v1_layer_param,
                             LayerParameter* layer_param);
const char* UpgradeV1LayerType(const V1LayerParameter_LayerType type);

bool NetNeedsInputUpgrade(const NetParameter& net_param);
void UpgradeNetInput(NetParameter* net_param);

bool NetNeedsBatchNormUpgrade(const NetParameter& net_param);
void UpgradeNetBatchNorm(NetParameter* net_param);

// Whether the solver names its type by the old enum. Throws Error when it does
// so by the string as well.
bool SolverNeedsTypeUpgrade(const SolverParameter& solver_param);
bool UpgradeSolverType(SolverParameter* solver_param);
bool UpgradeSolverAsNeeded(const string& param_file, SolverParameter* param);

// Reads a solver and upgrades it; throws Error when the file is not a solver.
// Snapshots that have no prefix, or only a folder for one, are named after the
// file.
void ReadSolverParamsFromTextFileOrDie(const string& param_file,
                                       SolverParameter* param);

}  // namespace caffe

#endif  // CAFFE_UTIL_UPGRADE_PROTO_H_
