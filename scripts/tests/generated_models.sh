#!/usr/bin/env bash
# The prototxts that have a generate.py beside them are what it writes.
set -euo pipefail
. "$(dirname "$0")/../common.sh"

export PYTHONDONTWRITEBYTECODE=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cd "$project_dir"
for generator in {models,examples}/*/generate.py; do
  folder=$(dirname "$generator")
  mkdir -p "$scratch/$folder"
  python3 "$generator" "$scratch/$folder"
  for file in "$scratch/$folder"/*; do
    diff -u "$folder/$(basename "$file")" "$file" ||
      die "$folder/$(basename "$file") is not what generate.py writes"
  done
  echo "$folder: $(find "$scratch/$folder" -type f | wc -l) files are up to date"
done
