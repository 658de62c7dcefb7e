#!/usr/bin/env bash
# The prototxts that have a generate.py beside them are what it writes.
#
#   generated_models.sh [PYTHON PACKAGES]
#
# runs them with that interpreter, and the folder in which the package caffe is.
# Without, generators that need the package are left out.
set -euo pipefail
. "$(dirname "$0")/../common.sh"

python=${1:-python3}
export PYTHONPATH=${2:-}
export PYTHONDONTWRITEBYTECODE=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cd "$project_dir"
for generator in {models,examples}/*/generate.py; do
  folder=$(dirname "$generator")
  if [ -z "$PYTHONPATH" ] && grep -q '^from caffe import' "$generator"; then
    echo "$folder: left out, it needs the package caffe"
    continue
  fi
  mkdir -p "$scratch/$folder"
  "$python" "$generator" "$scratch/$folder"
  for file in "$scratch/$folder"/*; do
    diff -u "$folder/$(basename "$file")" "$file" ||
      die "$folder/$(basename "$file") is not what generate.py writes"
  done
  echo "$folder: $(find "$scratch/$folder" -type f | wc -l) files are up to date"
done
