#!/usr/bin/env python3
"""Whether errors of weights' gradients are as large as predicted, and normal.

    scripts/reproduce/error_model.py [--quick | --smoke | --full]

Trains with compression and compares, every so often, the standard deviation
that is predicted for the error of each layer's gradient with that of the error
itself (verify_interval). Then it runs one iteration from the last snapshot
twice, raw and compressed, on the same images, and looks at how the differences
of all gradients are distributed. That needs the package caffe in BUILD/python,
with numpy.
"""

import math
import os
import statistics
import sys

import experiment
import nets
from trainings import (folder_of, newest_state, prepare, read_json, report,
                       train, write_json)

INTERVALS = {'smoke': 2, 'quick': 50, 'full': 1000}
# So many differences of a layer are looked at, evenly spread.
SAMPLES = 1 << 20
BINS = 61


def import_caffe(options):
    sys.path.insert(0, os.path.join(options.build, 'python'))
    os.environ.setdefault('GLOG_minloglevel', '2')
    try:
        import numpy
        import caffe
    except ImportError as error:
        report(f'no distributions without the package caffe: {error}')
        return None, None
    return numpy, caffe


def gradients(caffe, solver, state):
    """The gradients of all weights in the iteration after a snapshot, before
    they are used."""
    trained = caffe.get_solver(solver)
    trained.restore(state)
    found = {}

    def keep():
        for layer, blobs in trained.net.params.items():
            if blobs[0].data.ndim > 1:
                found[layer] = blobs[0].diff.copy()
    trained.add_callback(lambda: None, keep)
    trained.step(1)
    return found


