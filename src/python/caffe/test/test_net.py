"""Nets and blobs: what they hold, and what passes through them."""

import gc
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import caffe
from conftest import SMALL_NET


@pytest.fixture
def net(write):
    caffe.set_random_seed(7)
    return caffe.Net(write(SMALL_NET), caffe.TEST)


def relu_conv(net, data):
    """What the first two layers compute, in plain numpy."""
    weights, bias = (blob.data for blob in net.params['conv'])
    out = np.zeros((len(data), 3, 4, 4))
    for y in range(4):
        for x in range(4):
            patch = data[:, None, :, y:y + 3, x:x + 3]
            out[:, :, y, x] = (patch * weights).sum(axis=(2, 3, 4)) + bias
    return np.maximum(out, 0)


def probabilities(net, data):
    weights, bias = (blob.data for blob in net.params['ip'])
    scores = relu_conv(net, data).reshape(len(data), -1) @ weights.T + bias
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def test_structure(net):
    assert list(net.blobs) == ['data', 'conv', 'ip', 'prob']
    assert list(net.params) == ['conv', 'ip']
    assert net.inputs == ['data']
    assert net.outputs == ['prob']
    assert list(net.layer_dict) == ['data', 'conv', 'relu', 'ip', 'prob']
    assert [layer.type for layer in net.layers] == [
        'Input', 'Convolution', 'ReLU', 'InnerProduct', 'Softmax']
    assert net.top_names['relu'] == ['conv']
    assert net.bottom_names['ip'] == ['conv']
    assert net.bottom_names['data'] == []
    assert net.blob_loss_weights == dict(data=0, conv=0, ip=0, prob=0)
    assert net.layer_dict['ip'].blobs[0].shape == (5, 48)
    assert [blob.shape for blob in net.params['conv']] == [(3, 2, 3, 3), (3,)]
    assert net.params['conv'][-1].shape == (3,)
    with pytest.raises(IndexError):
        net.params['conv'][2]
    with pytest.raises(IndexError):
        net._top_ids(5)


def test_losses_have_weights(write):
    net = caffe.Net(write("""
        layer { name: 'in' type: 'Input' top: 'a' top: 'b'
                input_param { shape { dim: 2 dim: 3 } } }
        layer { name: 'loss' type: 'EuclideanLoss' bottom: 'a' bottom: 'b'
                top: 'loss' loss_weight: 0.5 }"""), caffe.TRAIN)
    assert net.blob_loss_weights['loss'] == 0.5
    out = net.forward(a=np.ones((2, 3)), b=np.zeros((2, 3)))
    assert out['loss'] == pytest.approx(1.5)
    assert out['loss'].shape == ()


def test_blobs(net):
    blob = net.blobs['data']
    assert blob.shape == (4, 2, 6, 6)
    assert (blob.num, blob.channels, blob.height, blob.width) == (4, 2, 6, 6)
    assert blob.count == 288
    assert blob.data.dtype == np.float32
    assert blob.data.shape == blob.diff.shape == blob.shape
    assert net.blobs['data'] is blob
    # Arrays show the same memory, not a copy of it.
    first, second = blob.data, blob.data
    first[1, 1, 2, 3] = 5
    assert second[1, 1, 2, 3] == 5
    assert np.shares_memory(first, second)
    with pytest.raises(AttributeError):
        blob.data = np.zeros(3)
    with pytest.raises(TypeError):
        blob.reshape(2.5)
    with pytest.raises(TypeError):
        blob.reshape('3')
    with pytest.raises(caffe.Error, match='negative'):
        blob.reshape(2, -1)
    with pytest.raises(caffe.Error, match='more than'):
        blob.reshape(100000, 100000)
    blob.reshape(2, 3, 4, 5, 6)
    assert blob.shape == (2, 3, 4, 5, 6)
    with pytest.raises(caffe.Error, match='at most 4 axes'):
        blob.num
    blob.reshape(2, 0)
    assert blob.data.shape == (2, 0)


