"""Arrays of nets whose activations are packed between the passes."""

import numpy as np
import pytest

import caffe
from conftest import LEARNING_NET

# Tensors below 16 KiB are not packed.
NET = LEARNING_NET.replace('dim: 8 dim: 4 dim: 12', 'dim: 8 dim: 4 dim: 24'
                           ).replace('dim: 12 }', 'dim: 24 }')
SETTINGS = "compression { }"


@pytest.fixture
def solvers(solver_file):
    """One that compresses, and one that does not."""
    return (caffe.SGDSolver(solver_file(SETTINGS, NET, 'packed.prototxt')),
            caffe.SGDSolver(solver_file('', NET, 'plain.prototxt')))


def test_packed_values_are_restored(solvers):
    packed, plain = solvers
    for solver in solvers:
        caffe.set_random_seed(5)
        solver.net.forward()
    exact = plain.net.blobs['conv1'].data
    restored = packed.net.blobs['conv1'].data
    assert exact.any()
    np.testing.assert_allclose(restored, exact, atol=0.2 * abs(exact).max())
    # A copy of what is packed, so that nobody writes to it in vain.
    assert not restored.flags.writeable
    packed.net.backward()
    assert packed.net.params['conv1'][0].diff.any()
    np.testing.assert_allclose(restored, exact, atol=0.2 * abs(exact).max())


def test_dropped_values_are_errors(solvers):
    packed, _ = solvers
    packed.step(1)
    with pytest.raises(caffe.Error, match='blob conv2 were dropped'):
        packed.net.blobs['conv2'].data
    with pytest.raises(caffe.Error, match='gradient of blob conv1 was dropped'):
        packed.net.blobs['conv1'].diff
    with pytest.raises(caffe.Error, match='dropped after its update'):
        packed.net.params['ip'][0].diff


def test_arrays_that_are_held_stay_right(solvers):
    held = {name: packed_blob.data
            for name, packed_blob in solvers[0].net.blobs.items()}
    gradient = solvers[0].net.params['conv2'][0].diff
    for solver in solvers:
        caffe.set_random_seed(5)
        solver.step(1)
    for name, blob in solvers[1].net.blobs.items():
        if name in held and name != 'conv2':
            np.testing.assert_allclose(held[name], blob.data, rtol=1e-4,
                                       atol=1e-5, err_msg=name)
    np.testing.assert_allclose(gradient,
                               solvers[1].net.params['conv2'][0].diff,
                               rtol=1e-3, atol=1e-5)
    assert gradient.any()


def test_looking_does_not_change_training(solver_file):
    def train(look):
        solver = caffe.SGDSolver(solver_file(SETTINGS, NET))
        for _ in range(4):
            solver.net.clear_param_diffs()
            solver.net.forward()
            if look:
                solver.net.blobs['conv1'].data.sum()
                solver.net.blobs['relu2'].data.sum()
            solver.net.backward()
            solver.apply_update()
        solver.step(2)
        return solver.net.params['conv1'][0].data.copy()

    np.testing.assert_array_equal(train(look=True), train(look=False))


def test_updates_by_hand_after_steps(solvers):
    packed, _ = solvers
    packed.step(2)
    before = packed.net.params['ip'][0].data.copy()
    packed.net.clear_param_diffs()
    packed.net.forward()
    packed.net.backward()
    packed.apply_update()
    assert (packed.net.params['ip'][0].data != before).any()
