"""Solvers: steps, snapshots, callbacks, and Ctrl-C."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import caffe

TYPES = dict(SGD=caffe.SGDSolver, Nesterov=caffe.NesterovSolver,
             AdaGrad=caffe.AdaGradSolver, RMSProp=caffe.RMSPropSolver,
             AdaDelta=caffe.AdaDeltaSolver, Adam=caffe.AdamSolver)


def weights_of(solver):
    return np.concatenate([blob.data.ravel()
                           for blobs in solver.net.params.values()
                           for blob in blobs])


def test_steps(solver_file):
    solver = caffe.SGDSolver(solver_file())
    assert solver.iter == 0 and solver.type == 'SGD'
    losses = []
    for _ in range(3):
        solver.step(3)
        losses.append(float(solver.net.blobs['loss'].data))
    assert solver.iter == 9
    assert losses[0] > losses[1] > losses[2]
    solver.solve()
    assert solver.iter == 20
    assert solver.param.base_lr == pytest.approx(0.01)
    assert solver.param.max_iter == 20
    with pytest.raises(caffe.Error, match='cannot take -1'):
        solver.step(-1)
    with pytest.raises(caffe.Error, match='cannot take'):
        solver.step(2**31 - 1)
    with pytest.raises(TypeError):
        solver.step(1.5)


@pytest.mark.parametrize('name', sorted(TYPES))
def test_types(name, solver_file):
    file = solver_file(f"type: '{name}'",
                       momentum=None if name in ('AdaGrad', 'RMSProp') else 0.9)
    solver = caffe.get_solver(file)
    assert type(solver) is TYPES[name]
    assert isinstance(solver, caffe.Solver)
    assert solver.type == name
    solver.step(2)
    other = TYPES[name](file)
    other.step(2)
    np.testing.assert_array_equal(weights_of(solver), weights_of(other))


def test_updates_by_hand(solver_file):
    plain = caffe.SGDSolver(solver_file())
    plain.step(3)
    solver = caffe.SGDSolver(solver_file())
    for _ in range(3):
        solver.net.clear_param_diffs()
        solver.net.forward()
        solver.net.backward()
        solver.apply_update()
    np.testing.assert_allclose(weights_of(solver), weights_of(plain), rtol=1e-4,
                               atol=1e-6)


def test_snapshots(solver_file, tmp_path):
    solver = caffe.SGDSolver(solver_file())
    solver.step(4)
    solver.snapshot()
    middle = weights_of(solver)
    state = tmp_path / 'snap_iter_4.solverstate'
    assert state.exists() and (tmp_path / 'snap_iter_4.caffemodel').exists()
    solver.step(4)
    other = caffe.SGDSolver(solver_file())
    other.restore(state)
    assert other.iter == 4
    np.testing.assert_array_equal(weights_of(other), middle)
    other.step(4)
    np.testing.assert_array_equal(weights_of(other), weights_of(solver))
    third = caffe.SGDSolver(solver_file())
    third.solve(str(state))
    assert third.iter == 20
    with pytest.raises(caffe.Error):
        other.restore(tmp_path / 'nothing.solverstate')


def test_test_nets(solver_file):
    solver = caffe.SGDSolver(solver_file('test_iter: 2 test_interval: 5'))
    net, = solver.test_nets
    solver.share_weights(net)
    solver.step(1)
    np.testing.assert_array_equal(net.params['ip'][0].data,
                                  solver.net.params['ip'][0].data)
    # Nets keep what they belong to.
    train_net = solver.net
    assert solver.net is train_net
    del solver
    net.forward()
    train_net.forward()
    train_net.backward()
    assert train_net.params['ip'][0].diff.any()


def test_callbacks(solver_file):
    solver = caffe.SGDSolver(solver_file())
    calls = []
    solver.add_callback(lambda: calls.append('start'),
                        lambda: calls.append(
                            abs(solver.net.params['ip'][0].diff).sum() > 0))
    solver.step(2)
    assert calls == ['start', True, 'start', True]

    def refuse():
        raise KeyError('no more')

    solver.add_callback(refuse, lambda: None)
    with pytest.raises(KeyError, match='no more'):
        solver.step(1)


def test_errors(solver_file, write):
    with pytest.raises(caffe.Error, match='nothing.prototxt'):
        caffe.get_solver('nothing.prototxt')
    with pytest.raises(caffe.Error, match='Nonsense'):
        caffe.get_solver(solver_file("type: 'Nonsense'"))
    with pytest.raises(caffe.Error):
        caffe.SGDSolver(write('base_lr: 1', 'no_net.prototxt'))
    with pytest.raises(TypeError):
        caffe.Solver(solver_file())


def test_only_the_first_solver_solves(solver_file):
    solver = caffe.SGDSolver(solver_file())
    caffe.set_solver_rank(1)
    try:
        with pytest.raises(caffe.Error, match='rank 0'):
            solver.solve()
        with pytest.raises(caffe.Error, match='rank 0'):
            solver.snapshot()
    finally:
        caffe.set_solver_rank(0)


def test_other_threads_run(solver_file):
    """Training leaves the interpreter to others."""
    solver = caffe.SGDSolver(solver_file())
    counted = 0
    done = threading.Event()

    def train():
        solver.step(200)
        done.set()

    thread = threading.Thread(target=train)
    thread.start()
    while not done.wait(0.001):
        counted += 1
    thread.join()
    assert solver.iter == 200
    assert counted > 3


@pytest.mark.parametrize('call', [
    'solver.step(10**8)', 'solver.solve()',
    'while True: solver.net.forward(), solver.net.backward()'])
def test_ctrl_c(call, solver_file):
    """Is not lost, and ends no more than the call."""
    file = solver_file(max_iter=10**8)
    program = f"""
import caffe, sys
solver = caffe.SGDSolver({file!r})
solver.step(1)
print('ready', flush=True)
try:
    {call}
except KeyboardInterrupt:
    before = solver.iter
    solver.step(2)
    print('stopped', solver.iter - before, flush=True)
"""
    child = subprocess.Popen([sys.executable, '-c', program],
                             stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == 'ready\n'
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert out == 'stopped 2\n'
    assert child.returncode == 0
