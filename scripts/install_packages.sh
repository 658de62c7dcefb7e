#!/usr/bin/env bash
# Installs the packages of packages.txt that are missing, on Debian and Ubuntu.
#
#   scripts/install_packages.sh [--list] [GROUP...]
#
# GROUP is one of those in packages.txt; without one: build and test. --list
# prints the packages' names and installs nothing.
set -euo pipefail
. "$(dirname "$0")/common.sh"

list_only=
groups=()
for argument in "$@"; do
  case $argument in
    --list) list_only=1 ;;
    --help | -h) print_help; exit ;;
    -*) die "unknown option $argument (see --help)" ;;
    *) groups+=("$argument") ;;
  esac
done
[ ${#groups[@]} -gt 0 ] || groups=(build test)

packages=()
for group in "${groups[@]}"; do
  names=$(awk -v group="$group" '$1 == group { print $2 }' \
    "$project_dir/scripts/packages.txt")
  [ -n "$names" ] || die "packages.txt has no group $group"
  mapfile -t -O ${#packages[@]} packages <<< "$names"
done

if [ -n "$list_only" ]; then
  printf '%s\n' "${packages[@]}" | sort -u
  exit
fi

if ! command -v apt-get > /dev/null || ! command -v dpkg-query > /dev/null; then
  {
    echo "This system has no apt. Please install what these Debian packages"
    echo "hold, then run again with --no-packages:"
    printf '  %s\n' "${packages[@]}"
  } >&2
  exit 1
fi

missing=()
installed=$(dpkg-query --show \
  --showformat='${db:Status-Status} ${Package}\n' "${packages[@]}" 2> /dev/null |
  sed -n 's/^installed //p') || true
for package in "${packages[@]}"; do
  grep -qxF "$package" <<< "$installed" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "all ${#packages[@]} packages are installed"
  exit
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo > /dev/null ||
    die "needs root or sudo to install: ${missing[*]}"
  as_root=(sudo)
fi
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get -qq update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get -qq -y --no-install-recommends install "${missing[@]}"
