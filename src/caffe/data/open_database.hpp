#ifndef CAFFE_SRC_DATA_OPEN_DATABASE_HPP_
#define CAFFE_SRC_DATA_OPEN_DATABASE_HPP_

#include <memory>
#include <string>

#include "caffe/util/db.hpp"

namespace caffe {

// Opens a database for reading. When its files tell that another backend than
// the given one ("lmdb" or "leveldb") made it, warns and takes that one:
// prototxts often leave `backend` out.
std::unique_ptr<db::DB> OpenDatabase(const std::string& source,
                                     const std::string& backend);

}  // namespace caffe

#endif  // CAFFE_SRC_DATA_OPEN_DATABASE_HPP_
