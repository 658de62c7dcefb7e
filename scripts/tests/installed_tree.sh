#!/usr/bin/env bash
# Installs the build, moves the installed tree elsewhere, builds a program with
# a layer of its own against it, and trains with that.
#
#   scripts/tests/installed_tree.sh BUILD_DIR
set -euo pipefail
. "$(dirname "$0")/../common.sh"

build_dir=${1:?which build?}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/moved

step install "$build_dir"
quietly "$scratch/install.log" \
  cmake --install "$build_dir" --prefix "$scratch/prefix"
mv "$scratch/prefix" "$prefix"
# A build that is not in the way any more must not be what is found.
if grep -rF "$build_dir" "$prefix" --include='*.cmake'; then
  die "the installed CMake files name the build folder"
fi
step run "the installed tools"
for tool in "$prefix"/bin/*; do
  "$tool" --help > "$scratch/help" || die "$tool --help fails"
  [ -s "$scratch/help" ] || die "$tool --help prints nothing"
done

# cached NAME prints what the build was configured with.
cached() {
  sed -n "s/^$1:[A-Z]*=//p" "$build_dir/CMakeCache.txt"
}

# A sanitized library wants to be loaded first, before Python.
if [ -d "$prefix/python" ] && [ "$(cached CAFFE_SANITIZE)" != ON ]; then
  step import "the package for Python"
  (cd "$scratch" && PYTHONPATH=$prefix/python GLOG_minloglevel=2 \
    "$(cached Python3_EXECUTABLE)" -c '
import caffe
import sys
net = caffe.Net(sys.argv[1], caffe.TEST)
assert net.forward()["prob"].shape == (64, 10)
' "$project_dir/examples/mnist/lenet.prototxt")
fi

# build SOURCE_DIR builds a project against the installed tree.
build() {
  step build "$1"
  local name flags=
  name=$(basename "$1")
  # What links a sanitized library must be sanitized itself.
  [ "$(cached CAFFE_SANITIZE)" != ON ] ||
    flags=-fsanitize=address,undefined
  quietly "$scratch/configure.log" \
    cmake -S "$1" -B "$scratch/build/$name" -G Ninja \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS="$flags"
  quietly "$scratch/build.log" cmake --build "$scratch/build/$name"
}

# No installed header needs one that is not installed.
headers=$scratch/all_headers
mkdir "$headers"
cat > "$headers/CMakeLists.txt" << 'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(all_headers LANGUAGES CXX)
find_package(Caffe REQUIRED)
add_library(all_headers OBJECT all_headers.cpp)
target_link_libraries(all_headers PRIVATE Caffe::caffe)
CMAKE
(cd "$prefix/include" && find caffe -name '*.h*' ! -path 'caffe/test/*' | sort) |
  sed 's/.*/#include "&"/' > "$headers/all_headers.cpp"
build "$headers"

example=$project_dir/examples/out_of_tree
build "$example"
step train "with a layer that Caffe does not know"
cd "$example"
"$scratch/build/out_of_tree/train_softplus" solver.prototxt
