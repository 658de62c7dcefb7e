#!/usr/bin/env bash
# makefile_config.sh gives the right options and warnings.
set -euo pipefail
. "$(dirname "$0")/../common.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
config=$scratch/Makefile.config

# expect WHAT WANTED compares the last run's options or warnings, sorted.
expect() {
  diff -u <(sort <<< "$2") <(sort "$scratch/$1") || die "wrong $1 for: $case"
}

# convert CASE reads a Makefile.config from standard input.
convert() {
  case=$1
  cat > "$config"
  "$project_dir/scripts/makefile_config.sh" "$config" \
    > "$scratch/options" 2> "$scratch/warnings.full"
  sed 's/^makefile_config.sh: //' "$scratch/warnings.full" > "$scratch/warnings"
}

convert "the example as it is" < "$project_dir/Makefile.config.example"
expect options "-Bbuild
-DCMAKE_BUILD_TYPE=Release"
[ ! -s "$scratch/warnings" ] || die "the example gives warnings"

convert "every knob that becomes an option" << CONFIG
CPU_ONLY := 1
USE_LEVELDB := 0
USE_HDF5 := \$(shell echo 0)
CUSTOM_CXX := g++-12
BLAS := open
BLAS_INCLUDE := $scratch
INCLUDE_DIRS := \$(BLAS_INCLUDE) /usr/include /no/such/folder
LIBRARY_DIRS := /usr/lib $scratch
BUILD_DIR := build_make
DISTRIBUTE_DIR = $scratch/\$(BUILD_DIR)
WITH_PYTHON_LAYER := 1
ANACONDA_HOME := $scratch
DEBUG := 1
Q =
CONFIG
expect options "-Bbuild_make
-DCAFFE_BUILD_PYTHON=ON
-DCAFFE_WITH_HDF5=OFF
-DCAFFE_WITH_LEVELDB=OFF
-DCMAKE_BUILD_TYPE=Debug
-DCMAKE_CXX_COMPILER=g++-12
-DCMAKE_INCLUDE_PATH=$scratch;/usr/include
-DCMAKE_INSTALL_PREFIX=$scratch/build_make
-DCMAKE_LIBRARY_PATH=/usr/lib;$scratch
-DCMAKE_VERBOSE_MAKEFILE=ON
-DPython3_EXECUTABLE=$scratch/bin/python3"
[ ! -s "$scratch/warnings" ] || die "warnings for knobs that are known"

export CUDA_ARCH=from_the_environment
convert "knobs without effect" << 'CONFIG'
# CPU_ONLY := 1
USE_CUDNN := 1
USE_NCCL := 0
USE_LMDB := 0
CUDA_DIR := /usr/local/cuda
BLAS := mkl
WITH_PYTHON_LAYER := 0
PYTHON_LIB := /usr/lib
ifeq ($(BLAS), mkl)
WITH_TYPOS := 1
endif
CONFIG
expect options "-Bbuild
-DCMAKE_BUILD_TYPE=Release"
expect warnings "without CPU_ONLY := 1: still built for the CPU only
USE_CUDNN has no effect: built without CUDA
USE_LMDB := 0 has no effect: always needed
CUDA_DIR has no effect: built without CUDA
BLAS := mkl has no effect: uses OpenBLAS
PYTHON_LIB has no effect: -DPython3_EXECUTABLE=... chooses the Python
WITH_TYPOS is not a knob of Caffe's that is known here"

if "$project_dir/scripts/makefile_config.sh" /no/such/file 2> /dev/null; then
  die "a missing file is not noticed"
fi
echo 'endif' > "$config"
if "$project_dir/scripts/makefile_config.sh" "$config" > /dev/null 2>&1; then
  die "a malformed file is not noticed"
fi
echo "all cases are right"
