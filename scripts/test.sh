#!/usr/bin/env bash
# Installs what is missing, builds everything, checks style with lint.sh and runs
# all tests. ctest has the last word.
#
#   scripts/test.sh [options]
#
#   --asan          with the address and undefined-behaviour sanitizers, in
#                   build-asan/ instead of build/
#   --jobs N        compile N files at a time; default: one a processor
#   --no-packages   do not look for missing packages
#   --no-lint       tests only
#
# With CI=true in the environment, compiler warnings are errors.
set -euo pipefail
. "$(dirname "$0")/common.sh"

build_dir=build
options=(-DCMAKE_BUILD_TYPE=Release -DCAFFE_SANITIZE=OFF)
groups=(build test lint)
lint=1
packages=1
while [ $# -gt 0 ]; do
  case $1 in
    --asan)
      build_dir=build-asan
      options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DCAFFE_SANITIZE=ON)
      ;;
    --jobs) jobs=${2:?--jobs needs a number}; shift ;;
    --no-packages) packages= ;;
    --no-lint) lint=; groups=(build test) ;;
    --help | -h) print_help; exit ;;
    *) die "unknown option $1 (see --help)" ;;
  esac
  shift
done
cd "$project_dir"
[ "${CI:-}" != true ] || options+=(-DCAFFE_WERROR=ON)
SECONDS=0

if [ -n "$packages" ]; then
  step packages "${groups[*]}"
  scripts/install_packages.sh "${groups[@]}"
  scripts/install_packages.sh fuzz ||
    echo "without these packages the codecs are tested, but not fuzzed"
  { scripts/install_packages.sh browser && ensure_tensorboard; } ||
    echo "without these packages reports of runs are made, but not looked at"
fi
ensure_cmake
step configure "$build_dir/ ${options[*]}"
configure "$build_dir" -DCAFFE_BUILD_TESTS=ON -DCAFFE_BUILD_TOOLS=ON \
  "${options[@]}"
step build "with $jobs jobs"
cmake --build "$build_dir" --parallel "$jobs"

lint_failed=
if [ -n "$lint" ]; then
  step lint "scripts/lint.sh"
  scripts/lint.sh --build-dir "$build_dir" || lint_failed=1
fi
step test "ctest, after $SECONDS s${lint_failed:+; lint FAILED, see above}"
ctest --test-dir "$build_dir" --parallel "$jobs" --output-on-failure
[ -z "$lint_failed" ]
