#!/usr/bin/env bash
# The pages in docs/layers are what layer_pages writes.
#
#   scripts/tests/layer_pages.sh LAYER_PAGES_PROGRAM
set -euo pipefail
. "$(dirname "$0")/../common.sh"

program=${1:?which program?}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cd "$project_dir"
"$program" . "$scratch"
cp docs/layers/examples.prototxt "$scratch"
diff -ru docs/layers "$scratch" ||
  die "docs/layers is not what layer_pages writes; its README says how to"
