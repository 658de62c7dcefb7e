#!/usr/bin/env python3
"""Draws curves of training runs. Needs matplotlib.

    scripts/plot_training_log.py 6 loss.png train.log [more.log ...]

Chart types:
"""

import argparse
import itertools
import os
import sys

from parse_log import parse_log

# What, of which table, over which column.
CHARTS = [(title, phase, over)
          for title, phase in (('accuracy', 'Test'), ('loss', 'Test'),
                               ('LearningRate', 'Train'), ('loss', 'Train'))
          for over in ('NumIters', 'Seconds')]


def describe(chart):
    what, phase, over = chart
    what = 'learning rate' if what == 'LearningRate' else what
    return f'{phase} {what} vs. {"Iters" if over == "NumIters" else over}'


def usage():
    charts = '\n'.join(f'    {number}: {describe(chart)}'
                       for number, chart in enumerate(CHARTS))
    return __doc__ + charts


def columns_of(rows, what):
    """The columns that hold an accuracy or a loss, whatever they are called."""
    names = dict.fromkeys(name for row in rows for name in row)
    if what in names:
        return [what]
    return [name for name in names if what in name.lower()]


def main():
    parser = argparse.ArgumentParser(
        description=usage(),
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('chart_type', type=int, choices=range(len(CHARTS)))
    parser.add_argument('output', help='the picture: .png, .svg, .pdf, ...')
    parser.add_argument('logs', nargs='+', help='logs of caffe train')
    args = parser.parse_args()

    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot

    chart = CHARTS[args.chart_type]
    what, phase, over = chart
    markers = itertools.cycle('osv^D*')
    drawn = 0
    for log in args.logs:
        train, test = parse_log(log)
        rows = train if phase == 'Train' else test
        for name in columns_of(rows, what):
            points = [(row[over], row[name]) for row in rows if name in row]
            label = os.path.basename(log)
            if name != what:
                label += f' ({name})'
            pyplot.plot(*zip(*points), label=label, linewidth=0.75,
                        marker=next(markers), markersize=3)
            drawn += 1
    if drawn == 0:
        sys.exit(f'plot_training_log.py: no log has a {describe(chart)}')
    pyplot.title(describe(chart))
    pyplot.xlabel('Iters' if over == 'NumIters' else over)
    pyplot.ylabel(describe(chart).split(' vs.')[0])
    pyplot.legend()
    pyplot.savefig(args.output)


if __name__ == '__main__':
    main()
