#!/usr/bin/env bash
# Makes the LMDB databases and the mean image of ImageNet (ILSVRC 2012) that the
# nets in models/ read, from the archives that its makers give out.
#
#   examples/imagenet/create_imagenet.sh [--keep-images]
#
#   --keep-images  do not remove the unpacked images when the databases are there
#
# Looks for these in data/ilsvrc12; ImageNet asks for an account to get them
# (https://image-net.org/download-images):
#
#   ILSVRC2012_img_train.tar          138 GB: one archive for each class
#   ILSVRC2012_img_val.tar            6 GB
#   ILSVRC2012_devkit_t12.tar.gz      labels of the validation images; or
#                                     Caffe's val.txt in its place
#
# Writes ilsvrc12_train_lmdb and ilsvrc12_val_lmdb (256 x 256 pixels) beside this
# file, and imagenet_mean.binaryproto, synsets.txt, train.txt and val.txt into
# data/ilsvrc12. The databases take 260 GB, and the unpacked images 144 GB until
# they are there. When it was stopped, start it once more: of unpacking, nothing
# is done twice; a database that was not complete begins anew.
#
# In the environment: BUILD is where the tools were built (default: build); DATA
# and OUTPUT stand for data/ilsvrc12 and the folder of this file.
set -euo pipefail
. "$(dirname "$0")/../../scripts/common.sh"

keep_images=
while [ $# -gt 0 ]; do
  case $1 in
    --keep-images) keep_images=1 ;;
    --help | -h) print_help; exit ;;
    *) die "unknown option $1 (see --help)" ;;
  esac
  shift
done
cd "$project_dir"

bin=${BUILD:-build}/bin
data=${DATA:-data/ilsvrc12}
output=${OUTPUT:-examples/imagenet}
here=examples/imagenet

# need FILE... stops unless one of them is there.
need() {
  local file
  for file in "$@"; do
    [ ! -f "$data/$file" ] || return 0
  done
  die "$data/$1 is not there: get it from https://image-net.org" \
    "(--help tells more)"
}

# unpack SPLIT brings the images of an archive into $data/SPLIT.
unpack() {
  step unpack "$1"
  "$here/unpack_images.py" "$data/ILSVRC2012_img_$1.tar" "$data/$1"
}

if [ ! -e "$output/ilsvrc12_val_lmdb" ]; then
  need ILSVRC2012_img_val.tar
  need ILSVRC2012_devkit_t12.tar.gz val.txt
fi
if [ ! -e "$output/ilsvrc12_train_lmdb" ]; then
  need ILSVRC2012_img_train.tar
  unpack train
fi
if [ ! -e "$output/ilsvrc12_val_lmdb" ]; then
  unpack val
fi

mkdir -p "$output"
for split in train val; do
  [ ! -e "$output/ilsvrc12_${split}_lmdb" ] || continue
  step list "$data/$split.txt"
  "$here/list_images.py" "$data" "$split"
  step database "$output/ilsvrc12_${split}_lmdb"
  make_once "$output/ilsvrc12_${split}_lmdb" "$bin/convert_imageset" \
    --resize_width=256 --resize_height=256 --shuffle \
    "$data/$split/" "$data/$split.txt" {}
done
step mean "$data/imagenet_mean.binaryproto"
make_once "$data/imagenet_mean.binaryproto" \
  "$bin/compute_image_mean" "$output/ilsvrc12_train_lmdb" {}
[ -n "$keep_images" ] || rm -rf "$data/train" "$data/val"
echo "$output/ilsvrc12_train_lmdb, ilsvrc12_val_lmdb and" \
  "$data/imagenet_mean.binaryproto are there"
