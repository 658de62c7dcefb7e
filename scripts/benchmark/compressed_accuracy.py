#!/usr/bin/env python3
"""Compares the accuracy of training with and without compression.

    scripts/benchmark/compressed_accuracy.py [--nets NAME...] [--seeds N] ...

Trains nets of examples/cifar10 with their whole schedules, from several seeds,
raw and compressed, and prints, as Markdown, the test accuracies, their mean
difference, and how much smaller the activations were over the run. It takes
hours; what is done is kept in data/compressed_accuracy, and a run that was
stopped goes on where it was.

Exits with 1 when compression costs more than --limit points on any net, or
makes activations less than --ratio times smaller.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(PROJECT, 'models'))
import prototxt
from markdown import print_table

# The solver, what to change in it, and from how many seeds to train.
NETS = {
    # Both of its solver files in one: a tenth of the rate for the last 1000.
    'cifar10_quick': ('cifar10_quick_solver.prototxt', {
        'lr_policy': 'multistep', 'gamma': 0.1, 'stepvalue': 4000,
        'max_iter': 5000, 'test_interval': 5000, 'snapshot': 1000}, 5),
    'cifar10_resnet20': ('cifar10_resnet20_short_solver.prototxt', {
        'test_interval': 2000}, 3),
}
MODES = ['raw', 'compressed']


def report(text):
    print(text, file=sys.stderr, flush=True)


def write_solver(options, net, mode, seed, folder):
    file_name, changes, _ = NETS[net]
    with open(os.path.join('examples/cifar10', file_name)) as file:
        solver = prototxt.parse(file.read())
    solver.update({**changes, 'random_seed': seed,
                   'test_initialization': False,
                   'snapshot_prefix': os.path.join(folder, net)})
    text = prototxt.text(solver)
    if mode == 'compressed':
        text += f'compression {{ {options.compression} }}\n'
    path = os.path.join(folder, 'solver.prototxt')
    with open(path, 'w') as file:
        file.write(text)
    return path


def read_log(path):
    """Accuracy at the end, and raw and packed megabytes of all displays."""
    with open(path) as file:
        log = file.read()
    accuracies = re.findall(r'Test net output #\d+: accuracy = ([\d.e-]+)', log)
    packed = re.findall(r'Compression: ([\d.]+) MB -> ([\d.]+) MB', log)
    finished = 'Optimization Done.' in log
    return {
        'accuracy': 100 * float(accuracies[-1]) if finished else None,
        'raw_mb': sum(float(raw) for raw, _ in packed),
        'packed_mb': sum(float(kept) for _, kept in packed),
    }


def train(options, net, mode, seed):
    """The results of one run, which is only run when it has not been yet."""
    folder = os.path.join(options.data, net, f'{mode}_{seed}')
    result = os.path.join(folder, 'result.json')
    if os.path.exists(result):
        with open(result) as file:
            return json.load(file)
    os.makedirs(folder, exist_ok=True)
    report(f'training {net}, {mode}, seed {seed} (log: {folder}/train.log)')
    solver = write_solver(options, net, mode, seed, folder)
    log = os.path.join(folder, 'train.log')
    with open(log, 'a') as file:
        done = subprocess.run(
            [options.caffe, 'train', f'--solver={solver}', '--snapshot=auto',
             f'--threads={options.threads}'],
            stdout=file, stderr=subprocess.STDOUT)
    found = read_log(log)
    if done.returncode != 0 or found['accuracy'] is None:
        sys.exit(f'training failed; see {log}')
    with open(result + '.tmp', 'w') as file:
        json.dump(found, file)
    os.replace(result + '.tmp', result)
    return found


def compare(options, net):
    """Trains and prints one net; whether it is as good as asked."""
    seeds = range(1, 1 + (options.seeds or NETS[net][2]))
    rows = [['seed', 'raw', 'compressed', 'difference', 'ratio']]
    differences, ratios = [], []
    for seed in seeds:
        raw, compressed = (train(options, net, mode, seed) for mode in MODES)
        differences.append(compressed['accuracy'] - raw['accuracy'])
        ratios.append(compressed['raw_mb'] / compressed['packed_mb'])
        rows.append([str(seed), f"{raw['accuracy']:.2f} %",
                     f"{compressed['accuracy']:.2f} %",
                     f'{differences[-1]:+.2f}', f'{ratios[-1]:.1f}'])
    mean = statistics.mean(differences)
    rows.append(['mean', '', '', f'{mean:+.2f}',
                 f'{statistics.mean(ratios):.1f}'])
    print(f'{net}:\n')
    print_table(rows)
    return mean >= -options.limit and min(ratios) >= options.ratio


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--nets', nargs='+', choices=NETS, default=list(NETS))
    parser.add_argument('--seeds', type=int,
                        help='how many, instead of 5 and 3')
    parser.add_argument('--compression', default='',
                        help='what the solver says in compression { }')
    parser.add_argument('--build', default='build',
                        help='where the tools were built')
    parser.add_argument('--data', default='data/compressed_accuracy',
                        help='where to keep what is done')
    parser.add_argument('--threads', type=int, default=os.cpu_count())
    parser.add_argument('--limit', type=float, default=0.3,
                        help='points that compression may cost on average')
    parser.add_argument('--ratio', type=float, default=10,
                        help='how much smaller activations must be')
    options = parser.parse_args()
    options.caffe = os.path.join(options.build, 'bin/caffe')
    os.chdir(PROJECT)
    if not os.path.exists(options.caffe):
        sys.exit(f'{options.caffe} is not there: build the tools first')
    os.environ['BUILD'] = options.build  # for the scripts of the examples
    subprocess.run(['examples/cifar10/create_cifar10.sh'], check=True,
                   stdout=subprocess.DEVNULL)
    good = [compare(options, net) for net in options.nets]
    sys.exit(0 if all(good) else 1)


if __name__ == '__main__':
    main()