def test_arrays_outlive_everything(write):
    net = caffe.Net(write(SMALL_NET), caffe.TEST)
    net.forward(data=np.ones((4, 2, 6, 6)))
    blob = net.blobs['prob']
    data, weights = blob.data, net.params['ip'][0].data
    expected = data.copy(), weights.copy()
    inputs = net.blobs['data'].data
    net.blobs['data'].reshape(40, 2, 60, 60)  # other memory from now on
    inputs[...] = 3
    layer = net.layer_dict['conv']
    del net
    gc.collect()
    np.testing.assert_array_equal(data, expected[0])
    np.testing.assert_array_equal(weights, expected[1])
    np.testing.assert_array_equal(blob.data, expected[0])
    assert (inputs == 3).all()
    assert layer.type == 'Convolution' and layer.blobs[0].data.any()


def test_forward(net, rng):
    data = rng.standard_normal((4, 2, 6, 6)).astype(np.float32)
    out = net.forward(data=data)
    assert list(out) == ['prob']
    np.testing.assert_allclose(out['prob'], probabilities(net, data), rtol=1e-4)
    np.testing.assert_array_equal(net.blobs['data'].data, data)
    assert np.shares_memory(out['prob'], net.blobs['prob'].data)
    # More blobs, inputs as they were, and weights that are written to.
    net.params['ip'][1].data[...] = [0, 1, 2, 3, 4]
    out = net.forward(blobs=['conv'])
    assert sorted(out) == ['conv', 'prob']
    np.testing.assert_allclose(out['conv'], relu_conv(net, data), rtol=1e-4,
                               atol=1e-5)
    np.testing.assert_allclose(out['prob'], probabilities(net, data), rtol=1e-4)


def test_forward_of_a_part(net, rng):
    net.blobs['data'].data[...] = rng.standard_normal((4, 2, 6, 6))
    out = net.forward(end='conv')
    assert list(out) == ['conv'] and out['conv'].min() < 0
    out = net.forward(start='relu', end='relu')
    assert out['conv'].min() == 0
    net.blobs['conv'].data[...] = 0
    out = net.forward(start='ip')
    assert list(out) == ['prob']
    np.testing.assert_allclose(out['prob'], 0.2, rtol=1e-6)


def test_backward(net, rng):
    data = rng.standard_normal((4, 2, 6, 6)).astype(np.float32)
    net.forward(data=data)
    gradient = rng.standard_normal((4, 5)).astype(np.float32)
    out = net.backward(prob=gradient)
    assert list(out) == ['data']
    assert np.shares_memory(out['data'], net.blobs['data'].diff)
    # Along a direction, the change of sum(gradient * prob) by small steps.
    direction = rng.standard_normal(data.shape)
    step = 1e-3
    after, before = (
        (gradient * probabilities(net, data + sign * step * direction)).sum()
        for sign in (1, -1))
    assert (out['data'] * direction).sum() == pytest.approx(
        (after - before) / (2 * step), rel=1e-2)
    out = net.backward(diffs=['ip'], prob=gradient, end='relu')
    assert sorted(out) == ['conv', 'ip']
    before = net.blobs['ip'].diff.copy()
    net.blobs['prob'].diff[...] = 0
    net.clear_param_diffs()
    net.backward(start='ip')  # the layers above are left out, itself is not
    np.testing.assert_array_equal(net.blobs['ip'].diff, before)
    assert net.params['ip'][0].diff.any()
    net.clear_param_diffs()
    assert not net.params['ip'][0].diff.any()


def test_wrong_arguments(net):
    with pytest.raises(caffe.Error, match='got arrays for'):
        net.forward(image=np.zeros((4, 2, 6, 6)))
    with pytest.raises(caffe.Error, match='has the shape'):
        net.forward(data=np.zeros((3, 2, 6, 6)))
    with pytest.raises(caffe.Error, match='has the shape'):
        net.forward(data=3)
    with pytest.raises(ValueError):
        net.forward(data=np.zeros((4, 2, 6, 7)))
    with pytest.raises(caffe.Error, match="no layer 'nowhere'"):
        net.forward(start='nowhere')
    with pytest.raises(caffe.Error, match="no blob 'nothing'"):
        net.forward(blobs=['nothing'])
    with pytest.raises(caffe.Error, match='got arrays for'):
        net.backward(ip=np.zeros((4, 5)))
    with pytest.raises(caffe.Error, match='cannot run layers'):
        net._forward(0, 7)
    with pytest.raises(caffe.Error, match='cannot run layers'):
        net._backward(-1, -1)
    assert net._forward(3, 2) == 0  # nothing to run


