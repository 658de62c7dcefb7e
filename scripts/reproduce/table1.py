#!/usr/bin/env python3
"""Accuracy raw and compressed, sizes of activations and how much they shrink.

    scripts/reproduce/table1.py [--quick | --smoke | --full] [--nets NAME...]

Trains the four nets with and without compression. --quick does so on CIFAR-10
with a quarter of the channels, and then trains the nets in models/ as they are
on ELPV, --activation_iterations of them with small batches and one with a batch
of 256, for the sizes of their activations.
"""

import os

import experiment
import images
import logs
import nets
from trainings import folder_of, newest_state, report, run_tool, train

# Images of the batches of the nets in models/: at first, and when it counts.
BATCHES = {'smoke': (4, 8), 'quick': (16, 256)}


def accuracies(options, name):
    """Of every seed, the training raw and the one compressed."""
    found = []
    for seed in experiment.seeds(options):
        net, solver = nets.training(options, name, seed)
        found.append([
            train(options, f'{name}/raw_{seed}', net, solver),
            train(options, f'{name}/compressed_{seed}', net, solver, '')])
    return found


def activation_runs(options, name):
    """The net as it is and the result of a training whose last iteration has a
    whole batch."""
    small, whole = options.batches or BATCHES[options.size]
    if options.size == 'smoke':
        net = lambda batch: nets.small_net(name, images.stand_in(options), 16,
                                           batch)
    else:
        net = lambda batch: nets.large_net(name, images.elpv(options), batch)
    first = options.activation_iterations or (
        100 if options.size == 'quick' else 2)
    solver = {'base_lr': nets.MODELS[name].rate / 2, 'lr_policy': 'fixed',
              'momentum': 0.9, 'weight_decay': 0.0005, 'max_iter': first,
              'display': 10, 'snapshot': max(1, first // 4), 'random_seed': 1}
    train(options, f'{name}/activations_begin', net(small), solver, '')
    state = newest_state(folder_of(options, f'{name}/activations_begin'))
    solver.update(max_iter=first + 1, display=1, snapshot=first + 1)
    return net(whole), train(options, f'{name}/activations', net(whole), solver,
                             '', start=state)


def conv_inputs(net, tensors):
    """Megabytes of the tensors that convolutions read, images included: raw and
    as they were stored."""
    names = nets.convolutions(net)
    read = [tensor for tensor in tensors.values()
            if names & set(tensor['readers'])]
    return [sum(tensor[what] for tensor in read) for what in ('raw', 'stored')]


def all_inputs(options, run):
    """Megabytes of the inputs of all convolutions as they were published: with
    the images, and once for every convolution. caffe memory counts them."""
    path = os.path.join(folder_of(options, run), 'solver.prototxt')
    line = run_tool([options.caffe, 'memory',
                     f'--solver={path}']).splitlines()[-1]
    value, unit = line.split(': ')[1].split()
    return float(value) * {'KB': 1e-3, 'MB': 1, 'GB': 1e3}[unit]


def measure(options, name):
    report(f'{name}:')
    pairs = accuracies(options, name)
    found = {
        'raw': [raw['tests'][-1][1] for raw, _ in pairs],
        'compressed': [compressed['tests'][-1][1] for _, compressed in pairs],
        'ratio': [logs.ratio(compressed) for _, compressed in pairs]}
    if options.size == 'full':
        net, last = nets.training(options, name)[0], pairs[0][1]
        run = f'{name}/compressed_1'
    else:
        net, last = activation_runs(options, name)
        run = f'{name}/activations'
    found['inputs_mb'] = all_inputs(options, run)
    found['conv_mb'], found['stored_mb'] = conv_inputs(net, last['activations'])
    return found


def accuracy_row(name, found):
    published = nets.MODELS[name]
    differences = [b - a for a, b in zip(found['raw'], found['compressed'])]
    return [name, experiment.spread(found['raw'], ' %'),
            experiment.spread(found['compressed'], ' %'),
            experiment.spread(differences), experiment.spread(found['ratio']),
            f'{published.raw:.2f} %', f'{published.compressed:.2f} %',
            f'{published.compressed - published.raw:+.2f}']


def size_row(name, found):
    published = nets.MODELS[name]
    conv, stored = found['conv_mb'], found['stored_mb']
    return [name, experiment.number(found['inputs_mb']),
            experiment.number(conv, 2), experiment.number(stored, 2),
            experiment.number(conv / stored if stored else None),
            str(published.megabytes), str(published.ratio)]


def main():
    def add(parser):
        parser.add_argument('--activation_iterations', type=int,
                            help='before activations are measured (100)')
        parser.add_argument('--batches', type=int, nargs=2,
                            help='of these, and of the one that is measured '
                            '(16 256)')
    options = experiment.parse(__doc__, nets.MODELS, add=add)
    results = {name: measure(options, name) for name in options.nets}
    experiment.save(options, 'table1', results, [
        ('Top-1 accuracy without and with compression. "Ratio" is that of all '
         'tensors that are packed, over the whole training.',
         [['net', 'raw', 'compressed', 'difference', 'ratio', 'published raw',
           'published compressed', 'difference']] +
         [accuracy_row(*item) for item in results.items()]),
        ('What convolutions read in a pass, images included, in MB: once for '
         'every convolution, as published; once for every tensor; and as it is '
         'stored. Published figures are for batches of 256. Those of AlexNet '
         'and VGG-16 are the same sums, those of the residual nets are not.',
         [['net', 'inputs', 'tensors', 'stored', 'ratio', 'published inputs',
           'published ratio']] +
         [size_row(*item) for item in results.items()])],
        experiment.command(options, __file__))


if __name__ == '__main__':
    main()
