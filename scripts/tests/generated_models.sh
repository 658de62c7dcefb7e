#!/usr/bin/env bash
# The prototxts that have a generate.py beside them are what it writes.
set -euo pipefail
. "$(dirname "$0")/../common.sh"

export PYTHONDONTWRITEBYTECODE=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for generator in "$project_dir"/models/*/generate.py; do
  model=$(basename "$(dirname "$generator")")
  mkdir "$scratch/$model"
  python3 "$generator" "$scratch/$model"
  for file in "$scratch/$model"/*; do
    diff -u "$project_dir/models/$model/$(basename "$file")" "$file" ||
      die "models/$model/$(basename "$file") is not what generate.py writes"
  done
  echo "models/$model: $(find "$scratch/$model" -type f | wc -l) files are up to date"
done
