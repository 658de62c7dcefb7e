#!/usr/bin/env bash
# In a copy of the project that docs/add_a_layer.md has been done to, CMake finds
# the layer and its test, and layer_pages writes its page and changes no other.
#
#   scripts/tests/tutorial.sh TUTORIAL_FILES LAYER_PAGES_PROGRAM
#
# The files are those that extract_tutorial.py writes; the program is layer_pages
# with the layer in it.
set -euo pipefail
. "$(dirname "$0")/../common.sh"

files=${1:?which files?}
program=${2:?which program?}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

copy=$scratch/project
mkdir "$copy"
for part in CMakeLists.txt docs include scripts src; do
  cp -r "$project_dir/$part" "$copy"
done
cp -r "$files/." "$copy"

step configure "with the layer"
quietly "$scratch/configure.log" \
  cmake -S "$copy" -B "$scratch/build" -G Ninja -DCAFFE_BUILD_TOOLS=OFF
for source in cpu/softsign layers/softsign_layer test/test_softsign_layer; do
  grep -qF "$copy/src/caffe/$source.cpp\"" "$scratch/build/compile_commands.json" ||
    die "$source.cpp is not compiled"
done
ctest --test-dir "$scratch/build" -N > "$scratch/tests"
grep -qw test_softsign_layer "$scratch/tests" ||
  die "test_softsign_layer is not among the tests"

step pages "with the layer's"
"$program" "$copy" "$copy/docs/layers"
page=$copy/docs/layers/Softsign.md
# shellcheck disable=SC2016  # no commands
for line in 'y = x / (1 + |x|), between -1 and 1.' \
  '| bottom `features` | 8 x 16 | nothing |' \
  '| top `softsign` | 8 x 16 | values, within a bound |'; do
  grep -qF "$line" "$page" || die "Softsign.md does not say: $line"
done
grep -qF '[Softsign](Softsign.md)' "$copy/docs/layers/README.md" ||
  die "README.md does not list the page"
rm "$page"
diff -r "$project_dir/docs/layers" "$copy/docs/layers" \
  --exclude=README.md --exclude=examples.prototxt ||
  die "the other pages have changed"
