#ifndef CAFFE_MEMORY_LEDGER_WATCHER_HPP_
#define CAFFE_MEMORY_LEDGER_WATCHER_HPP_

#include "caffe/memory/ledger.hpp"

namespace caffe::memory {

// Is told of every change of the ledger.
class LedgerWatcher {
 public:
  virtual ~LedgerWatcher() = default;
  // Bytes of every kind after the change. Comes from any thread, one at a time,
  // while the ledger is locked: it must not add buffers to it.
  virtual void OnChange(const Sums& live) = 0;
};

// Sets who is told, or nobody (null). When it returns, the one before is not
// told any more.
void SetLedgerWatcher(LedgerWatcher* watcher);

}  // namespace caffe::memory

#endif  // CAFFE_MEMORY_LEDGER_WATCHER_HPP_
