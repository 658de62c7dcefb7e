# The libraries Caffe links, all from the system, all as imported targets. The
# installed CaffeConfig.cmake includes this file as well.

find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(glog REQUIRED)
find_package(gflags REQUIRED)
find_package(Boost 1.74 REQUIRED)

# caffe_find_library(<target> <header> <library> [suffixes]) makes an imported
# target for a library that comes without a CMake package.
function(caffe_find_library target header library)
  if(TARGET ${target})
    return()
  endif()
  string(MAKE_C_IDENTIFIER ${target} id)
  find_path(${id}_INCLUDE_DIR ${header} PATH_SUFFIXES ${ARGN} REQUIRED)
  find_library(${id}_LIBRARY ${library} PATH_SUFFIXES ${ARGN} REQUIRED)
  mark_as_advanced(${id}_INCLUDE_DIR ${id}_LIBRARY)
  add_library(${target} UNKNOWN IMPORTED)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION ${${id}_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${${id}_INCLUDE_DIR})
endfunction()

# Only three modules of OpenCV, whose own CMake package wants all of them.
foreach(module core imgproc imgcodecs)
  caffe_find_library(Caffe::opencv_${module} opencv2/${module}.hpp
                     opencv_${module} opencv4)
endforeach()
caffe_find_library(Caffe::lmdb lmdb.h lmdb)
# Its CMake package wants OpenCL, which nothing here uses.
caffe_find_library(Caffe::dnnl dnnl.hpp dnnl)
caffe_find_library(Caffe::hwy hwy/highway.h hwy)
caffe_find_library(Caffe::zstd zstd.h zstd)
# The OpenMP build, so that one thread setting rules BLAS, oneDNN and us.
caffe_find_library(Caffe::openblas cblas.h openblas openblas-openmp openblas)

if(CAFFE_WITH_LEVELDB)
  caffe_find_library(Caffe::leveldb leveldb/db.h leveldb)
endif()
if(CAFFE_WITH_HDF5)
  # FindHDF5 asks a C compiler unless told where to look.
  caffe_find_library(Caffe::hdf5 hdf5.h hdf5_serial hdf5/serial)
  caffe_find_library(Caffe::hdf5_hl hdf5_hl.h hdf5_serial_hl hdf5/serial)
endif()
