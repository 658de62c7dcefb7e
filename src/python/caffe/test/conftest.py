"""What the tests share: small nets in files."""

import os
import pathlib

import numpy as np
import pytest

# A net with inputs, parameters, a layer in place and an output.
SMALL_NET = """
name: 'small'
force_backward: true
layer { name: 'data' type: 'Input' top: 'data'
        input_param { shape { dim: 4 dim: 2 dim: 6 dim: 6 } } }
layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv'
        convolution_param { num_output: 3 kernel_size: 3
                            weight_filler { type: 'gaussian' std: 0.5 }
                            bias_filler { type: 'constant' value: 0.25 } } }
layer { name: 'relu' type: 'ReLU' bottom: 'conv' top: 'conv' }
layer { name: 'ip' type: 'InnerProduct' bottom: 'conv' top: 'ip'
        inner_product_param { num_output: 5
                              weight_filler { type: 'xavier' } } }
layer { name: 'prob' type: 'Softmax' bottom: 'ip' top: 'prob' }
"""

# A net that learns by itself: the data are made up.
LEARNING_NET = """
layer { name: 'data' type: 'DummyData' top: 'data' top: 'label'
        dummy_data_param { shape { dim: 8 dim: 4 dim: 12 dim: 12 }
                           shape { dim: 8 }
                           data_filler { type: 'gaussian' }
                           data_filler { type: 'constant' value: 2 } } }
layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'
        convolution_param { num_output: 8 kernel_size: 3 pad: 1
                            weight_filler { type: 'xavier' } } }
layer { name: 'relu1' type: 'ReLU' bottom: 'conv1' top: 'conv1' }
layer { name: 'conv2' type: 'Convolution' bottom: 'conv1' top: 'conv2'
        convolution_param { num_output: 8 kernel_size: 3
                            weight_filler { type: 'xavier' } } }
layer { name: 'relu2' type: 'ReLU' bottom: 'conv2' top: 'relu2' }
layer { name: 'ip' type: 'InnerProduct' bottom: 'relu2' top: 'ip'
        inner_product_param { num_output: 5
                              weight_filler { type: 'xavier' } } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label'
        top: 'loss' }
"""


@pytest.fixture
def write(tmp_path):
    """Writes text to a file and returns the file's name."""
    def write_file(text, name='net.prototxt'):
        file = tmp_path / name
        file.write_text(text)
        return str(file)
    return write_file


@pytest.fixture
def solver_file(write, tmp_path):
    """Writes a solver for a net, with these settings or others; None for
    none."""
    def write_solver(settings='', net=LEARNING_NET, name='solver.prototxt',
                     **numbers):
        numbers = {'base_lr': 0.01, 'momentum': 0.9, 'max_iter': 20, **numbers}
        given = ' '.join(f'{key}: {value}' for key, value in numbers.items()
                         if value is not None)
        net_file = write(net, name + '.net')
        return write(f"""net: '{net_file}' lr_policy: 'fixed' random_seed: 3
                         snapshot_prefix: '{tmp_path}/snap'
                         snapshot_after_train: false {given} {settings}""",
                     name)
    return write_solver


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.fixture
def source_dir():
    return pathlib.Path(os.environ['CAFFE_SOURCE_DIR'])


@pytest.fixture
def build_dir():
    return pathlib.Path(os.environ['CAFFE_BUILD_DIR'])
