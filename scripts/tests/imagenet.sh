#!/usr/bin/env bash
# create_imagenet.sh from archives to databases, with everything going wrong once
# on the way.
#
#   imagenet.sh BUILD PYTHON
set -euo pipefail
. "$(dirname "$0")/../common.sh"

build=${1:?the folder of the build}
python=${2:-python3}
export PYTHONDONTWRITEBYTECODE=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export DATA=$scratch/data OUTPUT=$scratch/output
mkdir -p "$DATA" "$scratch/archives" "$scratch/build/bin"
cd "$scratch"

status=0
"$python" "$project_dir/scripts/tests/fake_imagenet.py" archives || status=$?
if [ "$status" = 2 ]; then
  echo "left out: without PIL there are no images"
  exit
fi
[ "$status" = 0 ] || die "there are no archives"

create() {
  BUILD=$1 "$project_dir/examples/imagenet/create_imagenet.sh" \
    --keep-images > log 2>&1
}

# expect_failure TEXT runs it, and wants it to say so.
expect_failure() {
  if create "${2:-$build}"; then
    die "it did not notice: $1"
  fi
  grep -q "$1" log || { cat log; die "it did not say: $1"; }
}

expect_failure 'ILSVRC2012_img_val.tar is not there'
cp archives/ILSVRC2012_img_val.tar "$DATA"
expect_failure 'ILSVRC2012_devkit_t12.tar.gz is not there'
cp archives/ILSVRC2012_devkit_t12.tar.gz "$DATA"
expect_failure 'ILSVRC2012_img_train.tar is not there'
head -c 1800 archives/ILSVRC2012_img_train.tar > "$DATA/ILSVRC2012_img_train.tar"
expect_failure 'img_train.tar is damaged or not complete'
[ ! -e "$DATA/train" ] || die "half an archive was unpacked"

# Stopped in the middle of the second class.
cp archives/ILSVRC2012_img_train.tar "$DATA"
mkdir -p "$DATA/train/n00000001.partial" "$DATA/train/n00000003"
tar -xf "$DATA/ILSVRC2012_img_train.tar" n00000003.tar
tar -xf n00000003.tar -C "$DATA/train/n00000003"
echo half > "$DATA/train/n00000001.partial/n00000001_0.JPEG"
before=$(stat -c '%i %Y' "$DATA"/train/n00000003/*)

# A converter that stops in the middle of the second database.
for tool in convert_imageset compute_image_mean; do
  ln -s "$build/bin/$tool" build/bin
done
rm build/bin/convert_imageset
cat > build/bin/convert_imageset << TOOL
#!/usr/bin/env bash
case "\$*" in
  *train.txt*) exec "$build/bin/convert_imageset" "\$@" ;;
esac
mkdir "\${@: -1}"
echo half > "\${@: -1}/data.mdb"
exit 1
TOOL
chmod +x build/bin/convert_imageset
create "$scratch/build" && die "a converter that fails was not noticed"
[ "$before" = "$(stat -c '%i %Y' "$DATA"/train/n00000003/*)" ] ||
  die "a class was unpacked twice"
[ -e "$OUTPUT/ilsvrc12_train_lmdb" ] || { cat log; die "nothing was made"; }
[ ! -e "$OUTPUT/ilsvrc12_val_lmdb" ] || die "half a database was taken for one"
before=$(stat -c '%i %Y' "$OUTPUT/ilsvrc12_train_lmdb/data.mdb")

# The same once more, to its end.
create "$build" || { cat log; die "it does not go on"; }
[ "$before" = "$(stat -c '%i %Y' "$OUTPUT/ilsvrc12_train_lmdb/data.mdb")" ] ||
  die "a database was made twice"
[ -s "$OUTPUT/ilsvrc12_val_lmdb/data.mdb" ] || die "there is no second database"
[ -s "$DATA/imagenet_mean.binaryproto" ] || die "there is no mean"
diff -u - "$DATA/train.txt" << LIST
n00000001/n00000001_0.JPEG 0
n00000001/n00000001_1.JPEG 0
n00000002/n00000002_0.JPEG 1
n00000002/n00000002_1.JPEG 1
n00000003/n00000003_0.JPEG 2
n00000003/n00000003_1.JPEG 2
LIST
diff -u - "$DATA/val.txt" << LIST
ILSVRC2012_val_00000001.JPEG 1
ILSVRC2012_val_00000002.JPEG 2
ILSVRC2012_val_00000003.JPEG 2
ILSVRC2012_val_00000004.JPEG 0
LIST

# A net finds all images, 256 x 256, and tests on them.
cat > net.prototxt << NET
layer { name: "data" type: "Data" top: "data" top: "label"
        transform_param { mean_file: "$DATA/imagenet_mean.binaryproto" }
        data_param { source: "$OUTPUT/ilsvrc12_val_lmdb" batch_size: 4 } }
layer { name: "scores" type: "InnerProduct" bottom: "data" top: "scores"
        inner_product_param { num_output: 3 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "scores" bottom: "label"
        top: "loss" }
NET
"$build/bin/caffe" time --model=net.prototxt --iterations=1 > log 2>&1 ||
  { cat log; die "nets cannot read what was made"; }
grep -q '4 3 256 256' log || die "images are not 256 x 256"

# Nothing is left to be done without the archives.
rm "$DATA"/ILSVRC2012_*
create "$build" || { cat log; die "it wants archives that are used up"; }
echo "all is well"
