#!/usr/bin/env bash
# Makes the LMDB databases of MNIST that the prototxts beside this file read.
#
#   examples/mnist/create_mnist.sh
#
# Gets the data set into data/mnist first. BUILD in the environment is where
# the tools were built; default: build.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"
cd "$project_dir"

create_mnist_databases mnist examples/mnist/mnist
