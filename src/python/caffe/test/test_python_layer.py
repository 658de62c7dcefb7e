"""Layers written in Python."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import caffe
from conftest import LEARNING_NET

LAYERS = '''
import caffe
import numpy as np

kept = []

class Scale(caffe.Layer):
    """Multiplies with param_str, and learns an offset."""

    def setup(self, bottom, top):
        self.factor = float(self.param_str or 1)
        if len(bottom) != 1:
            raise ValueError('one bottom, please')
        self.blobs.add_blob(1)
        self.blobs[0].data[...] = 0.5

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        top[0].data[...] = self.factor * bottom[0].data + self.blobs[0].data

    def backward(self, top, propagate_down, bottom):
        self.propagate_down = propagate_down
        self.blobs[0].diff[...] += top[0].diff.sum()
        if propagate_down[0]:
            bottom[0].diff[...] = self.factor * top[0].diff

class Loss(caffe.Layer):
    def reshape(self, bottom, top):
        top[0].reshape(1)
    def forward(self, bottom, top):
        top[0].data[...] = (bottom[0].data ** 2).sum() / 2
    def backward(self, top, propagate_down, bottom):
        bottom[0].diff[...] = bottom[0].data * top[0].diff

class Phase(caffe.Layer):
    def __init__(self, param):
        super().__init__(param)
        self.param_name = param.name
    def setup(self, bottom, top): pass
    def reshape(self, bottom, top): top[0].reshape()
    def forward(self, bottom, top): top[0].data[()] = self.phase
    def backward(self, top, propagate_down, bottom): pass

class Keeper(Phase):
    def setup(self, bottom, top):
        kept.append((self, top[0]))

class Unshaped(Phase):
    def setup(self, bottom, top): top[0].data

class Raises(Phase):
    def forward(self, bottom, top): raise ZeroDivisionError('on purpose')

class NoReshape(caffe.Layer):
    pass

class NoInit(Phase):
    def __init__(self, param):
        pass

def not_a_class(param): pass
'''


@pytest.fixture(scope='module', autouse=True)
def layers(tmp_path_factory):
    folder = tmp_path_factory.mktemp('modules')
    (folder / 'layers_for_test.py').write_text(LAYERS)
    sys.path.insert(0, str(folder))
    import layers_for_test
    yield layers_for_test
    sys.path.remove(str(folder))


def python_layer(name, bottom='', settings=''):
    bottom = f"bottom: '{bottom}'" if bottom else ''
    return f"""
        layer {{ name: 'own' type: 'Python' {bottom} top: 'own'
                 python_param {{ module: 'layers_for_test' layer: '{name}'
                                 {settings} }} }}"""


INPUT = """force_backward: true
    layer { name: 'data' type: 'Input' top: 'data'
            input_param { shape { dim: 2 dim: 3 } } }"""


def test_forward_and_backward(write, layers):
    net = caffe.Net(write(INPUT + python_layer('Scale', 'data',
                                               "param_str: '3'")), caffe.TRAIN)
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(net.forward(data=data)['own'], 3 * data + 0.5)
    diff = np.ones((2, 3))
    np.testing.assert_array_equal(net.backward(own=diff)['data'], 3 * diff)
    assert net.params['own'][0].diff == 6
    own = net.layer_dict['own']
    assert isinstance(own, layers.Scale) and own.propagate_down == [True]
    assert own.type == 'Python' and own.factor == 3
    net.blobs['data'].reshape(5, 1)
    assert net.forward()['own'].shape == (5, 1)


def test_weights_are_saved(write, tmp_path):
    file = write(INPUT + python_layer('Scale', 'data'))
    net = caffe.Net(file, caffe.TRAIN)
    net.params['own'][0].data[...] = 9
    net.save(tmp_path / 'own.caffemodel')
    other = caffe.Net(file, caffe.TRAIN, weights=tmp_path / 'own.caffemodel')
    assert other.params['own'][0].data == 9


def test_a_net_learns_with_it(solver_file):
    net = LEARNING_NET.replace("bottom: 'ip' bottom: 'label'",
                               "bottom: 'own' bottom: 'label'")
    i = net.index("layer { name: 'loss'")
    net = net[:i] + python_layer('Scale', 'ip', "param_str: '2'") + net[i:]
    for settings in ('', 'compression { }'):
        solver = caffe.SGDSolver(solver_file(settings, net))
        solver.step(1)
        before = float(solver.net.blobs['loss'].data)
        solver.step(15)
        assert solver.net.blobs['loss'].data < before / 2


def test_losses(write):
    net = caffe.Net(write(INPUT + """
        layer { name: 'loss' type: 'Python' bottom: 'data' top: 'loss'
                loss_weight: 2
                python_param { module: 'layers_for_test' layer: 'Loss' } }"""),
                    caffe.TRAIN)
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    net.blobs['data'].data[...] = data
    assert net._forward(0, 1) == 55
    np.testing.assert_array_equal(net.backward()['data'], 2 * data)


def test_phase_and_init(write):
    for phase in (caffe.TRAIN, caffe.TEST):
        net = caffe.Net(write(python_layer('Phase')), phase)
        assert net.forward()['own'] == phase
        assert net.layers[0].param_name == 'own'


def test_exceptions_come_through(write):
    net = caffe.Net(write(python_layer('Raises')), caffe.TEST)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match='on purpose') as error:
            net.forward()
    assert error.traceback[-1].name == 'forward'
    with pytest.raises(ValueError, match='one bottom'):
        caffe.Net(write(python_layer('Scale')), caffe.TEST)


@pytest.mark.parametrize('name, message', [
    ('Missing', 'has no class Missing'),
    ('not_a_class', 'not a class derived from caffe.Layer')])
def test_bad_classes(name, message, write):
    with pytest.raises(caffe.Error, match=message) as error:
        caffe.Net(write(python_layer(name)), caffe.TEST)
    assert "layer 'own' (Python)" in str(error.value)


def test_more_bad_classes(write):
    with pytest.raises(caffe.Error, match='never given a shape'):
        caffe.Net(write(python_layer('Unshaped')), caffe.TEST)
    with pytest.raises(NotImplementedError, match='reshape'):
        caffe.Net(write(python_layer('NoReshape')), caffe.TEST)
    with pytest.raises(TypeError, match='__init__'):
        caffe.Net(write(python_layer('NoInit')), caffe.TEST)
    with pytest.raises(ModuleNotFoundError, match='no_such_module'):
        caffe.Net(write(python_layer('X').replace('layers_for_test',
                                                  'no_such_module')),
                  caffe.TEST)
    with pytest.raises(caffe.Error, match='needs the module'):
        caffe.Net(write("layer { name: 'own' type: 'Python' top: 'own' }"),
                  caffe.TEST)


def test_what_outlives_the_net_says_so(write, layers):
    net = caffe.Net(write(python_layer('Keeper')), caffe.TEST)
    layer, blob = layers.kept.pop()
    net.forward()
    assert blob.data == caffe.TEST and layer.type == 'Python'
    del net
    gc.collect()
    for use in (lambda: blob.data, lambda: blob.reshape(3), lambda: layer.type,
                lambda: layer.blobs):
        with pytest.raises(caffe.Error, match='is gone'):
            use()
    with pytest.raises(caffe.Error, match='is gone'):
        caffe.Layer().type


def run_caffe(build_dir, solver, folder):
    environment = {key: value for key, value in os.environ.items()
                   if key not in ('PYTHONPATH', 'GLOG_minloglevel')}
    return subprocess.run([build_dir / 'bin' / 'caffe', 'train',
                           f'--solver={solver}'], cwd=folder, text=True,
                          env=environment, capture_output=True)


def test_the_caffe_program_runs_it(build_dir, solver_file, tmp_path):
    """Modules are found in the current folder, the package caffe beside."""
    if not (build_dir / 'bin' / 'caffe').exists():
        pytest.skip('built without tools')
    (tmp_path / 'layers_for_test.py').write_text(LAYERS)
    net = LEARNING_NET.replace("bottom: 'ip' bottom: 'label'",
                               "bottom: 'own' bottom: 'label'")
    i = net.index("layer { name: 'loss'")
    good = net[:i] + python_layer('Scale', 'ip') + net[i:]
    run = run_caffe(build_dir, solver_file('display: 5', good), tmp_path)
    assert run.returncode == 0, run.stderr
    assert 'Iteration 15' in run.stderr and 'Optimization Done' in run.stderr

    run = run_caffe(build_dir, solver_file('', python_layer('Raises')),
                    tmp_path)
    assert run.returncode == 1
    assert 'ZeroDivisionError: on purpose' in run.stderr
