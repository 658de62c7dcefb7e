#!/usr/bin/env python3
"""Measures the codec sz on activations of nets trained on real images.

    scripts/benchmark/codec_acceptance.py [--repeats 5] [--nets NAME...] ...

Trains four nets for a while, two on CIFAR-10 and two on ELPV at 224 x 224 or so
(up to an hour on two processors), writes the activations of the next iteration
to files, lets codec_bench compress them, and prints, as Markdown, ratios for
each net and whether they are what is asked of sz. All that takes time is kept
in data/codec_acceptance: a run that was stopped goes on, and once everything is
there a run only compresses, which takes a minute.

Speeds are for information: they are as good as the machine is quiet. Exits with
1 when a ratio is too low.
"""

import argparse
import csv
import glob
import os
import subprocess
import sys
from collections import defaultdict

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(PROJECT, 'models'))
import prototxt
from markdown import print_table

# The example with the solver, and after how many iterations to look.
NETS = {
    'cifar10_quick': ('cifar10', 'cifar10_quick_solver.prototxt', 4000),
    'cifar10_resnet20': ('cifar10', 'cifar10_resnet20_short_solver.prototxt',
                         500),
    'elpv_alexnet': ('elpv', 'elpv_alexnet_solver.prototxt', 246),
    'elpv_resnet18': ('elpv', 'elpv_resnet18_solver.prototxt', 123),
}

DENSE, FAST = 'sz-dense', 'sz-fast'
ENTROPY, ZSTD = '(order-0 entropy)', '(quantise + zstd -1)'
CODECS = [DENSE, DENSE + '-dither', FAST, FAST + '-dither', ENTROPY, ZSTD]
BOUNDS = ['0.1', '0.01']

# What is asked over all nets: the bound, the codec whose ratio it is about,
# the one it is divided by, and how large that has to be.
RATIOS = [
    ('0.1', DENSE, ZSTD, 1.1),
    ('0.1', DENSE, ENTROPY, 1.3),
    ('0.01', DENSE, ENTROPY, 1.12),
    ('0.1', FAST, DENSE, 0.7),
]

# One thread at 0.1: the codec, the direction, and the part of memcpy's speed.
SPEEDS = [
    (DENSE, 'pack', 0.12),
    (DENSE, 'unpack', 0.25),
    (FAST, 'pack', 0.4),
    (FAST, 'unpack', 0.8),
]

# Values of a tensor of 64 KB.
SMALL = 16384


class Sums:
    """Bytes and seconds of one codec over several tensors."""

    def __init__(self):
        self.raw = self.packed = 0
        self.seconds = defaultdict(float)

    def add(self, line):
        raw = float(line['raw_bytes'])
        self.raw += raw
        self.packed += float(line['packed_bytes'])
        for name, value in line.items():
            if '_gbs' in name and float(value) > 0:
                self.seconds[name] += raw / float(value) / 1e9

    def ratio(self):
        return self.raw / self.packed

    def speed(self, direction):
        """Of one thread, over that of copying the same tensors."""
        return self.seconds['copy_gbs'] / self.seconds[f'{direction}_gbs']

    def gbs(self, direction):
        return self.raw / self.seconds[f'{direction}_gbs'] / 1e9

    def speedup(self, direction):
        return (self.seconds[f'{direction}_gbs'] /
                self.seconds[f'{direction}_gbs_all'])


def run(command, log=None):
    """Runs a program; shows the end of its output when it fails."""
    if log:
        with open(log, 'w') as file:
            done = subprocess.run(command, stdout=file,
                                  stderr=subprocess.STDOUT)
        with open(log) as file:
            output = file.read()
    else:
        done = subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        output = done.stdout
    if done.returncode != 0:
        sys.exit(f'{" ".join(command)} failed:\n{output[-2000:]}')


def report(text):
    print(text, file=sys.stderr, flush=True)


def train(options, solver, arguments, log):
    run([options.caffe, 'train', f'--solver={solver}',
         f'--threads={options.threads}', *arguments], log)


def write_solver(options, net, name, **changes):
    """A solver of the examples that keeps its files in the net's folder."""
    example, file_name, iterations = NETS[net]
    with open(os.path.join('examples', example, file_name)) as file:
        solver = prototxt.parse(file.read())
    path = os.path.join(options.data, net, name)
    solver.update({'snapshot_prefix': os.path.join(options.data, net, net),
                   'snapshot': iterations // 4, 'random_seed': 1,
                   'test_initialization': False, **changes})
    with open(path, 'w') as file:
        file.write(prototxt.text(solver))
    return path


def capture(options, net):
    """Sees to it that the activations of a net are in files, and returns the
    folder."""
    example, _, iterations = NETS[net]
    folder = os.path.join(options.data, net)
    tensors = os.path.join(folder, 'activations')
    if os.path.exists(os.path.join(tensors, 'index.csv')):
        return tensors
    run([f'examples/{example}/create_{example}.sh'])
    os.makedirs(folder, exist_ok=True)
    report(f'training {net}: {iterations} iterations '
           f'(log: {folder}/train.log)')
    solver = write_solver(options, net, 'train.prototxt', max_iter=iterations,
                          test_interval=iterations)
    train(options, solver, ['--snapshot=auto'],
          os.path.join(folder, 'train.log'))
    solver = write_solver(options, net, 'capture.prototxt',
                          max_iter=iterations + 1, test_interval=0,
                          test_iter=[], snapshot_after_train=False)
    state = os.path.join(folder, f'{net}_iter_{iterations}.solverstate')
    train(options, solver,
          [f'--snapshot={state}', f'--dump_activations={tensors}',
           f'--dump_at={iterations}'], os.path.join(folder, 'capture.log'))
    # Half a gigabyte each with AlexNet.
    for snapshot in glob.glob(os.path.join(folder, f'{net}_iter_*')):
        os.remove(snapshot)
    return tensors


