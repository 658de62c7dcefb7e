#!/usr/bin/env bash
# Every experiment of scripts/reproduce runs at its smallest size, goes on when it
# was stopped, and does nothing twice.
#
#   reproduce.sh BUILD PYTHON
set -euo pipefail
. "$(dirname "$0")/../common.sh"

build=${1:?the folder of the build}
python=${2:-python3}
export PYTHONDONTWRITEBYTECODE=1
export OMP_WAIT_POLICY=passive
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# run EXPERIMENT [OPTIONS]
run() {
  local name=$1
  shift
  echo "$name $*"
  "$python" "$project_dir/scripts/reproduce/$name.py" --smoke \
    --build="$build" --data="$scratch/data" --threads=1 "$@" \
    > "$name.out" 2> "$name.err" || {
    cat "$name.out" "$name.err"
    die "$name.py fails"
  }
  [ -s "data/smoke/$name.json" ] || die "$name.py wrote no JSON"
  grep -q '^| --- ' "data/smoke/$name.md" || die "$name.py wrote no table"
}

# trainings EXPERIMENT prints which it ran the last time.
trainings() {
  sed -n 's/^training \([^ ]*\) .*/\1/p' "$1.err"
}

run table1 --nets alexnet resnet18
run figure2 --nets alexnet resnet18
[ -z "$(trainings figure2)" ] || die "figure2.py repeats what table1.py did"
run overhead --nets alexnet --timed=1
run zeros
run static_adaptive
run tolerance

# A training that was stopped after its first snapshot goes on from there; one
# with other settings starts anew.
one=data/smoke/runs/alexnet/compressed_1
cp -r "$one" whole
rm "$one"/result.json "$one"/net_iter_6.*
run figure2 --nets alexnet
[ "$(trainings figure2)" = alexnet/compressed_1 ] || die "another one was run"
grep -q 'net_iter_3.solverstate' "$one/train.log" || die "it began anew"
cmp "$one/net_iter_6.caffemodel" whole/net_iter_6.caffemodel ||
  die "what went on is not what was never stopped"
run figure2 --nets alexnet --iterations=4
[ ! -e "$one/net_iter_6.caffemodel" ] || die "it did not begin anew"
grep -q '^| alexnet | 4 |' data/smoke/figure2.md || die "the end was not tested"

# One that is told to end takes a snapshot.
log=$scratch/data/smoke/runs/alexnet/raw_1/train.log
rm -r "$(dirname "$log")"
"$python" "$project_dir/scripts/reproduce/figure2.py" --smoke --nets alexnet \
  --build="$build" --data="$scratch/data" --threads=1 --iterations=100000 \
  > ended.out 2>&1 &
for _ in $(seq 600); do
  ! grep -qs 'Iteration 8' "$log" || break
  sleep 0.1
done
kill "$!"
wait "$!" && die "it did not end"
[ ! -e "$(dirname "$log")/result.json" ] || die "it was taken for done"
grep -q 'Snapshotting solver state' "$log" || die "there is no snapshot"
grep -q 'stopped early' "$log" || die "the training was killed"

# A sanitized library wants to be loaded first, before Python.
if grep -q '^CAFFE_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then
  echo "error_model: left out, Python does not load sanitized libraries"
else
  run error_model
fi

# What matplotlib drew.
if "$python" -c 'import matplotlib' 2> /dev/null; then
  for name in figure2 tolerance_alexnet; do
    grep -q '</svg>' "data/smoke/$name.svg" || die "there is no $name.svg"
  done
fi

# Without data, one sentence says what to do.
if [ ! -e "$project_dir/examples/imagenet/ilsvrc12_train_lmdb" ]; then
  if "$python" "$project_dir/scripts/reproduce/zeros.py" --full \
    --build="$build" --data="$scratch/data" 2> full.err; then
    die "--full does without ImageNet"
  fi
  grep -q 'create_imagenet.sh' full.err || die "it does not say what to do"
fi
echo "all experiments run"
