#ifndef CAFFE_TOOLS_ACTIVATION_DUMP_HPP_
#define CAFFE_TOOLS_ACTIVATION_DUMP_HPP_

#include <map>
#include <set>
#include <string>

#include "caffe/solver.hpp"

namespace caffe {

// Writes, in one iteration of training, what layers read and their backward
// pass would need again: tensors to try codecs on. Each is taken right before
// the layer's Forward, because layers in place overwrite it later, and goes to
// a file LAYER.BLOB.npy. What several layers read unchanged is written once.
// index.csv, which tells what is in the files, comes last: a folder that has it
// has all of them.
//
// Watches a solver that must not train any more once this object is gone.
class ActivationDump : public Solver<float>::Callback,
                       public Net<float>::Callback {
 public:
  // Makes the folder. Throws Error when that is not possible or nothing can be
  // written there.
  ActivationDump(Solver<float>* solver, const string& folder, int iteration);

  // Whether the iteration has come.
  bool is_done() const { return is_done_; }

 protected:
  void on_start() override;
  void on_gradients_ready() override {}
  void run(int layer) override;

 private:
  void Begin();
  void Dump(int layer, int bottom);
  void Finish();
  // A name for the file that is safe and that no other has.
  string FileFor(const string& layer, const string& blob);

  Solver<float>* const solver_;
  const string folder_;
  const int iteration_;
  bool is_due_ = false;
  bool is_done_ = false;
  // A hash of the values that each memory had when they were written.
  std::map<const SyncedMemory*, size_t> written_;
  std::set<string> files_;
  string index_;
};

}  // namespace caffe

#endif  // CAFFE_TOOLS_ACTIVATION_DUMP_HPP_
