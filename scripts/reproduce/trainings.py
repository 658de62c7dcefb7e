"""Runs trainings so that one that was stopped goes on, and one that is done is
not done again."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import logs

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(PROJECT, 'models'))
import prototxt

# Ends as Ctrl-C does: trainings are told to stop, too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit('stopped'))

RESULT = 'result.json'
LOG = 'train.log'


def report(text):
    print(text, file=sys.stderr, flush=True)


def write_json(path, value):
    """The file appears whole."""
    with open(path + '.tmp', 'w') as file:
        json.dump(value, file, indent=1)
    os.replace(path + '.tmp', path)


def read_json(path):
    with open(path) as file:
        return json.load(file)


def duration(seconds):
    minutes = int(seconds / 60)
    if minutes >= 60:
        return f'{minutes // 60} h {minutes % 60:02} min'
    return f'{minutes} min' if minutes else f'{seconds:.0f} s'


class Progress:
    """A line now and then: how far a training is, how long it will take."""

    def __init__(self, name, iterations, every):
        self.name, self.iterations, self.every = name, iterations, every
        self.first = self.last = None

    def see(self, line):
        match = logs.ITERATION.search(line)
        if not match:
            return
        now, iteration = time.monotonic(), int(match.group(1))
        if self.first is None:
            self.first = (now, iteration)
            self.last = now
        since, begun = self.first
        if now - self.last < self.every or iteration <= begun:
            return
        self.last = now
        left = (now - since) / (iteration - begun) * (
            self.iterations - iteration)
        report(f'    {self.name}: iteration {iteration} of {self.iterations}, '
               f'{duration(left)} left')


def run_tool(command):
    """Runs a program to its end; what it wrote."""
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f'{" ".join(command)} failed:\n{done.stdout}')
    return done.stdout


def _is_same(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            return False
        with open(path) as file:
            if file.read() != text:
                return False
    return True


def prepare(folder, net, solver, compression):
    """Writes a training's files. One with other settings than before starts
    anew. Returns the path of the solver."""
    message = {**solver, 'net': os.path.join(folder, 'net.prototxt'),
               'snapshot_prefix': os.path.join(folder, 'net')}
    files = {'net.prototxt': net, 'solver.prototxt': prototxt.text(message)}
    if compression is not None:
        files['solver.prototxt'] += f'compression {{ {compression} }}\n'
    if not _is_same(folder, files):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for name, text in files.items():
            with open(os.path.join(folder, name), 'w') as file:
                file.write(text)
    return os.path.join(folder, 'solver.prototxt')


def newest_state(folder):
    """The last .solverstate of a training; None when there is none."""
    states = [name for name in os.listdir(folder)
              if name.endswith('.solverstate')]
    number = lambda name: int(name.rpartition('_')[2].partition('.')[0])
    return os.path.join(folder, max(states, key=number)) if states else None


def run_caffe(options, folder, solver, start, progress):
    """caffe train, its log, and what it ended with."""
    state = newest_state(folder)
    snapshot = 'auto' if state or not start else start
    command = [options.caffe, 'train', f'--solver={solver}',
               f'--snapshot={snapshot}', f'--threads={options.threads}']
    path = os.path.join(folder, LOG)
    # Straight into the file, so that nothing is lost, whatever becomes of us.
    with open(path, 'a') as log, open(path, errors='replace') as lines:
        lines.seek(0, os.SEEK_END)
        process = subprocess.Popen(command, stdout=log,
                                   stderr=subprocess.STDOUT)
        try:
            while process.poll() is None:
                time.sleep(0.1)
                for line in lines:
                    progress.see(line)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)  # It takes a snapshot.
            process.wait()
    return process.returncode


def train(options, name, net, solver, compression=None, start=None):
    """The result (see logs.read_training) of a training called `name`, which is
    only run as far as it has not been yet.

    net and solver are the text of the net and the fields of the solver,
    compression is what the solver says in compression { }, None for nothing.
    start is a .solverstate to start from. A training that the guard stops has a
    result, too, with `stopped` saying why; other failures end the program."""
    folder = os.path.join(options.folder, 'runs', name)
    path = prepare(folder, net, solver, compression)
    result = os.path.join(folder, RESULT)
    if os.path.exists(result):
        return read_json(result)
    log = os.path.join(folder, LOG)
    report(f'training {name} (log: {log})')
    iterations = solver['max_iter']
    if isinstance(iterations, list):
        iterations = iterations[0]
    begun = time.monotonic()
    status = run_caffe(options, folder, path, start,
                       Progress(name, iterations, options.progress))
    found = logs.read_training(log)
    with open(log, errors='replace') as file:
        stops = [line for line in file if 'training was stopped in' in line]
    if status != 0 and stops:
        found['stopped'] = stops[-1].partition('] ')[2].strip() or stops[-1]
    elif status != 0 or not found['finished']:
        sys.exit(f'training {name} failed; see {log}')
    found['seconds'] = time.monotonic() - begun
    write_json(result, found)
    return found


def folder_of(options, name):
    return os.path.join(options.folder, 'runs', name)


def accuracy(result):
    """Of the last test; None for a training that was stopped."""
    if result.get('stopped') or not result['tests']:
        return None
    return result['tests'][-1][1]
