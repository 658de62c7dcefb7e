# shellcheck shell=bash
# Sourced by the other scripts: where the project is, how a step is announced,
# and the one way they configure and build.

project_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034  # used by the scripts that source this
jobs=${JOBS:-$(nproc)}

# step "build" "with 2 jobs" prints one line a step.
step() {
  printf '==> %-10s %s\n' "$1" "$2"
}

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# quietly LOG COMMAND... keeps a command's output for when it fails.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" > "$log" 2>&1; then
    cat "$log" >&2
    die "failed: $*"
  fi
}

# make_once TARGET COMMAND... runs COMMAND with {} standing for the file or
# folder to make, unless TARGET is there. What is interrupted is not taken for
# done: TARGET appears whole, by renaming.
make_once() {
  local target=$1 partial=$1.partial
  shift
  [ ! -e "$target" ] || return 0
  rm -rf "$partial"
  "${@//\{\}/$partial}" || return
  mv "$partial" "$target"
}

# create_mnist_databases NAME PREFIX makes PREFIX_train_lmdb and
# PREFIX_test_lmdb of a data set in MNIST's format.
create_mnist_databases() {
  local files=$project_dir/data/$1 prefix=$2 split
  "$project_dir/scripts/get_data.sh" "$1"
  for split in train:train t10k:test; do
    make_once "${prefix}_${split#*:}_lmdb" \
      "${BUILD:-build}/bin/convert_mnist_data" \
      "$files/${split%:*}-images-idx3-ubyte" \
      "$files/${split%:*}-labels-idx1-ubyte" {} --backend=lmdb
  done
  echo "${prefix}_train_lmdb and ${prefix}_test_lmdb are there"
}

# ensure_cmake puts a CMake into PATH that is new enough for CMakeLists.txt.
# Ubuntu 22.04's is not.
ensure_cmake() {
  local needed venv=$project_dir/.cache/cmake
  needed=$(sed -n 's/^cmake_minimum_required(VERSION \(.*\))/\1/p' \
    "$project_dir/CMakeLists.txt")
  if printf 'cmake version %s\n%s\n' "$needed" \
    "$(cmake --version 2> /dev/null | head -n 1)" | sort -V -C; then
    return
  fi
  if [ ! -x "$venv/bin/cmake" ]; then
    "$project_dir/scripts/install_packages.sh" cmake
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet "cmake>=$needed"
  fi
  PATH=$venv/bin:$PATH
}

# ensure_tensorboard gets TensorBoard, which no package of the system has.
ensure_tensorboard() {
  local venv=$project_dir/.cache/tensorboard
  [ ! -x "$venv/bin/tensorboard" ] || return 0
  python3 -m venv "$venv" && "$venv/bin/pip" install --quiet tensorboard
}

# configure DIR [-D...] is what the presets do, also for a CMake too old to
# read them. ninja repeats it by itself when a CMake file has changed.
configure() {
  local dir=$1
  shift
  quietly "$dir/configure.log" \
    cmake -S "$project_dir" -B "$dir" -G Ninja "$@"
}

# print_help prints the calling script's opening comment.
print_help() {
  awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
}
