#!/usr/bin/env bash
# Makes the LevelDB databases of pairs of MNIST's digits that the prototxts
# beside this file read.
#
#   examples/siamese/create_mnist_siamese.sh
#
# Gets the data set into data/mnist first. BUILD in the environment is where
# the tools were built; default: build.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"
cd "$project_dir"

here=examples/siamese
scripts/get_data.sh mnist
for split in train:train t10k:test; do
  make_once "$here/mnist_siamese_${split#*:}_leveldb" \
    "${BUILD:-build}/bin/convert_mnist_siamese_data" \
    "data/mnist/${split%:*}-images-idx3-ubyte" \
    "data/mnist/${split%:*}-labels-idx1-ubyte" {}
done
echo "$here/mnist_siamese_{train,test}_leveldb are there"
