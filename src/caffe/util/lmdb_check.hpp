#ifndef CAFFE_SRC_UTIL_LMDB_CHECK_HPP_
#define CAFFE_SRC_UTIL_LMDB_CHECK_HPP_

#include <cstdint>
#include <string>

namespace caffe::db {

// LMDB maps its file into memory and trusts what it finds: a file that was cut
// short or overwritten would end the process with a signal. These functions
// look at the structure first (not at the records' contents), and throw Error,
// which names `path`, when something does not fit. `file` is data.mdb.

// What LMDB needs to open the file.
void CheckLmdbMeta(const std::string& path, int file);

// What it needs to read the records. `transaction_id` is that of an open
// reading transaction, which keeps writers from changing the pages meanwhile.
void CheckLmdbTrees(const std::string& path, int file, uint64_t transaction_id);

}  // namespace caffe::db

#endif  // CAFFE_SRC_UTIL_LMDB_CHECK_HPP_
