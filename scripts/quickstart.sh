#!/usr/bin/env bash
# From a fresh clone to a trained net: installs the packages that are missing,
# builds the tools, gets Fashion-MNIST, writes it into LMDB databases, trains a
# small CNN, and prints how it went.
#
#   scripts/quickstart.sh [options]
#
#   --jobs N        compile N files at a time; default: one a processor
#   --no-packages   do not look for missing packages
#   --retrain       train again although there is a result
#
# Steps whose results are there are not repeated: running it again is quick.
# Logs are in build/quickstart.
set -euo pipefail
. "$(dirname "$0")/common.sh"

packages=1
retrain=
while [ $# -gt 0 ]; do
  case $1 in
    --jobs) jobs=${2:?--jobs needs a number}; shift ;;
    --no-packages) packages= ;;
    --retrain) retrain=1 ;;
    --help | -h) print_help; exit ;;
    *) die "unknown option $1 (see --help)" ;;
  esac
  shift
done
cd "$project_dir"
build_dir=build
logs=$build_dir/quickstart
example=examples/fashion_mnist

# watch PID WHAT [LOG] waits for a program in the background and stops when it
# fails. On a terminal, the last line of the log is shown meanwhile. Leaves the
# most memory that the program took, in KiB, in peak_kib.
watch() {
  local pid=$1 what=$2 log=${3:-} peak columns
  columns=$(tput cols 2> /dev/null || echo 80)
  trap 'kill "$pid" 2> /dev/null; wait "$pid" 2> /dev/null; exit 130' INT TERM
  while kill -0 "$pid" 2> /dev/null; do
    peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2> /dev/null) || true
    peak_kib=${peak:-${peak_kib:-}}
    if [ -t 1 ] && [ -f "$log" ]; then
      printf '    %s\033[K\r' "$(tail -c 400 "$log" | tail -n 1 |
        cut -c "1-$((columns - 5))")"
    fi
    sleep 0.5
  done
  [ ! -t 1 ] || printf '\033[K'
  trap - INT TERM
  wait "$pid" || {
    [ ! -f "$log" ] || tail -n 20 "$log" >&2
    die "$what failed${log:+ (the whole log is in $log)}"
  }
}

# Packages that are data are not everywhere; get_data.sh downloads otherwise.
install_packages() {
  scripts/install_packages.sh build
  scripts/install_packages.sh data || scripts/install_packages.sh download
}

# setting NAME FILE prints the value of a prototxt's first field of that name.
setting() {
  sed -n "s/^ *$1: *//p" "$2" | head -n 1
}

# train NAME SOLVER NET trains and leaves a line of the table in $logs/NAME.row.
train() {
  local name=$1 solver=$2 net=$3 row=$logs/$1.row folder=$logs/$1
  local log=$folder/caffe.INFO
  if [ -z "$retrain" ] && [ "$row" -nt "$solver" ] && [ "$row" -nt "$net" ]; then
    step train "$name: done before (log: $log)"
    return
  fi
  step train "$name: a few minutes (log: $log)"
  rm -rf "$row" "$folder"
  mkdir -p "$folder"
  local start=$SECONDS seconds images accuracy
  peak_kib=
  "$build_dir/bin/caffe" train --solver="$solver" \
    --log_dir="$folder" --alsologtostderr=false &
  watch $! training
  seconds=$((SECONDS - start))
  images=$(($(setting max_iter "$solver") * $(setting batch_size "$net")))
  accuracy=$(sed -n 's/.*Test net output.*accuracy = //p' "$log" | tail -n 1)
  awk -v name="$name" -v accuracy="$accuracy" -v seconds="$seconds" \
    -v images="$images" -v kib="$peak_kib" 'BEGIN {
      printf "%-14s %8.2f %% %7d s %10d %9.0f MB\n", name, 100 * accuracy,
             seconds, images / seconds, kib / 1024
    }' > "$row.partial"
  mv "$row.partial" "$row"
}

if [ -n "$packages" ]; then
  # Without apt this prints what to install, and stops.
  command -v apt-get > /dev/null || exec scripts/install_packages.sh build data
  step packages "those that are missing (log: $logs/packages.log)"
  quietly "$logs/packages.log" install_packages
fi
ensure_cmake
if [ ! -f "$build_dir/build.ninja" ]; then
  step configure "$build_dir/ (log: $build_dir/configure.log)"
  configure "$build_dir" -DCMAKE_BUILD_TYPE=Release -DCAFFE_BUILD_TESTS=OFF
fi
mkdir -p "$logs"
step build "with $jobs jobs (log: $logs/build.log)"
cmake --build "$build_dir" --parallel "$jobs" \
  --target caffe_program convert_mnist_data > "$logs/build.log" 2>&1 &
watch $! "the build" "$logs/build.log"
step data "Fashion-MNIST into $example (log: $logs/data.log)"
quietly "$logs/data.log" "$example/create_fashion_mnist.sh"
train uncompressed "$example/fashion_mnist_solver.prototxt" \
  "$example/fashion_mnist_train_test.prototxt"

cat << END

Fashion-MNIST, a small CNN on $(nproc) processors

training       accuracy       time   images/s   peak memory
$(cat "$logs"/uncompressed.row)

Compressed training is not there yet; it will be the table's second line.
Next: $example/readme.md tells how the net was trained.
END
