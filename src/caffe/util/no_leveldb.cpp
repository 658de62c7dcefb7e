#include "util/db_backends.hpp"

namespace caffe::db {

DB* NewLevelDB() {
  Fail(
      "built without LevelDB: use an LMDB database (backend: LMDB) or "
      "configure "
      "with -DCAFFE_WITH_LEVELDB=ON");
}

}  // namespace caffe::db
