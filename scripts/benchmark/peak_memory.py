#!/usr/bin/env python3
"""Compares the memory and the time of training with and without compression.

    scripts/benchmark/peak_memory.py [--nets NAME...] [--iterations N] ...

Trains nets of models/ for some iterations on made-up images, in a process with
neither compression nor a plan of memory, and in one with compression, and then,
for the time of an iteration, in one with both in turn (caffe time). Prints, as
Markdown, the peaks of the two processes and the times. Noise packs worse than
images do, so real peaks are rather lower. Times need a quiet machine.

Exits with 1 when the peak of any net is not as many times smaller, or an
iteration takes longer, than was published or asked for.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import compare_pytorch
import markdown

PROJECT = compare_pytorch.PROJECT
sys.path += [os.path.join(PROJECT, folder)
             for folder in ('models', 'scripts/reproduce')]
import logs
import prototxt

# Folder in models/, batch size, by how much the peak must shrink, and how many
# times as long an iteration may take.
NETS = {
    'alexnet': ('bvlc_alexnet', 128, 2.6, 1.10),
    'vgg16': ('vgg16', 16, 3.4, 1.10),
    'resnet18': ('resnet18', 64, 3.8, None),
    'resnet50': ('resnet50', 32, 3.5, 1.17),
}
PEAK_ITERATIONS = 3
MODES = {'off': '', 'on': 'compression {{ {} }}\n'}


def report(text):
    print(text, file=sys.stderr, flush=True)


def noise_of(layer):
    """Two layers for one that makes up data: images that are made anew in every
    iteration, as those of a database are, and labels that stay."""
    shapes = layer['dummy_data_param'][0]['shape']
    fillers = [{'type': 'gaussian', 'std': 50}, {'value': 1}]
    return [{'name': top, 'type': 'DummyData', 'top': top,
             'dummy_data_param': {'shape': shape, 'data_filler': filler}}
            for top, shape, filler in zip(layer['top'], shapes, fillers)]


def write_net(folder, batch, path):
    net = prototxt.parse(compare_pytorch.benchmark_net(folder, batch))
    layers = []
    for layer in net['layer']:
        is_data = layer['type'] == ['DummyData']
        layers += noise_of(layer) if is_data else [layer]
    net['layer'] = layers
    with open(path, 'w') as file:
        file.write(prototxt.text(net))


def write_solver(options, net, mode, folder):
    path = os.path.join(folder, f'{mode}.prototxt')
    with open(path, 'w') as file:
        file.write(f'net: "{net}" base_lr: 0.0001 lr_policy: "fixed" '
                   'momentum: 0.9 weight_decay: 0.0005 random_seed: 1 '
                   f'max_iter: {PEAK_ITERATIONS} '
                   'snapshot_after_train: false\n')
        file.write(MODES[mode].format(options.compression))
    return path


def peak(options, solver):
    """Megabytes of the process at its peak."""
    log = compare_pytorch.run([options.caffe, 'train', f'--solver={solver}',
                               f'--threads={options.threads}'])
    return logs.peak(log)


def times(options, solver):
    """Seconds of an iteration without and with compression."""
    if options.iterations == 0:
        return None
    log = compare_pytorch.run([options.caffe, 'time', f'--solver={solver}',
                               f'--iterations={options.iterations}',
                               f'--threads={options.threads}'])
    return logs.iteration_times(log)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--nets', nargs='+', choices=NETS, default=list(NETS))
    parser.add_argument('--iterations', type=int, default=7,
                        help='how many are timed with and without '
                        'compression; 0: none')
    parser.add_argument('--compression', default='',
                        help='what the solver says in compression { }')
    parser.add_argument('--build', default='build',
                        help='where the tools were built')
    parser.add_argument('--threads', type=int, default=os.cpu_count())
    options = parser.parse_args()
    os.chdir(PROJECT)
    options.caffe = os.path.join(options.build, 'bin/caffe')
    rows = [['net', 'batch', 'peak off', 'peak on', 'smaller', 'asked',
             'time off', 'time on', 'longer', 'allowed']]
    good = True
    for name in options.nets:
        model, batch, smaller, longer = NETS[name]
        with tempfile.TemporaryDirectory() as folder:
            net = os.path.join(folder, 'net.prototxt')
            write_net(model, batch, net)
            peaks = {}
            for mode in MODES:
                report(f'training {name} with compression {mode}')
                solver = write_solver(options, net, mode, folder)
                peaks[mode] = peak(options, solver)
            report(f'timing {name}')
            seconds = times(options, solver)
        ratio = peaks['off'] / peaks['on']
        good &= ratio >= smaller
        row = [name, str(batch), f"{peaks['off']:.0f} MB",
               f"{peaks['on']:.0f} MB", f'{ratio:.2f}', f'{smaller}']
        if seconds:
            without, with_it = seconds
            good &= not longer or with_it / without <= longer
            row += [f'{without:.2f} s', f'{with_it:.2f} s',
                    f'{with_it / without:.2f}', f'{longer}' if longer else '']
        rows.append(row + [''] * (len(rows[0]) - len(row)))
        # A run that is cut off leaves what it has measured.
        report(', '.join(f'{name} {value}' for name, value
                         in zip(rows[0], rows[-1]) if value))
    markdown.print_table(rows)
    sys.exit(0 if good else 1)


if __name__ == '__main__':
    main()
