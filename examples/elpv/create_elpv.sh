#!/usr/bin/env bash
# Makes the LMDB databases and the mean image of ELPV that the prototxts beside
# this file read.
#
#   examples/elpv/create_elpv.sh
#
# Gets the data set into data/elpv first. BUILD in the environment is where the
# tools were built; default: build.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"
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
  make_once "$here/elpv_${split}_lmdb" "$bin/convert_imageset" --gray \
    --resize_width=256 --resize_height=256 "$files/" "data/elpv/$split.txt" {}
done
make_once "$here/mean.binaryproto" \
  "$bin/compute_image_mean" "$here/elpv_train_lmdb" {}
echo "$here/elpv_train_lmdb, elpv_test_lmdb and mean.binaryproto are there"
