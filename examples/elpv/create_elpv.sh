#!/usr/bin/env bash
# Makes the LMDB databases and the mean image of ELPV that the prototxts beside
# this file read.
#
#   examples/elpv/create_elpv.sh [--colour] [--size N]
#
#   --colour   in three equal channels, for nets that want them, in
#              elpv_train_colour_lmdb and elpv_test_colour_lmdb
#   --size N   N x N pixels instead of 256 x 256, in elpv_train_N_lmdb, ...
#
# Gets the data set into data/elpv first. BUILD in the environment is where the
# tools were built; default: build.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

size=256
kind=
channels=(--gray)
while [ $# -gt 0 ]; do
  case $1 in
    --colour) channels=(); kind=${kind}_colour ;;
    --size) size=${2:?--size needs a number}; kind=${kind}_$size; shift ;;
    --help | -h) print_help; exit ;;
    *) die "unknown option $1 (see --help)" ;;
  esac
  shift
done
cd "$project_dir"

bin=${BUILD:-build}/bin
here=examples/elpv
files=data/elpv/elpv_dataset/data

scripts/get_data.sh elpv
if [ ! -e data/elpv/elpv_dataset ]; then
  rm -rf data/elpv/partial
  python3 -m zipfile -e data/elpv/*.whl data/elpv/partial
  mv data/elpv/partial/elpv_dataset data/elpv
  rm -r data/elpv/partial
fi

# list train|test prints images and labels: 1 where a defect is more likely than
# not. Every fourth image is for tests. Neighbours come from the same solar
# module, so steps of 997 mix them, the same way everywhere.
list() {
  awk -v wanted="$1" '
    (NR % 4 ? "train" : "test") == wanted {
      print NR * 997 % 2624, $1, ($2 > 0.5)
    }' "$files/labels.csv" | sort -n | cut -d ' ' -f 2-
}

for split in train test; do
  list "$split" > "data/elpv/$split.txt"
  make_once "$here/elpv_$split${kind}_lmdb" "$bin/convert_imageset" \
    ${channels[@]+"${channels[@]}"} --resize_width="$size" \
    --resize_height="$size" "$files/" "data/elpv/$split.txt" {}
done
mean=$here/mean$kind.binaryproto
make_once "$mean" "$bin/compute_image_mean" "$here/elpv_train${kind}_lmdb" {}
echo "$here/elpv_{train,test}${kind}_lmdb and $mean are there"
