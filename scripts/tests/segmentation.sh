#!/usr/bin/env bash
# The example of segmentation from its first line to its last, with fewer images
# and iterations.
#
#   segmentation.sh BUILD
set -euo pipefail
. "$(dirname "$0")/../common.sh"

export BUILD=${1:?the folder of the build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

example=examples/segmentation
mkdir -p "$scratch/$example"
cp "$project_dir/$example"/*.prototxt "$scratch/$example"
TRAIN=40 TEST=20 "$project_dir/$example/create_shapes.sh" "$scratch/$example"

cd "$scratch"
solver=$example/shapes_fcn_solver_compressed.prototxt
sed -i -e 's/^test_iter:.*/test_iter: 1/' -e 's/^max_iter:.*/max_iter: 3/' \
  "$solver"
"$BUILD/bin/caffe" train --solver="$solver" 2>&1 | tee log
grep -q 'class_accuracy' log || die "nothing was tested"
[ -f "$example/shapes_fcn_compressed_iter_3.caffemodel" ] ||
  die "there are no weights"
