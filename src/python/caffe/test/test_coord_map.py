"""Where in one top a place of another is."""

import numpy as np
import pytest

import caffe
from caffe import layers as L
from caffe.coord_map import (AxisMismatchException, UndefinedMapException,
                             compose, coord_map, coord_map_from_to, crop,
                             inverse)


def fully_convolutional(pad):
    """A net in the way of FCN-32s: five times half the size, then back."""
    n = caffe.NetSpec()
    n.data = L.Input(shape=dict(dim=[1, 3, 100, 100]))
    top = n.data
    for i in range(5):
        top = L.Convolution(top, kernel_size=3, num_output=4,
                            pad=pad if i == 0 else 1)
        top = L.Pooling(L.ReLU(top, in_place=True), kernel_size=2, stride=2)
    n.score = L.Convolution(L.Convolution(top, kernel_size=7, num_output=4),
                            kernel_size=1, num_output=2)
    n.upscore = L.Deconvolution(n.score, convolution_param=dict(
        num_output=2, kernel_size=64, stride=32))
    return n


def test_fcn():
    n = fully_convolutional(pad=100)
    axis, scale, shift = coord_map_from_to(n.upscore, n.data)
    assert axis == 1 and scale == 1
    # 100 of padding, less the kernels' share: known for this net.
    assert shift == -19
    made = caffe.to_proto(crop(n.upscore, n.data)).layer[-1]
    assert made.type == 'Crop' and made.crop_param.axis == 2
    assert list(made.crop_param.offset) == [19]


def test_places_are_right():
    """A value set at one place of the bottom arrives where the map says."""
    top = L.Convolution(L.Input(shape=dict(dim=[1, 1, 21, 21])), kernel_size=5,
                        stride=2, pad=1, dilation=2, num_output=1)
    _, scale, shift = coord_map(top.fn)
    # The kernel spans 9: its centre is at -1 + 4 + 2 y.
    for y in (0, 3):
        assert scale * (2 * y + 3) + shift == y


def test_round_trips():
    data = L.Input(shape=dict(dim=[1, 1, 64, 64]))
    for kernel, stride, pad in ((1, 1, 0), (3, 2, 1), (7, 4, 3)):
        settings = dict(kernel_size=kernel, stride=stride, pad=pad,
                        num_output=1)
        down = L.Convolution(data, **settings)
        up = L.Deconvolution(down, convolution_param=settings)
        _, scale, shift = coord_map_from_to(up, data)
        assert scale == 1 and shift == 0
    mapping = (1, np.array([2.0]), np.array([3.0]))
    _, scale, shift = compose(inverse(mapping), mapping)
    assert scale == 1 and shift == 0


def test_crops_and_sums():
    data = L.Input(shape=dict(dim=[1, 1, 64, 64]))
    small = L.Convolution(data, kernel_size=5, num_output=1)
    cut = crop(data, small)
    assert cut.fn.params['crop_param'] == dict(axis=2, offset=[2])
    both = L.Eltwise(cut, small)
    _, scale, shift = coord_map_from_to(both, data)
    assert scale == 1 and shift == 2
    assert crop(both, L.Convolution(both, kernel_size=3, num_output=1)
                ).fn.params['crop_param']['offset'] == [1]


def test_what_cannot_be_mapped():
    data = L.Input(shape=dict(dim=[1, 1, 64, 64]))
    with pytest.raises(UndefinedMapException):
        coord_map(L.InnerProduct(data, num_output=3).fn)
    with pytest.raises(UndefinedMapException):
        coord_map(L.Convolution(data, kernel_h=3, kernel_w=2).fn)
    other = L.Input(shape=dict(dim=[1, 1, 64, 64]))
    with pytest.raises(RuntimeError, match='no map'):
        coord_map_from_to(data, other)
    with pytest.raises(AxisMismatchException):
        compose((1, 1, 0), (2, 1, 0))
    small = L.Convolution(data, kernel_size=5, num_output=1)
    with pytest.raises(AssertionError, match='negative'):
        crop(small, data)
    with pytest.raises(AssertionError, match='scale'):
        crop(data, L.Pooling(data, kernel_size=2, stride=2))
    with pytest.raises(AssertionError, match='between'):
        crop(data, L.Convolution(data, kernel_size=2, num_output=1))
