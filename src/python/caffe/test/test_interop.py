"""Nets and weights that others read and have written: OpenCV, old Caffe."""

import gzip

import numpy as np
import pytest

import caffe
from caffe import layers as L
from caffe import params as P

SHARED = 'shared/data'


def shared(source_dir, name):
    file = source_dir.parent / SHARED / name
    if not file.exists():
        pytest.skip(f'{SHARED}/{name} is not there')
    return file


def random_weights(net, rng):
    for blobs in net.params.values():
        for blob in blobs:
            blob.data[...] = 0.2 * rng.standard_normal(blob.shape)


def assert_opencv_agrees(net, prototxt, rng, tmp_path):
    cv2 = pytest.importorskip('cv2')
    net.save(tmp_path / 'net.caffemodel')
    other = cv2.dnn.readNetFromCaffe(prototxt, str(tmp_path / 'net.caffemodel'))
    data = rng.random(net.blobs['data'].shape).astype(np.float32)
    other.setInput(data)
    ours, theirs = net.forward(data=data)['prob'], other.forward()
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-6)
    assert ours.std() > 0.01


def test_lenet_in_opencv(source_dir, rng, tmp_path):
    prototxt = str(source_dir / 'examples/mnist/lenet.prototxt')
    net = caffe.Net(prototxt, caffe.TEST)
    random_weights(net, rng)
    assert_opencv_agrees(net, prototxt, rng, tmp_path)


def test_batch_norm_and_scale_in_opencv(rng, write, tmp_path):
    n = caffe.NetSpec()
    n.data = L.Input(shape=dict(dim=[2, 3, 16, 16]))
    n.conv = L.Convolution(n.data, kernel_size=3, num_output=8, pad=1,
                           bias_term=False)
    n.bn = L.BatchNorm(n.conv, in_place=True)
    n.scale = L.Scale(n.bn, bias_term=True, in_place=True)
    n.relu = L.ReLU(n.scale, in_place=True)
    n.pool = L.Pooling(n.relu, pool=P.Pooling.AVE, kernel_size=2, stride=2)
    n.ip = L.InnerProduct(n.pool, num_output=5)
    n.prob = L.Softmax(n.ip)
    prototxt = write(str(n.to_proto()))
    net = caffe.Net(prototxt, caffe.TEST)
    random_weights(net, rng)
    mean, variance, factor = (blob.data for blob in net.params['bn'])
    factor[...] = 4
    variance[...] = 1 + 4 * rng.random(variance.shape)
    assert_opencv_agrees(net, prototxt, rng, tmp_path)


def idx(file, header):
    with gzip.open(file) as packed:
        return np.frombuffer(packed.read(), np.uint8, offset=header)


def test_weights_of_old_caffe_on_mnist(source_dir):
    """Weights that Caffe wrote in 2014 score what they did there."""
    weights = shared(source_dir, 'caffemodels/lenet_iter_10000.caffemodel')
    images = idx(shared(source_dir, 'mnist/t10k-images-idx3-ubyte.gz'), 16)
    labels = idx(shared(source_dir, 'mnist/t10k-labels-idx1-ubyte.gz'), 8)
    net = caffe.Net(str(source_dir / 'examples/mnist/lenet.prototxt'),
                    str(weights), caffe.TEST)
    net.blobs['data'].reshape(500, 1, 28, 28)
    images = images.reshape(-1, 1, 28, 28) / np.float32(256)
    out = net.forward_all(data=images)['prob']
    assert len(out) == len(labels) == 10000
    assert (out.argmax(axis=1) == labels).mean() == pytest.approx(0.9914)
