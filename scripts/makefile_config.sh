#!/usr/bin/env bash
# Turns a Makefile.config, as Caffe's Makefile reads it, into options for cmake.
#
#   cmake -S . -G Ninja $(scripts/makefile_config.sh [FILE])
#
# FILE is Makefile.config by default. The options go to standard output, one a
# line; a warning goes to standard error for each knob that has no effect here.
# Makefile.config.example explains the knobs.
set -euo pipefail
. "$(dirname "$0")/common.sh"

case ${1:-} in
  --help | -h) print_help; exit ;;
esac
config=${1:-$project_dir/Makefile.config}
[ -f "$config" ] ||
  die "there is no $config; copy Makefile.config.example and change it"
command -v make > /dev/null || die "needs make to read $config"

warn() {
  printf 'makefile_config.sh: %s\n' "$*" >&2
}

# The file is a makefile with conditions and shell calls, so make itself reads
# it and lists what it has set.
declare -A knob
settings=$(make --no-print-directory --silent -f - config="$config" <<'MAKE'
in_file = $(foreach v,$(.VARIABLES),$(if $(filter file,$(origin $v)),$v))
ours := in_file ours before
before := $(in_file)
include $(config)
$(foreach v,$(filter-out $(before) $(ours),$(in_file)),\
  $(info $v=$(strip $($v))))
all: ;
MAKE
) || die "make cannot read $config"
while IFS='=' read -r name value; do
  [ -z "$name" ] || knob[$name]=$value
done <<< "$settings"

is_on() {
  [ "${knob[$1]:-0}" = 1 ]
}

is_off() {
  [ "${knob[$1]:-}" = 0 ]
}

# existing FOLDER... joins those that exist, each once, as a CMake list.
existing() {
  local folder list=
  for folder in "$@"; do
    [ -d "$folder" ] || continue
    case ";$list;" in
      *";$folder;"*) ;;
      *) list+=${list:+;}$folder ;;
    esac
  done
  printf '%s' "$list"
}

options=()
no_gpu="has no effect: built without CUDA"
no_python="has no effect: -DPython3_EXECUTABLE=... chooses the Python"
is_on DEBUG && build_type=Debug || build_type=Release
options+=("-B${knob[BUILD_DIR]:-build}" "-DCMAKE_BUILD_TYPE=$build_type")
is_on CPU_ONLY || warn "without CPU_ONLY := 1: still built for the CPU only"
for name in "${!knob[@]}"; do
  value=${knob[$name]}
  case $name in
    CPU_ONLY | DEBUG | BUILD_DIR) ;;
    BLAS_INCLUDE | BLAS_LIB | INCLUDE_DIRS | LIBRARY_DIRS) ;;
    OPENCV_VERSION) ;;  # whichever is installed
    USE_LEVELDB) ! is_off "$name" || options+=(-DCAFFE_WITH_LEVELDB=OFF) ;;
    USE_HDF5) ! is_off "$name" || options+=(-DCAFFE_WITH_HDF5=OFF) ;;
    USE_OPENCV | USE_LMDB)
      ! is_off "$name" || warn "$name := 0 has no effect: always needed"
      ;;
    BLAS)
      [ "$value" = open ] || warn "BLAS := $value has no effect: uses OpenBLAS"
      ;;
    CUSTOM_CXX) [ -z "$value" ] || options+=("-DCMAKE_CXX_COMPILER=$value") ;;
    DISTRIBUTE_DIR)
      [ -z "$value" ] ||
        options+=("-DCMAKE_INSTALL_PREFIX=$(realpath -m "$value")")
      ;;
    Q) [ -n "$value" ] || options+=(-DCMAKE_VERBOSE_MAKEFILE=ON) ;;
    CUDA_DIR | CUDA_ARCH | TEST_GPUID | NVCCFLAGS)
      # Every old file sets these; where the GPU was off they meant nothing.
      is_on CPU_ONLY || warn "$name $no_gpu"
      ;;
    USE_CUDNN | USE_NCCL) ! is_on "$name" || warn "$name $no_gpu" ;;
    WITH_PYTHON_LAYER) ! is_on "$name" || options+=(-DCAFFE_BUILD_PYTHON=ON) ;;
    ANACONDA_HOME)
      [ -z "$value" ] || options+=("-DPython3_EXECUTABLE=$value/bin/python3")
      ;;
    PYTHON_INCLUDE | PYTHON_LIB | PYTHON_LIBRARIES) warn "$name $no_python" ;;
    MATLAB_DIR) warn "$name has no effect: there is no MATLAB interface" ;;
    ALLOW_LMDB_NOLOCK | USE_PKG_CONFIG)
      ! is_on "$name" || warn "$name has no effect: not needed"
      ;;
    *) warn "$name is not a knob of Caffe's that is known here" ;;
  esac
done

# shellcheck disable=SC2086  # lists of folders
includes=$(existing ${knob[BLAS_INCLUDE]:-} ${knob[INCLUDE_DIRS]:-})
# shellcheck disable=SC2086
libraries=$(existing ${knob[BLAS_LIB]:-} ${knob[LIBRARY_DIRS]:-})
[ -z "$includes" ] || options+=("-DCMAKE_INCLUDE_PATH=$includes")
[ -z "$libraries" ] || options+=("-DCMAKE_LIBRARY_PATH=$libraries")
printf '%s\n' "${options[@]}" | sort