def sample(values):
    """Some of an array's values, evenly spread."""
    return values.ravel()[::1 + (values.size - 1) // SAMPLES]


def distance_to_normal(numpy, scaled):
    """That of Kolmogorov and Smirnov: the largest difference between the
    distribution functions of these values and of the normal distribution."""
    values = numpy.sort(scaled)
    erf = numpy.vectorize(math.erf)
    normal = (1 + erf(values / math.sqrt(2))) / 2
    steps = numpy.arange(len(values) + 1) / len(values)
    return float(max((steps[1:] - normal).max(), (normal - steps[:-1]).max()))


def describe(numpy, errors):
    """How a layer's errors are distributed, all together and those of each
    output channel in deviations of their own: channels may differ in size and
    still be normal each."""
    errors = errors.reshape(len(errors), -1).astype(numpy.float64)
    deviations = numpy.sqrt((errors ** 2).mean(axis=1))
    if not deviations.any():
        return None
    errors, deviations = errors[deviations > 0], deviations[deviations > 0]
    together = sample(errors)
    by_channel = sample(errors / deviations[:, None])
    counts, edges = numpy.histogram(by_channel, BINS, (-5, 5), density=True)
    return {
        'values': len(by_channel), 'mean': together.mean(),
        'sigma': together.std(),
        'distance_together': distance_to_normal(
            numpy, (together - together.mean()) / together.std()),
        'skewness': (by_channel ** 3).mean(),
        'kurtosis': (by_channel ** 4).mean() - 3,
        'within_sigma': (abs(by_channel) <= 1).mean(),
        'distance': distance_to_normal(numpy, by_channel),
        # Normal values are farther away once in twenty times.
        'expected_distance': 0.895 / math.sqrt(len(by_channel)),
        'histogram': [list(edges), list(counts)]}


def distributions(options, name, net, solver, run):
    folder = folder_of(options, f'{name}/gradients')
    state = newest_state(folder_of(options, run))
    without_tests = {field: value for field, value in solver.items()
                     if not field.startswith('test_')}
    solvers = {mode: prepare(os.path.join(folder, mode), net,
                             {**without_tests, 'display': 0, 'snapshot': 0},
                             compression)
               for mode, compression in (('raw', None), ('compressed', ''))}
    path = os.path.join(folder, 'distributions.json')
    if not os.path.exists(path):
        numpy, caffe = import_caffe(options)
        if caffe is None:
            return {}
        report(f'running {name} raw and compressed from {state}')
        raw, compressed = (gradients(caffe, solvers[mode], state)
                           for mode in ('raw', 'compressed'))
        found = {layer: describe(numpy, compressed[layer] - raw[layer])
                 for layer in raw}
        write_json(path, {layer: value for layer, value in found.items()
                          if value is not None})
    return read_json(path)


def measure(options, name):
    net, solver = nets.training(options, name)
    interval = INTERVALS[options.size]
    run = f'{name}/verified'
    result = train(options, run, net, solver, f'verify_interval: {interval}')
    return {'sigmas': [row for row in result['sigmas'] if row[2] > 0],
            'distributions': distributions(options, name, net, solver, run)}


def sigma_rows(sigmas):
    rows = [['layer', 'times', 'median of measured / predicted', 'least',
             'most']]
    for layer in dict.fromkeys(row[1] for row in sigmas):
        ratios = [row[3] / row[2] for row in sigmas if row[1] == layer]
        rows.append([layer, str(len(ratios))] + [
            f'{f(ratios):.3f}' for f in (statistics.median, min, max)])
    return rows


def distribution_rows(found):
    rows = [['layer', 'values', 'mean / sigma', 'distance together', 'skewness',
             'excess kurtosis', 'within a sigma', 'distance',
             'of normal values']]
    for layer, value in found.items():
        rows.append([
            layer, str(value['values']),
            f"{value['mean'] / value['sigma']:.4f}",
            f"{value['distance_together']:.4f}", f"{value['skewness']:.3f}",
            f"{value['kurtosis']:.3f}", f"{100 * value['within_sigma']:.1f} %",
            f"{value['distance']:.4f}", f"{value['expected_distance']:.4f}"])
    return rows


def paint(found):
    def paint_axes(axes):
        layers = dict.fromkeys(row[1] for row in found['sigmas'])
        for layer in layers:
            points = [(row[2], row[3]) for row in found['sigmas']
                      if row[1] == layer]
            axes[0].plot(*zip(*points), 'o', markersize=3, label=layer)
        ends = [f(row[2] for row in found['sigmas']) for f in (min, max)]
        axes[0].plot(ends, ends, color='grey', linewidth=0.75)
        axes[0].set(xscale='log', yscale='log', xlabel='sigma predicted',
                    ylabel='sigma measured')
        if len(layers) <= 12:
            axes[0].legend(fontsize='small')
        x = [-5 + i / 10 for i in range(101)]
        for layer, value in found['distributions'].items():
            edges, density = value['histogram']
            centres = [(a + b) / 2 for a, b in zip(edges, edges[1:])]
            axes[1].plot(centres, density, linewidth=0.75, label=layer)
        axes[1].plot(x, [math.exp(-v * v / 2) / math.sqrt(2 * math.pi)
                         for v in x], 'k--', label='normal')
        axes[1].set(xlabel='error / sigma of its channel', ylabel='density')
        if len(layers) <= 12:
            axes[1].legend(fontsize='small')
    return paint_axes


def main():
    options = experiment.parse(__doc__)
    results, tables = {}, []
    for name in options.nets:
        found = results[name] = measure(options, name)
        tables.append((
            f'{name}: standard deviation of the error of the weights\' '
            'gradient, measured over predicted, every '
            f'{INTERVALS[options.size]} iterations. Published: a formula with '
            'an empirical coefficient.',
            sigma_rows(found['sigmas'])))
        if found['distributions']:
            tables.append((
                f'{name}: how the errors of one iteration\'s gradients are '
                'distributed: all together, and then those of each output '
                'channel over their own sigma. Of normal values, 68.3 % are '
                'within a sigma, and the distance of Kolmogorov and Smirnov is '
                'above the last column once in twenty times. Published: '
                'normal.',
                distribution_rows(found['distributions'])))
        experiment.draw(options, f'error_model_{name}', 2, paint(found))
    experiment.save(options, 'error_model', results, tables,
                    experiment.command(options, __file__))


if __name__ == '__main__':
    main()
