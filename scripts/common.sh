# shellcheck shell=bash
# Sourced by the other scripts: where the project is, how a step is announced,
# and the one way they configure and build.

project_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034  # used by the scripts that source this
jobs=${JOBS:-$(nproc)}

# step "build" "with 2 jobs" prints one line a step.
step() {
  printf '==> %-10s %s\n' "$1" "$2"
}

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# quietly LOG COMMAND... keeps a command's output for when it fails.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" > "$log" 2>&1; then
    cat "$log" >&2
    die "failed: $*"
  fi
}

# configure DIR [-D...] is what the presets do, also for a CMake too old to
# read them. ninja repeats it by itself when a CMake file has changed.
configure() {
  local dir=$1
  shift
  quietly "$dir/configure.log" \
    cmake -S "$project_dir" -B "$dir" -G Ninja "$@"
}

# print_help prints the calling script's opening comment.
print_help() {
  awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
}
