#!/usr/bin/env bash
# Makes the LMDB databases and the mean image of CIFAR-10 that the prototxts
# beside this file read.
#
#   examples/cifar10/create_cifar10.sh
#
# Gets the data set into data/cifar10 first. BUILD in the environment is where
# the tools were built; default: build.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"
cd "$project_dir"

bin=${BUILD:-build}/bin
here=examples/cifar10
train=$here/cifar10_train_lmdb
test=$here/cifar10_test_lmdb

scripts/get_data.sh cifar10
if [ ! -e "$train" ] || [ ! -e "$test" ]; then
  # The tool makes both; they appear whole.
  partial=$here/partial_lmdb
  rm -rf "$partial" "$train" "$test"
  mkdir "$partial"
  "$bin/convert_cifar_data" data/cifar10 "$partial" lmdb
  mv "$partial"/cifar10_{train,test}_lmdb "$here"
  rmdir "$partial"
fi
make_once "$here/mean.binaryproto" \
  "$bin/compute_image_mean" -backend=lmdb "$train" {}
echo "$train, $test and $here/mean.binaryproto are there"