def test_reshape(net):
    net.blobs['data'].reshape(2, 2, 6, 6)
    net.reshape()
    assert net.blobs['prob'].shape == (2, 5)
    net.blobs['data'].reshape(2, 2, 7, 7)
    with pytest.raises(caffe.Error, match="layer 'ip'"):
        net.reshape()


def test_all_images_at_once(net, rng):
    data = rng.standard_normal((10, 2, 6, 6)).astype(np.float32)
    out = net.forward_all(data=data, blobs=['conv'])
    np.testing.assert_allclose(out['prob'], probabilities(net, data), rtol=1e-4)
    assert out['conv'].shape == (10, 3, 4, 4)
    gradient = np.ones((10, 5), np.float32) * [1, 0, 0, 0, 0]
    outs, diffs = net.forward_backward_all(data=data, prob=gradient,
                                           diffs=['conv'])
    np.testing.assert_array_equal(outs['prob'], out['prob'])
    assert diffs['data'].shape == data.shape
    assert diffs['conv'].shape == (10, 3, 4, 4)
    # One batch by itself gives what it gave among the others.
    net.forward(data=data[4:8])
    single = net.backward(prob=gradient[4:8])['data']
    np.testing.assert_allclose(diffs['data'][4:8], single, rtol=1e-5)
    with pytest.raises(caffe.Error, match='no arrays'):
        net.forward_all()
    with pytest.raises(caffe.Error, match='different numbers'):
        net.forward_backward_all(data=data, prob=gradient[:4])


def test_as_many_images_for_every_input(write):
    net = caffe.Net(write("""
        layer { name: 'in' type: 'Input' top: 'a' top: 'b'
                input_param { shape { dim: 2 dim: 3 } } }
        layer { name: 'sum' type: 'Eltwise' bottom: 'a' bottom: 'b'
                top: 'sum' }"""), caffe.TEST)
    a, b = np.arange(15.).reshape(5, 3), np.ones((5, 3))
    np.testing.assert_array_equal(net.forward_all(a=a, b=b)['sum'], a + 1)
    with pytest.raises(caffe.Error, match='different numbers of images'):
        net.forward_all(a=a, b=b[:4])


def test_phases_levels_and_stages(write):
    file = write("""
        layer { name: 'in' type: 'Input' top: 'a'
                input_param { shape { dim: 1 dim: 1 } } }
        layer { name: 'train' type: 'Silence' bottom: 'a'
                include { phase: TRAIN } }
        layer { name: 'level' type: 'Softmax' bottom: 'a' top: 'level'
                include { min_level: 3 } }
        layer { name: 'stage' type: 'Softmax' bottom: 'a' top: 'stage'
                include { stage: 'x' stage: 'y' } }""")
    names = lambda *args, **kwargs: [
        name for name in caffe.Net(*args, **kwargs)._layer_names
        if 'split' not in name]
    assert names(file, caffe.TRAIN) == ['in', 'train']
    assert names(file, caffe.TEST) == ['in']
    assert names(file, caffe.TEST, level=3) == ['in', 'level']
    assert names(file, phase=caffe.TEST, stages=['y', 'x']) == ['in', 'stage']
    assert names(pathlib.Path(file), caffe.TEST, 3, ['x', 'y']) == [
        'in', 'level', 'stage']
    with pytest.raises(caffe.Error, match='phase must be'):
        caffe.Net(file, 2)
    with pytest.raises(TypeError):
        caffe.Net(file)
    with pytest.raises(TypeError):
        caffe.Net(file, caffe.TEST, stages='x')


def weights_of(net):
    return {name: [blob.data.copy() for blob in blobs]
            for name, blobs in net.params.items()}


def assert_same_weights(net, expected):
    for name, blobs in expected.items():
        for blob, values in zip(net.params[name], blobs):
            np.testing.assert_array_equal(blob.data, values)


