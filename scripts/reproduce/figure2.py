#!/usr/bin/env python3
"""Accuracy while training, raw and compressed, and the ratio beside it.

    scripts/reproduce/figure2.py [--quick | --smoke | --full] [--nets NAME...]

Uses the trainings of table1.py, or makes them.
"""

import experiment
import logs
import nets
from trainings import train


def curves(options, name):
    net, solver = nets.training(options, name)
    return {mode: train(options, f'{name}/{mode}_1', net, solver, compression)
            for mode, compression in (('raw', None), ('compressed', ''))}


def paint(results):
    def paint_axes(axes):
        for axis, (name, found) in zip(axes, results.items()):
            for mode, style in ('raw', '--'), ('compressed', '-'):
                axis.plot(*zip(*found[mode]['tests']), style, label=mode,
                          marker='o', markersize=3)
            axis.set(title=name, xlabel='iteration', ylabel='accuracy, %')
            axis.legend(loc='lower left')
            other = axis.twinx()
            points = [(row[0], row[1] / row[2])
                      for row in found['compressed']['compression']]
            other.plot(*zip(*points), color='grey', linewidth=0.75)
            other.set(ylabel='ratio')
    return paint_axes


def main():
    options = experiment.parse(__doc__, nets.MODELS)
    results = {name: curves(options, name) for name in options.nets}
    rows = [['net', 'iteration', 'raw', 'compressed', 'difference',
             'ratio so far']]
    for name, found in results.items():
        pairs = zip(found['raw']['tests'], found['compressed']['tests'])
        for (iteration, raw), (_, compressed) in pairs:
            until = [row for row in found['compressed']['compression']
                     if row[0] <= iteration]
            rows.append([name, str(iteration), experiment.percent(raw),
                         experiment.percent(compressed),
                         f'{compressed - raw:+.2f}',
                         experiment.number(logs.ratio({'compression': until}))])
    experiment.save(options, 'figure2', results, [(
        'Accuracy in tests. Published: curves of AlexNet, VGG-16, ResNet-18 '
        'and -50 on ImageNet that lie on each other.', rows)],
        experiment.command(options, __file__))
    experiment.draw(options, 'figure2', len(results), paint(results))


if __name__ == '__main__':
    main()
