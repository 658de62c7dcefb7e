#ifndef CAFFE_TOOLS_CAFFE_COMMANDS_HPP_
#define CAFFE_TOOLS_CAFFE_COMMANDS_HPP_

#include <gflags/gflags.h>

#include <string>

#include "caffe/proto/caffe.pb.h"

// The commands of the program `caffe`. Flags are defined in caffe.cpp, where
// --help looks for them.

DECLARE_string(gpu);
DECLARE_string(solver);
DECLARE_string(model);
DECLARE_string(phase);
DECLARE_int32(level);
DECLARE_string(stage);
DECLARE_string(snapshot);
DECLARE_string(weights);
DECLARE_string(compression);
DECLARE_int32(iterations);
DECLARE_string(sigint_effect);
DECLARE_string(sighup_effect);
DECLARE_int32(threads);
DECLARE_string(dump_activations);
DECLARE_int32(dump_at);
DECLARE_int32(batch);
DECLARE_string(shape);
DECLARE_string(memory_budget);
DECLARE_double(ratio);
DECLARE_bool(measure);
DECLARE_string(run_dir);
DECLARE_bool(tensorboard);
DECLARE_string(output);

namespace caffe {

// Every command returns the exit code and throws Error for the user's mistakes.
int Train();
int Test();
int Time();
// time with --solver.
int TimeTraining();
int Memory();
int Report(const std::string& run_dir);
int DeviceQuery();

// What --phase says; `otherwise` when it says nothing.
Phase PhaseFromFlags(Phase otherwise);
// Does to the solver's settings what --compression says.
void ApplyCompressionFlag(SolverParameter* param);
// Throws Error unless --iterations is positive.
void CheckIterations();
// Chooses the GPU when --gpu, or the caller, asks for it, and the CPU if not.
void ChooseDevice(bool wants_gpu);

}  // namespace caffe

#endif  // CAFFE_TOOLS_CAFFE_COMMANDS_HPP_
