"""Reads the logs of `caffe train` and `caffe time`."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
from parse_log import ITERATION, parse_log

COMPRESSION = re.compile(
    r'Compression: ([\d.]+) MB -> ([\d.]+) MB, ratio ([\d.]+)')
PEAK = re.compile(r'of the process: ([\d.]+) MB')
ERRORS = re.compile(r"Errors of the weights' gradients in iteration (\d+)")
SPEED = re.compile(r'Iteration (\d+) \(\S+ iter/s, ([\d.e+-]+)s/(\d+) iters\)')


def _text(line):
    """A line of the log without time and place."""
    return line.partition('] ')[2].rstrip('\n')


def _rows(lines):
    """The rows of a table in the log, as dictionaries: cells are two blanks
    apart at least. `lines` come after the table's title."""
    head = None
    for line in lines:
        text = _text(line)
        cells = re.split(r' {2,}', text.strip())
        if not text.startswith('    '):
            return
        if head is None:
            head = cells
        elif len(cells) == len(head):
            yield dict(zip(head, cells))
        else:
            return


def _number(text):
    """'3.25 MB' -> 3.25; None for '-'."""
    try:
        return float(text.split()[0])
    except ValueError:
        return None


def compressions(lines):
    """[iteration, raw MB, packed MB] of every display."""
    found, iteration = {}, 0
    for line in lines:
        match = ITERATION.search(line)
        if match:
            iteration = int(match.group(1))
        match = COMPRESSION.search(line)
        if match:
            found[iteration] = [iteration, float(match.group(1)),
                                float(match.group(2))]
    return list(found.values())


def activations(lines):
    """What became of each tensor, from the table at the end: {tensor: {readers,
    kept, bound, raw, stored}}, in MB of a pass."""
    tensors = {}
    for i, line in enumerate(lines):
        if 'What became of the activations' not in line:
            continue
        tensors = {}
        for row in _rows(lines[i + 1:]):
            tensor = tensors.setdefault(row['tensor'], {
                'readers': [], 'kept': row['kept'],
                'bound': _number(row['bound']),
                'raw': _number(row['raw']), 'stored': _number(row['stored'])})
            tensor['readers'].append(row['read by'])
    return tensors


def sigmas(lines):
    """[iteration, layer, predicted, measured] of all verified iterations."""
    found = []
    for i, line in enumerate(lines):
        match = ERRORS.search(line)
        if match:
            found += [[int(match.group(1)), row['layer'],
                       float(row['sigma predicted']),
                       float(row['sigma measured'])]
                      for row in _rows(lines[i + 1:])]
    return found


def seconds_per_iteration(lines):
    """Of the last display, over all iterations since the one before; None where
    there were not two."""
    found = [match.groups() for match in map(SPEED.search, lines) if match]
    if len(found) < 2:
        return None
    return float(found[-1][1]) / int(found[-1][2])


def iteration_times(text):
    """Seconds of an iteration without and with compression, of caffe time."""
    return [float(re.findall(rf'    {name}: +([\d.e+]+) ms', text)[-1]) / 1000
            for name in ('without', 'with')]


def peak(text):
    """Megabytes of the process at its peak."""
    return float(PEAK.findall(text)[-1])


def is_finished(lines):
    """Whether the last of the runs that wrote to a log came to its end."""
    starts = [i for i, line in enumerate(lines) if 'Starting Optim' in line
              or 'Resuming from' in line]
    last = ''.join(lines[starts[-1]:] if starts else lines)
    return 'Optimization Done.' in last and 'stopped early' not in last


def read_training(path):
    """All of a training's log that experiments want, for JSON."""
    with open(path, errors='replace') as file:
        lines = file.readlines()
    train, test = parse_log(path)
    accuracies = [name for row in test for name in row if 'accuracy' in name]
    top1 = accuracies[0] if accuracies else None
    losses = [name for row in train for name in row if 'loss' in name]
    peaks = [float(text) for line in lines for text in PEAK.findall(line)]
    return {
        'finished': is_finished(lines),
        'tests': [[row['NumIters'], 100 * row[top1]] for row in test
                  if top1 in row],
        'losses': [[row['NumIters'], row[losses[0]]] for row in train],
        'compression': compressions(lines),
        'activations': activations(lines),
        'sigmas': sigmas(lines),
        'seconds_per_iteration': seconds_per_iteration(lines),
        'peak_mb': max(peaks, default=None),
    }


def ratio(result):
    """How much smaller packed tensors were over a whole training."""
    packed = sum(row[2] for row in result['compression'])
    return sum(row[1] for row in result['compression']) / packed \
        if packed else None