def bench(options, path, arguments):
    """Lets codec_bench write to `path`, and returns one Sums a codec."""
    run([options.codec_bench, *arguments, f'--threads={options.threads}',
         f'--csv={path}'])
    sums = defaultdict(Sums)
    with open(path) as file:
        for line in csv.DictReader(file):
            sums[line['codec']].add(line)
    return sums


def total(all_sums):
    result = defaultdict(Sums)
    for sums in all_sums:
        for codec, of_codec in sums.items():
            result[codec].raw += of_codec.raw
            result[codec].packed += of_codec.packed
            for name, seconds in of_codec.seconds.items():
                result[codec].seconds[name] += seconds
    return result


def print_ratios(bound, results):
    """`results` has Sums for each net and codec."""
    rows = [['net', 'MB'] + CODECS]
    for net, sums in results.items():
        rows.append([net, f'{sums[DENSE].raw / 1e6:.0f}'] +
                    [f'{sums[codec].ratio():.2f}' for codec in CODECS])
    print(f'Ratios at a bound of {bound} standard deviations:\n')
    print_table(rows)


def check_ratios(totals):
    """Prints what is asked of ratios, and returns whether all holds."""
    rows = [['ratio of, over that of', 'bound', 'asked', 'measured', 'holds']]
    all_hold = True
    for bound, codec, other, least in RATIOS:
        measured = (totals[bound][codec].ratio() /
                    totals[bound][other].ratio())
        all_hold &= measured >= least
        rows.append([f'{codec}, {other}', bound, f'{least:.2f}',
                     f'{measured:.2f}',
                     'yes' if measured >= least else '**no**'])
    print_table(rows)
    return all_hold


def measure_speeds(options, folders, *arguments):
    path = os.path.join(options.data, 'bench_speed.csv')
    return bench(options, path, [
        *folders, '--codecs=sz', f'--target={options.target}',
        f'--repeats={options.repeats}', *arguments])


def print_speeds(options, folders):
    report('measuring speeds')
    sums = measure_speeds(options, folders)
    small = measure_speeds(options, folders, f'--values={SMALL}')
    rows = [['speed of, over that of', 'asked', 'measured', 'dithered']]

    def add(what, asked, measure):
        """`measure` is given the name of a codec."""
        rows.append([what, asked, f'{measure(codec):.2f}',
                     f'{measure(codec + "-dither"):.2f}'])

    for codec, direction, least in SPEEDS:
        add(f'{codec}, {direction}: itself, memcpy', f'{least:.2f}',
            lambda name: sums[name].speed(direction))
    if options.threads > 1:
        for codec, direction, _ in SPEEDS:
            add(f'{codec}, {direction}: {options.threads} threads, one',
                '1.80' if options.threads == 2 else '-',
                lambda name: sums[name].speedup(direction))
    for codec, direction, _ in SPEEDS:
        add(f'{codec}, {direction}: 64 KB, whole tensors', '0.50',
            lambda name: small[name].gbs(direction) / sums[name].gbs(direction))
    print(f'Speeds at 0.1, the best of {options.repeats}, with '
          f'{options.target}:\n')
    print_table(rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--nets', nargs='+', choices=NETS, default=list(NETS))
    parser.add_argument('--build', default='build',
                        help='where the tools were built')
    parser.add_argument('--data', default='data/codec_acceptance',
                        help='where to keep nets and activations')
    parser.add_argument('--threads', type=int, default=os.cpu_count())
    parser.add_argument('--repeats', type=int, default=0,
                        help='measure speeds too, the best of so many; '
                        'without, only ratios')
    parser.add_argument('--target', default='avx2',
                        help='the SIMD target whose speed is measured')
    options = parser.parse_args()
    options.caffe = os.path.join(options.build, 'bin/caffe')
    options.codec_bench = os.path.join(options.build, 'bin/codec_bench')
    os.chdir(PROJECT)
    for tool in options.caffe, options.codec_bench:
        if not os.path.exists(tool):
            sys.exit(f'{tool} is not there: build the tools first')
    os.environ['BUILD'] = options.build  # for the scripts of the examples

    results = {bound: {} for bound in BOUNDS}
    folders = []
    for net in options.nets:
        folders.append(capture(options, net))
        for bound in BOUNDS:
            report(f'compressing {net} at {bound}')
            results[bound][net] = bench(
                options, os.path.join(options.data, net, f'bench_{bound}.csv'),
                [folders[-1], f'--codecs=sz,{ENTROPY},{ZSTD}',
                 f'--relative_bound={bound}', '--repeats=1'])
    totals = {}
    for bound in BOUNDS:
        totals[bound] = total(results[bound].values())
        print_ratios(bound, {**results[bound], 'all': totals[bound]})
    all_hold = check_ratios(totals)
    if options.repeats > 0:
        print_speeds(options, folders)
    sys.exit(0 if all_hold else 1)


if __name__ == '__main__':
    main()
