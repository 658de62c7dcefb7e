"""What all experiments share: their options, and tables and pictures of what
they found."""

import argparse
import contextlib
import os
import statistics
import sys

import nets
from trainings import PROJECT, report, write_json

sys.path.insert(0, os.path.join(PROJECT, 'scripts/benchmark'))
import markdown


def parse(doc, default_nets=('alexnet',), default_seeds=None, add=None):
    """The options of an experiment; `doc` is what --help says. `default_seeds`
    are how many there are by size; add(parser) adds options of its own."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group()
    for name, text in (
            ('quick', 'on CIFAR-10 and ELPV, within an hour or so (default)'),
            ('smoke', 'seconds, on made-up images: whether it runs at all'),
            ('full', 'on ImageNet, as published')):
        size.add_argument(f'--{name}', dest='size', action='store_const',
                          const=name, help=text)
    parser.set_defaults(size='quick')
    parser.add_argument('--nets', nargs='+', choices=nets.MODELS,
                        default=list(default_nets))
    parser.add_argument('--seeds', type=int, help='how many to train from')
    parser.add_argument('--iterations', type=int,
                        help='of a training, instead of what the size says')
    parser.add_argument('--build', default='build',
                        help='where the tools were built (%(default)s)')
    parser.add_argument('--data', default='data/reproduce',
                        help='where to keep what is done (%(default)s)')
    parser.add_argument('--threads', type=int, default=os.cpu_count())
    parser.add_argument('--progress', type=float, default=30,
                        help='seconds between two lines on how far a training '
                        'is (%(default)s)')
    if add:
        add(parser)
    options = parser.parse_args()
    # Relative to where the caller is, not to the project.
    options.data = os.path.abspath(options.data)
    options.build = os.path.abspath(options.build)
    os.chdir(PROJECT)
    options.folder = os.path.join(options.data, options.size)
    options.caffe = os.path.join(options.build, 'bin/caffe')
    if options.seeds is None:
        options.seeds = (default_seeds or {}).get(options.size, 1)
    if not os.path.exists(options.caffe):
        sys.exit(f'{options.caffe} is not there: build the tools first')
    os.makedirs(options.folder, exist_ok=True)
    return options


def seeds(options):
    return range(1, 1 + options.seeds)


def percent(value):
    return '-' if value is None else f'{value:.2f} %'


def number(value, digits=1):
    return '-' if value is None else f'{value:.{digits}f}'


def spread(values, unit=''):
    """Mean and, of several, standard deviation."""
    values = [value for value in values if value is not None]
    if not values:
        return '-'
    text = f'{statistics.mean(values):.2f}{unit}'
    if len(values) > 1:
        text += f' ± {statistics.stdev(values):.2f}'
    return text


def save(options, name, results, tables, command):
    """Writes NAME.json and NAME.md, and prints the latter. `tables` are pairs
    of a text and rows, the first of which is the head."""
    write_json(os.path.join(options.folder, f'{name}.json'), results)
    path = os.path.join(options.folder, f'{name}.md')
    with open(path, 'w') as file, contextlib.redirect_stdout(file):
        print(f'Made with `{command}`.\n')
        for text, rows in tables:
            print(text + '\n')
            markdown.print_table(rows)
    with open(path) as file:
        print(file.read(), end='')
    report(f'written: {path}')


def command(options, script):
    return f'scripts/reproduce/{os.path.basename(script)} --{options.size}'


def draw(options, name, panels, paint):
    """Writes NAME.svg: paint(axes) draws into a row of `panels` pairs of axes.
    Without matplotlib there is no picture."""
    try:
        import matplotlib
    except ImportError:
        report(f'without matplotlib there is no {name}.svg')
        return
    matplotlib.use('Agg')
    # The same picture for the same numbers.
    matplotlib.rcParams['svg.hashsalt'] = name
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, panels, figsize=(5.5 * panels, 4),
                                   squeeze=False)
    paint(list(axes[0]))
    figure.tight_layout()
    path = os.path.join(options.folder, f'{name}.svg')
    figure.savefig(path, metadata={'Date': None})
    pyplot.close(figure)
    report(f'written: {path}')
