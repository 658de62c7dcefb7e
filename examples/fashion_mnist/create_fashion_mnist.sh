#!/usr/bin/env bash
# Makes the LMDB databases of Fashion-MNIST that the prototxts beside this file
# read.
#
#   examples/fashion_mnist/create_fashion_mnist.sh
#
# Gets the data set into data/fashion_mnist first. BUILD in the environment is
# where the tools were built; default: build.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"
cd "$project_dir"

create_mnist_databases fashion_mnist examples/fashion_mnist/fashion_mnist
