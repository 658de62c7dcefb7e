#!/usr/bin/env python3
"""Compares the time of a forward and a backward pass with PyTorch's.

    scripts/benchmark/compare_pytorch.py [--net alexnet] [--batch 64] ...

Takes the nets from models/, feeds them made-up data, and lets `caffe time` and
PyTorch (the same net on the same shapes, default layout, training mode) run in
turn for some rounds, so that both see the same load of the machine. Run it
with a Python that has torch:

    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch
    /tmp/torch/bin/python scripts/benchmark/compare_pytorch.py

Exits with 1 when a net takes more than --limit times as long as in PyTorch.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(PROJECT, 'models'))
import prototxt

# Folder in models/ and batch size.
NETS = {
    'alexnet': ('bvlc_alexnet', 64),
    'vgg16': ('vgg16', 16),
    'resnet50': ('resnet50', 16),
}


def in_training(layer):
    includes = layer.get('include', [])
    return not includes or any(rule.get('phase') == ['TRAIN']
                               for rule in includes)


def made_up_data(layer, batch):
    """A layer that stands in for one that reads a database."""
    side = layer['transform_param'][0]['crop_size'][0]
    return {
        'name': layer['name'], 'type': ['DummyData'], 'top': layer['top'],
        'dummy_data_param': [{
            'shape': [{'dim': [batch, 3, side, side]}, {'dim': [batch]}],
            # Constants are filled in once, not in every pass.
            'data_filler': [{'type': ['constant'], 'value': [0.5]},
                            {'type': ['constant'], 'value': [1]}],
        }],
    }


def benchmark_net(folder, batch):
    """The training net of a model without the database."""
    path = os.path.join(PROJECT, 'models', folder, 'train_val.prototxt')
    with open(path) as file:
        net = prototxt.parse(file.read())
    net['layer'] = [
        made_up_data(layer, batch) if layer['type'] == ['Data'] else layer
        for layer in net['layer'] if in_training(layer)]
    return prototxt.text(net)


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f'{" ".join(command)} failed:\n{done.stdout}')
    return done.stdout


def time_caffe(options, path):
    output = run([options.caffe, 'time', f'--model={path}',
                  f'--iterations={options.iterations}',
                  f'--threads={options.threads}'])
    return [float(time) for time in
            re.findall(r'forward-backward time: ([\d.e+]+) ms', output)]


def time_pytorch(options, path):
    output = run([sys.executable, os.path.join(HERE, 'torch_net.py'), path,
                  str(options.iterations), str(options.threads)])
    return [float(line) for line in output.split()]


def compare(options, name):
    """Prints a net's line of the table and returns its ratio."""
    folder, batch = NETS[name]
    batch = options.batch or batch
    caffe, pytorch = [], []
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, f'{name}.prototxt')
        with open(path, 'w') as file:
            file.write(benchmark_net(folder, batch))
        for _ in range(options.rounds):
            caffe += time_caffe(options, path)
            pytorch += time_pytorch(options, path)
    # On a busy machine the fastest pass is the least disturbed one.
    ratio = min(caffe) / min(pytorch)
    medians = statistics.median(caffe), statistics.median(pytorch)
    print(f'{name:10} {batch:5} {min(caffe):10.0f} {min(pytorch):10.0f} '
          f'{ratio:6.2f} {medians[0]:10.0f} {medians[1]:10.0f} '
          f'{medians[0] / medians[1]:6.2f}', flush=True)
    return ratio


def parse_options():
    parser = argparse.ArgumentParser(
        description='Compares a forward and backward pass with PyTorch\'s.')
    parser.add_argument('--net', choices=NETS, action='append',
                        help='which net, several times for several; all')
    parser.add_argument('--batch', type=int,
                        help='images at a time; 64 for alexnet, 16 for others')
    parser.add_argument('--rounds', type=int, default=3,
                        help='how often both are started (%(default)s)')
    parser.add_argument('--iterations', type=int, default=3,
                        help='passes each time (%(default)s)')
    parser.add_argument('--threads', type=int, default=2,
                        help='threads of both (%(default)s)')
    parser.add_argument('--limit', type=float, default=1.15,
                        help='the largest ratio that is fine (%(default)s)')
    parser.add_argument('--caffe', help='the program (build/bin/caffe)',
                        default=os.path.join(PROJECT, 'build', 'bin', 'caffe'))
    return parser.parse_args()


def main():
    options = parse_options()
    print('Milliseconds for a forward and a backward pass, '
          f'{options.threads} threads\n')
    print(f'{"":16} {"fastest":>10} {"":>10} {"":6} {"median":>10}')
    print(f'{"net":10} {"batch":>5} {"caffe":>10} {"pytorch":>10} {"ratio":>6} '
          f'{"caffe":>10} {"pytorch":>10} {"ratio":>6}')
    ratios = [compare(options, name) for name in options.net or NETS]
    sys.exit(max(ratios) > options.limit)


if __name__ == '__main__':
    main()