def test_files_of_weights(net, write, tmp_path):
    expected = weights_of(net)
    model, hdf5 = str(tmp_path / 'a.caffemodel'), tmp_path / 'a.caffemodel.h5'
    net.save(model)
    net.save_hdf5(hdf5)
    prototxt = write(SMALL_NET)
    for other in (caffe.Net(prototxt, model, caffe.TEST),
                  caffe.Net(prototxt, caffe.TEST, weights=model),
                  caffe.Net(network_file=prototxt, weights=hdf5,
                            phase=caffe.TEST)):
        assert_same_weights(other, expected)
    for load in ('copy_from', 'load_hdf5'):
        other = caffe.Net(prototxt, caffe.TEST)
        assert other.params['ip'][0].data[0, 0] != expected['ip'][0][0, 0]
        getattr(other, load)(hdf5)
        assert_same_weights(other, expected)
    stored = caffe.proto.caffe_pb2.NetParameter.FromString(
        pathlib.Path(model).read_bytes())
    np.testing.assert_array_equal(
        caffe.io.blobproto_to_array(stored.layer[1].blobs[0]),
        expected['conv'][0])


def test_shared_weights(net, write):
    other = caffe.Net(write(SMALL_NET), caffe.TEST)
    other.share_with(net)
    net.params['ip'][0].data[0, 0] = 77
    assert other.params['ip'][0].data[0, 0] == 77
    different = caffe.Net(write(SMALL_NET.replace('num_output: 5',
                                                  'num_output: 6')), caffe.TEST)
    with pytest.raises(caffe.Error, match="layer 'ip'"):
        different.share_with(net)


def test_bad_files(net, write, tmp_path):
    with pytest.raises(caffe.Error, match='No such file') as error:
        caffe.Net(str(tmp_path / 'no.prototxt'), caffe.TEST)
    assert isinstance(error.value, RuntimeError)
    with pytest.raises(caffe.Error, match="unknown layer type 'Nonsense'"):
        caffe.Net(write("layer { name: 'x' type: 'Nonsense' }"), caffe.TEST)
    with pytest.raises(caffe.Error, match='bad.prototxt'):
        caffe.Net(write('layer {', 'bad.prototxt'), caffe.TEST)
    with pytest.raises(caffe.Error, match='garbage'):
        net.copy_from(write('garbage', 'garbage.caffemodel'))
    with pytest.raises(caffe.Error):
        net.load_hdf5(write('garbage', 'garbage.h5'))
    with pytest.raises(caffe.Error):
        net.save('/no/such/folder/a.caffemodel')


def test_callbacks(net):
    calls = []
    for name in ('before_forward', 'after_forward', 'before_backward',
                 'after_backward'):
        getattr(net, name)(lambda layer, name=name: calls.append((name, layer)))
    net.forward(start='ip')
    net.backward(end='prob')
    assert calls == [('before_forward', 3), ('after_forward', 3),
                     ('before_forward', 4), ('after_forward', 4),
                     ('before_backward', 4), ('after_backward', 4)]

    class Refused(Exception):
        pass

    def refuse(layer):
        raise Refused(layer)

    net.before_forward(refuse)
    with pytest.raises(Refused):
        net.forward()
    with pytest.raises(TypeError):
        net.before_forward('not a function')


MEMORY_NET = """
layer { name: 'data' type: 'MemoryData' top: 'data' top: 'label'
        memory_data_param { batch_size: 2 channels: 1 height: 2 width: 3 } }
layer { name: 'quiet' type: 'Silence' bottom: 'data' bottom: 'label' }"""


def test_input_arrays(write):
    net = caffe.Net(write(MEMORY_NET), caffe.TRAIN)
    # What shows the data follows them.
    shown = net.blobs['data'].data

    def use_arrays_of_no_other():
        data = np.arange(24, dtype=np.float32).reshape(4, 1, 2, 3)
        net.set_input_arrays(data, np.arange(4, dtype=np.float32))
    for use in range(2):
        use_arrays_of_no_other()
        gc.collect()
        # What the last batch left stays, though its array is gone.
        assert net.blobs['label'].data.max() == use
        for batch in (0, 1, 0):
            net.forward()
            np.testing.assert_array_equal(shown.ravel(),
                                          np.arange(12) + 12 * batch)
            np.testing.assert_array_equal(net.blobs['label'].data,
                                          np.arange(2) + 2 * batch)


