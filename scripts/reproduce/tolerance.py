#!/usr/bin/env python3
"""How much error of the gradients training bears, by kind of rounding.

    scripts/reproduce/tolerance.py [--quick | --smoke | --full] [--seeds N]

Trains at tolerances from 0.1 % to 30 %, with NEAREST and with DITHER.
"""

import statistics

import experiment
import variants

TOLERANCES = {'smoke': [0.01, 0.1],
              'quick': [0.001, 0.003, 0.01, 0.03, 0.1, 0.3],
              'full': [0.001, 0.003, 0.01, 0.03, 0.1, 0.3]}
ROUNDINGS = ['NEAREST', 'DITHER']
SETTINGS = ('rounding: {} error_bound {{ tolerance: {} }} '
            'guard {{ action: WARN }}')


def bars(axis, found, what, label_raw):
    """Means and standard deviations over the seeds, by tolerance."""
    for rounding in ROUNDINGS:
        points = []
        for variant, results in found.items():
            kind, _, tolerance = variant.partition('_')
            values = [result[what] for result in results
                      if result[what] is not None]
            if kind == rounding and values:
                points.append([100 * float(tolerance), statistics.mean(values),
                               statistics.pstdev(values)])
        if points:
            x, y, error = zip(*points)
            axis.errorbar(x, y, yerr=error, label=rounding.lower(), marker='o',
                          markersize=3, capsize=3)
    if label_raw:
        raw = statistics.mean(result[what] for result in found['raw'])
        axis.axhline(raw, color='grey', linestyle='--', label='raw')
    axis.set(xscale='log', xlabel='tolerance, %')
    axis.legend()


def main():
    options = experiment.parse(__doc__, default_seeds={'quick': 3})
    settings = {'raw': None}
    for rounding in ROUNDINGS:
        for tolerance in TOLERANCES[options.size]:
            settings[f'{rounding}_{tolerance}'] = SETTINGS.format(
                rounding, tolerance)
    results, tables = {}, []
    for name in options.nets:
        found = variants.summary(variants.run(options, name, settings))
        results[name] = found
        tables.append((
            f'{name}, by rounding and tolerance. Published: 1 % does no harm, '
            '2 % sometimes, and from 5 % AlexNet does not recover (ImageNet, '
            'nearest).',
            variants.rows(found)))

        def paint(axes):
            bars(axes[0], found, 'accuracy', True)
            axes[0].set(title=name, ylabel='accuracy, %')
            bars(axes[1], found, 'ratio', False)
            axes[1].set(ylabel='ratio')
        experiment.draw(options, f'tolerance_{name}', 2, paint)
    experiment.save(options, 'tolerance', results, tables,
                    experiment.command(options, __file__))


if __name__ == '__main__':
    main()
