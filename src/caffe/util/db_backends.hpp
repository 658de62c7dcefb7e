#ifndef CAFFE_SRC_UTIL_DB_BACKENDS_HPP_
#define CAFFE_SRC_UTIL_DB_BACKENDS_HPP_

#include "caffe/util/db.hpp"

namespace caffe::db {

// A new object of each kind of database. A build without one of them links a
// version of its function that throws Error.
DB* NewLMDB();
DB* NewLevelDB();

}  // namespace caffe::db

#endif  // CAFFE_SRC_UTIL_DB_BACKENDS_HPP_
