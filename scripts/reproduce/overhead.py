#!/usr/bin/env python3
"""How much longer training takes with compression.

    scripts/reproduce/overhead.py [--quick | --smoke | --full] [--nets NAME...]

Times iterations with and without compression in turn, at the same batch; then
training with compression at the largest batch (a power of two) that fits into
what the net takes without. Needs a quiet machine. --full takes the batches of
the publication and images of ImageNet, --quick batches for some gigabytes of
memory and ELPV's.
"""

import os
import re

import experiment
import images
import logs
import nets
from trainings import (folder_of, prepare, read_json, report, run_tool, train,
                       write_json)

# Images of a batch.
BATCHES = {
    'smoke': dict.fromkeys(nets.MODELS, 8),
    'quick': {'alexnet': 128, 'vgg16': 16, 'resnet18': 64, 'resnet50': 32},
    'full': {'alexnet': 256, 'vgg16': 32, 'resnet18': 128, 'resnet50': 64},
}
LARGEST = {'smoke': 32, 'quick': 1024, 'full': 2048}
# Published: percent that an iteration takes longer; 17 where nothing else is
# said.
LONGER = {'vgg16': 11.5}

SOLVER = {'base_lr': 0.0001, 'lr_policy': 'fixed', 'momentum': 0.9,
          'weight_decay': 0.0005, 'random_seed': 1,
          'snapshot_after_train': False}
# Of the trainings whose memory and speed is measured. Bounds are assessed, and
# errors measured, in the first of them, and in the last, which is displayed.
ITERATIONS = 10


def net_of(options, name, batch):
    if options.size == 'smoke':
        return nets.small_net(name, images.stand_in(options), 16, batch)
    if options.size == 'quick':
        return nets.large_net(name, images.elpv(options), batch)
    net, _ = nets.training(options, name)
    return nets.with_batch(net, batch)


def alternate(options, name, batch):
    """Seconds of an iteration without and with compression, in turn."""
    folder = folder_of(options, f'{name}/time_{batch}')
    solver = prepare(folder, net_of(options, name, batch),
                     {**SOLVER, 'max_iter': ITERATIONS}, '')
    path = os.path.join(folder, 'times.json')
    if not os.path.exists(path):
        report(f'timing {name} with batches of {batch}')
        write_json(path, logs.iteration_times(run_tool(
            [options.caffe, 'time', f'--solver={solver}',
             f'--iterations={options.timed}', f'--threads={options.threads}'])))
    return read_json(path)


def short(options, name, mode, batch):
    """A short training, for its memory and speed."""
    compression = '' if mode == 'compressed' else None
    return train(options, f'{name}/short_{mode}_{batch}',
                 net_of(options, name, batch),
                 {**SOLVER, 'max_iter': ITERATIONS + 1, 'display': ITERATIONS},
                 compression)


def largest_batch(options, name, batch, budget_mb):
    """With compression, within what training takes without; by the forecast of
    caffe memory, corrected by what one iteration takes."""
    solver = os.path.join(folder_of(options, f'{name}/time_{batch}'),
                          'solver.prototxt')
    text = run_tool([options.caffe, 'memory', f'--solver={solver}', '--measure',
                     f'--memory_budget={budget_mb:.0f}MB',
                     f'--threads={options.threads}'])
    found = re.search(r'a power of two +(\S+) +(\S+) +(\d+)', text)
    larger = int(found.group(3)) if found else batch
    return min(max(larger, batch), LARGEST[options.size])


def measure(options, name):
    batch = BATCHES[options.size][name]
    without, with_it = alternate(options, name, batch)
    raw = short(options, name, 'raw', batch)
    small = short(options, name, 'compressed', batch)
    larger = largest_batch(options, name, batch, raw['peak_mb'])
    result = short(options, name, 'compressed', larger)
    return {
        'batch': batch, 'without_s': without, 'with_s': with_it,
        'raw_mb': raw['peak_mb'], 'compressed_mb': small['peak_mb'],
        'larger_batch': larger, 'larger_mb': result['peak_mb'],
        'images_per_s': batch / raw['seconds_per_iteration'],
        'compressed_images_per_s': batch / small['seconds_per_iteration'],
        'larger_images_per_s': larger / result['seconds_per_iteration']}


def main():
    def add(parser):
        parser.add_argument('--timed', type=int, default=5,
                            help='iterations to time in turn (%(default)s)')
    options = experiment.parse(__doc__, nets.MODELS, add=add)
    results = {name: measure(options, name) for name in options.nets}
    equal = [['net', 'batch', 'without', 'with', 'longer', 'published']]
    grown = [['net', 'batch', 'raw', 'compressed', 'larger batch', 'compressed',
              'peak raw', 'peak compressed', 'peak at the larger batch']]
    for name, found in results.items():
        longer = found['with_s'] / found['without_s'] - 1
        equal.append([name, str(found['batch']), f"{found['without_s']:.3f} s",
                      f"{found['with_s']:.3f} s", f'{100 * longer:.1f} %',
                      f'{LONGER.get(name, 17)} %'])
        grown.append([name, str(found['batch'])] + [
            f'{found[key]:.1f} images/s' for key in
            ('images_per_s', 'compressed_images_per_s')] + [
            str(found['larger_batch']),
            f"{found['larger_images_per_s']:.1f} images/s"] + [
            f'{found[key]:.0f} MB' for key in
            ('raw_mb', 'compressed_mb', 'larger_mb')])
    experiment.save(options, 'overhead', results, [
        ('An iteration at the same batch: medians, in turn.', equal),
        (f'Speed over {ITERATIONS} iterations, and the memory of the process. '
         'In four or five of them bounds are assessed or errors measured, '
         'which takes time; in a long training they are few.', grown)],
        experiment.command(options, __file__))


if __name__ == '__main__':
    main()
