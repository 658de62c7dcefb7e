#!/usr/bin/env bash
# Trains a tiny net with a log, goes on with it, and looks at what became of it:
# its page in a browser, light and dark, and its curves in TensorBoard. What is
# not installed is not looked at; then the test counts as skipped.
#
#   run_report.sh BUILD PYTHON
set -euo pipefail
. "$(dirname "$0")/../common.sh"

caffe=${1:?the folder of the build}/bin/caffe
python=${2:?a Python}
checks=$project_dir/scripts/tests/check_report.py
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export OMP_NUM_THREADS=1
skipped=

cat > net.prototxt << 'END'
name: "A <tiny> net"
layer { name: "data" type: "DummyData" top: "data" top: "label"
        dummy_data_param { shape { dim: 8 dim: 3 dim: 16 dim: 16 }
                           shape { dim: 8 }
                           data_filler { type: "gaussian" }
                           data_filler { value: 1 } } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
        convolution_param { num_output: 8 kernel_size: 3 pad: 1
                            weight_filler { type: "xavier" } } }
layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }
layer { name: "a_convolution_with_quite_a_long_name/and_a_part/7x7_reduce"
        type: "Convolution" bottom: "conv1" top: "conv2"
        convolution_param { num_output: 8 kernel_size: 3 pad: 1
                            weight_filler { type: "xavier" } } }
layer { name: "scores" type: "InnerProduct" bottom: "conv2" top: "scores"
        inner_product_param { num_output: 5
                              weight_filler { type: "xavier" } } }
layer { name: "accuracy" type: "Accuracy" bottom: "scores" bottom: "label"
        top: "accuracy" include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "scores" bottom: "label"
        top: "loss" }
END
write_solver() {
  cat > solver.prototxt << END
net: "net.prototxt" base_lr: 0.001 lr_policy: "fixed" momentum: 0.9
display: 1 average_loss: 4 max_iter: $1 test_iter: 1 test_interval: 4
snapshot: 10 snapshot_prefix: "tiny" random_seed: 3 solver_mode: CPU
compression { verify_interval: 5 }
END
}
train() {
  "$caffe" train --solver=solver.prototxt --run_dir=run --tensorboard "$@" \
    > log 2>&1 || { cat log; die "training failed"; }
}

write_solver 10
train
# As a run that was killed leaves it.
printf '{"event":"display","iteration":12,"lo' >> run/events.jsonl
write_solver 20
train --snapshot=auto
"$caffe" report run
"$python" "$checks" log run/events.jsonl
for file in used_net used_solver; do
  [ -s "run/$file.prototxt" ] || die "there is no $file.prototxt"
done

browser=$(command -v chromium || command -v chromium-browser ||
  command -v google-chrome || true)
if [ -n "$browser" ]; then
  "$python" "$checks" page run/report.html "$browser"
else
  skipped+=" the page, as there is no chromium;"
fi

board=$project_dir/.cache/tensorboard/bin/python
[ -x "$board" ] || board=$python
if "$board" -c 'import tensorboard' 2> /dev/null; then
  "$board" "$checks" tensorboard run
else
  skipped+=" the curves, as there is no tensorboard;"
fi

[ -z "$skipped" ] || {
  echo "not looked at:$skipped"
  exit 77
}
