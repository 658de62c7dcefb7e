#!/usr/bin/env python3
"""Turns the log of a training run into tables: LOG.train and LOG.test.

    caffe train --solver=solver.prototxt 2>&1 | tee train.log
    scripts/parse_log.py train.log .

Both are CSV with the columns NumIters, Seconds (since training began),
LearningRate, and the net's outputs.
"""

import argparse
import csv
import datetime
import os
import re

ITERATION = re.compile(r'Iteration (\d+)')
RATE = re.compile(r'lr = (\S+)')
OUTPUT = re.compile(r'(Train|Test) net output #\d+: (.+?) = (\S+)')
# glog writes the month, or the year and the month, after the severity.
TIME = re.compile(r'[IWEF](\d{4})?(\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d+)')

COLUMNS = ['NumIters', 'Seconds', 'LearningRate']


class _Clock:
    """Seconds since training began, from the times of log lines."""

    def __init__(self):
        self.start = None
        self.last = None
        self.year = 2000  # for logs that do not tell

    def read(self, line):
        found = TIME.search(line)
        if found is None:
            return
        year, month, day, time = found.groups()
        text = f'{year or self.year} {month} {day} {time}'
        now = datetime.datetime.strptime(text, '%Y %m %d %H:%M:%S.%f')
        if year is None and self.last is not None and now < self.last:
            self.year += 1
            now = now.replace(year=self.year)
        self.last = now
        if self.start is None or 'Solving ' in line:
            self.start = now

    def seconds(self):
        if self.start is None:
            return float('nan')
        return (self.last - self.start).total_seconds()


def _rate_at(rates, iteration):
    """The last rate that was logged up to an iteration."""
    before = [logged for logged in rates if logged <= iteration]
    if before:
        return rates[max(before)]
    return rates[min(rates)] if rates else float('nan')


def parse_log(path_to_log):
    """Two lists of rows {column: value}, of training and of tests."""
    clock, rates, rows = _Clock(), {}, {'Train': {}, 'Test': {}}
    iteration = None
    with open(path_to_log, errors='replace') as log:
        for line in log:
            clock.read(line)
            found = ITERATION.search(line)
            if found is not None:
                iteration = int(found.group(1))
            if iteration is None:
                continue
            found = RATE.search(line)
            if found is not None:
                rates[iteration] = float(found.group(1))
            found = OUTPUT.search(line)
            if found is not None:
                phase, name, value = found.groups()
                row = rows[phase].setdefault(
                    iteration, {'NumIters': iteration,
                                'Seconds': clock.seconds()})
                row[name] = float(value)
    for table in rows.values():
        for row in table.values():
            row['LearningRate'] = _rate_at(rates, row['NumIters'])
    return list(rows['Train'].values()), list(rows['Test'].values())


def write_csv(path, rows, delimiter):
    outputs = dict.fromkeys(name for row in rows for name in row
                            if name not in COLUMNS)
    with open(path, 'w', newline='') as file:
        writer = csv.DictWriter(file, COLUMNS + list(outputs),
                                delimiter=delimiter, lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('logfile_path', help='the log of caffe train')
    parser.add_argument('output_dir', help='the folder for the tables')
    parser.add_argument('--verbose', action='store_true',
                        help='tell what was written')
    parser.add_argument('--delimiter', default=',',
                        help='what stands between columns')
    args = parser.parse_args()

    name = os.path.basename(args.logfile_path)
    for rows, kind in zip(parse_log(args.logfile_path), ('train', 'test')):
        path = os.path.join(args.output_dir, f'{name}.{kind}')
        write_csv(path, rows, args.delimiter)
        if args.verbose:
            print(f'{len(rows)} rows in {path}')


if __name__ == '__main__':
    main()
