#!/usr/bin/env bash
# Makes the LMDB databases that the prototxts beside this file read: images of
# shapes, and images of their classes.
#
#   examples/segmentation/create_shapes.sh [FOLDER]
#
# FOLDER is where they go; default: the folder of this script. TRAIN and TEST in
# the environment are how many images there are; default: 2000 and 200. BUILD is
# where the tools were built; default: build.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"
folder=$(realpath "${1:-$(dirname "$0")}")
cd "$project_dir"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# write_split NAME COUNT SEED
write_split() {
  local split=$1 convert="${BUILD:-build}/bin/convert_imageset"
  python3 examples/segmentation/draw_shapes.py "$scratch/$split" "$2" "$3"
  rm -rf "$folder/$split"_{data,label}_lmdb
  "$convert" "$scratch/$split/" "$scratch/$split/images.txt" \
    "$folder/${split}_data_lmdb"
  "$convert" --gray "$scratch/$split/" "$scratch/$split/labels.txt" \
    "$folder/${split}_label_lmdb"
}

write_split train "${TRAIN:-2000}" 1
write_split test "${TEST:-200}" 2