def test_wrong_input_arrays(net, write):
    labels = np.zeros(4, np.float32)
    data = np.zeros((4, 1, 2, 3), np.float32)
    with pytest.raises(caffe.Error, match='MemoryData'):
        net.set_input_arrays(data, labels)
    net = caffe.Net(write(MEMORY_NET), caffe.TRAIN)
    with pytest.raises(caffe.Error, match='no data'):
        net.forward()
    for bad, message in (
            (data.astype(np.float64), 'float32'),
            (data[:, :, :, ::-1], 'contiguous'),
            (data.reshape(4, 1, 3, 2), 'shape'),
            (data[:3], 'as many labels'),
            (data.reshape(-1), 'shape')):
        with pytest.raises(caffe.Error, match=message):
            net.set_input_arrays(bad, labels)
    with pytest.raises(caffe.Error, match='multiple'):
        net.set_input_arrays(data[:3], labels[:3])


def test_settings():
    caffe.set_mode_cpu()
    for unavailable in (caffe.set_mode_gpu, lambda: caffe.set_device(0)):
        with pytest.raises(caffe.Error, match='without CUDA'):
            unavailable()
    assert not caffe.has_nccl()
    with pytest.raises(caffe.Error, match='without NCCL'):
        caffe.NCCL(None, None)
    assert (caffe.solver_count(), caffe.solver_rank()) == (1, 0)
    with pytest.raises(caffe.Error):
        caffe.set_solver_count(0)
    with pytest.raises(caffe.Error):
        caffe.set_solver_rank(-1)
    assert caffe.__version__.startswith('1.')
    assert (caffe.TRAIN, caffe.TEST) == (0, 1)
    timer = caffe.Timer()
    timer.start()
    timer.stop()
    assert 0 <= timer.ms < 10000


def test_types(source_dir):
    table = source_dir / 'src/caffe/test/data/caffe_registered_types.txt'
    expected = {line.split()[1] for line in table.read_text().splitlines()
                if line.startswith('layer')}
    assert len(expected) == 60
    assert 'Python' not in expected
    assert set(caffe.layer_type_list()) == expected | {'Python'}


def test_log(capfd):
    caffe.init_log(0)
    caffe.log('hello from Python')
    caffe.init_log(2)
    caffe.log('not to be seen')
    log = capfd.readouterr().err
    assert 'hello from Python' in log and 'not to be seen' not in log


def test_log_in_files(tmp_path):
    program = "import caffe; caffe.init_log(0, False); caffe.log('to a file')"
    done = subprocess.run([sys.executable, '-c', program], check=True, text=True,
                          capture_output=True,
                          env={**os.environ, 'GLOG_log_dir': str(tmp_path)})
    assert 'to a file' not in done.stderr
    assert any('to a file' in file.read_text() for file in tmp_path.iterdir())


def test_seeds(write):
    fillings = []
    for seed in (1, 1, 2):
        caffe.set_random_seed(seed)
        fillings.append(caffe.Net(write(SMALL_NET), caffe.TEST)
                        .params['conv'][0].data.copy())
    assert (fillings[0] == fillings[1]).all()
    assert (fillings[0] != fillings[2]).any()


DATABASE_NET = """
layer {{ name: 'data' type: 'Data' top: 'data' top: 'label'
         data_param {{ source: '{}' batch_size: 2 backend: LMDB }} }}"""


def test_data_are_read_ahead(write, tmp_path, build_dir):
    """By threads that must not need Python."""
    tool = build_dir / 'bin' / 'convert_imageset'
    if not tool.exists():
        pytest.skip('built without tools')
    for label in range(3):
        Image.new('RGB', (4, 3), (label, 0, 0)).save(tmp_path / f'{label}.png')
    images = write(''.join(f'{label}.png {label}\n' for label in range(3)),
                   'list.txt')
    subprocess.run([tool, f'{tmp_path}/', images, tmp_path / 'db'], check=True,
                   capture_output=True)
    file = write(DATABASE_NET.format(tmp_path / 'db'))
    seen = []
    net = caffe.Net(file, caffe.TRAIN)
    for _ in range(3):
        out = net.forward()
        seen += out['label'].tolist()
        # OpenCV's order: blue first.
        np.testing.assert_array_equal(out['data'][:, 2, 0, 0], out['label'])
    assert seen == [0, 1, 2, 0, 1, 2]
    del net
    with pytest.raises(caffe.Error, match='nowhere'):
        caffe.Net(write(DATABASE_NET.format('/nowhere')), caffe.TRAIN)
