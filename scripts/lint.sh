#!/usr/bin/env bash
# Checks style: clang-format, shellcheck, file lengths and white space on every
# tracked file; clang-tidy on the C++ files that changed.
#
#   scripts/lint.sh [--all] [--base REF] [--build-dir DIR]
#
#   --all            clang-tidy on all files (slow)
#   --base REF       what changed is counted from REF; default: where this
#                    branch left the main one, or the previous commit
#   --build-dir DIR  where compile_commands.json is; default: build
#   --fix            let clang-format rewrite the files
set -euo pipefail
. "$(dirname "$0")/common.sh"

max_lines=600
all=
base=
fix=
build_dir=build
while [ $# -gt 0 ]; do
  case $1 in
    --all) all=1 ;;
    --fix) fix=1 ;;
    --base) base=${2:?--base needs a revision}; shift ;;
    --build-dir) build_dir=${2:?--build-dir needs a folder}; shift ;;
    --help | -h) print_help; exit ;;
    *) die "unknown option $1 (see --help)" ;;
  esac
  shift
done
cd "$project_dir"

failed=()
# check NAME COMMAND... runs one check and remembers how it went.
check() {
  local name=$1
  shift
  if "$@"; then
    printf '    %-14s ok\n' "$name"
  else
    printf '    %-14s FAILED\n' "$name"
    failed+=("$name")
  fi
}

# Files of ours that exist, tracked or about to be: list PATTERN...
list() {
  git ls-files --cached --others --exclude-standard -- "$@" |
    while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}

check_format() {
  local mode=(--dry-run --Werror)
  [ -z "$fix" ] || mode=(-i)
  list '*.cpp' '*.hpp' | xargs -r -P "$jobs" -n 20 clang-format "${mode[@]}"
}

check_shell() {
  list '*.sh' .ci/run | xargs -r shellcheck
}

check_length() {
  local long
  long=$(list '*.cpp' '*.hpp' '*.sh' '*.py' '*.cmake' '*CMakeLists.txt' |
    xargs -r awk -v max="$max_lines" 'FNR == max + 1 { print FILENAME }')
  [ -z "$long" ] || {
    printf 'more than %d lines: %s\n' "$max_lines" "$long"
    return 1
  }
}

check_white_space() {
  ! list '*.cpp' '*.hpp' '*.proto' '*.prototxt' '*.sh' '*.py' '*.cmake' \
    '*CMakeLists.txt' '*.md' '*.json' | xargs -r grep -nE '[[:blank:]]+$'
}

changed_since_base() {
  if [ -z "$base" ]; then
    local main
    for main in origin/main main; do
      if git rev-parse -q --verify "$main" > /dev/null &&
        ! git merge-base --is-ancestor HEAD "$main"; then
        base=$(git merge-base HEAD "$main")
        break
      fi
    done
  fi
  if [ -z "$base" ] && git rev-parse -q --verify HEAD~1 > /dev/null; then
    base=HEAD~1
  fi
  if [ -z "$base" ]; then
    list '*.cpp'
    return
  fi
  git diff --name-only --diff-filter=d "$base" -- '*.cpp'
  git ls-files --others --exclude-standard -- '*.cpp'
}

# Files outside this build (an out-of-tree example, say) are not compiled here.
only_compiled() {
  while read -r file; do
    ! grep -qF "\"$project_dir/$file\"" "$build_dir/compile_commands.json" ||
      echo "$file"
  done
}

check_tidy() {
  local files
  files=$({ if [ -n "$all" ]; then list '*.cpp'; else changed_since_base; fi; } |
    only_compiled)
  [ -n "$files" ] || return 0
  printf '    clang-tidy reads %d files\n' "$(wc -l <<< "$files")"
  xargs -P "$jobs" -n 1 clang-tidy --quiet -p "$build_dir" <<< "$files" \
    2> /dev/null
}

check clang-format check_format
if command -v shellcheck > /dev/null; then
  check shellcheck check_shell
else
  echo "    shellcheck is not installed: skipped"
fi
check length check_length
check 'white space' check_white_space
if [ -f "$build_dir/compile_commands.json" ]; then
  check clang-tidy check_tidy
else
  echo "    clang-tidy needs $build_dir/compile_commands.json: skipped"
fi
[ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
