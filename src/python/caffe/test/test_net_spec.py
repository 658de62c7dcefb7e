"""Nets written as Python expressions."""

import numpy as np
import pytest
from google.protobuf import text_format

import caffe
from caffe import layers as L
from caffe import params as P
from caffe.proto import caffe_pb2

LENET = """
layer { name: 'data' type: 'DummyData' top: 'data' top: 'label'
        dummy_data_param { shape { dim: 4 dim: 1 dim: 28 dim: 28 }
                           shape { dim: 4 }
                           data_filler { type: 'constant' } } }
layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1'
        convolution_param { num_output: 20 kernel_size: 5
                            weight_filler { type: 'xavier' } } }
layer { name: 'pool1' type: 'Pooling' bottom: 'conv1' top: 'pool1'
        pooling_param { pool: AVE kernel_size: 2 stride: 2 } }
layer { name: 'ip1' type: 'InnerProduct' bottom: 'pool1' top: 'ip1'
        param { lr_mult: 1 } param { lr_mult: 2 decay_mult: 0 }
        inner_product_param { num_output: 10
                              weight_filler { type: 'xavier' } } }
layer { name: 'relu1' type: 'ReLU' bottom: 'ip1' top: 'ip1' }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip1' bottom: 'label'
        top: 'loss' loss_weight: 0.5 include { phase: TRAIN } }
"""


def lenet():
    n = caffe.NetSpec()
    n.data, n.label = L.DummyData(
        shape=[dict(dim=[4, 1, 28, 28]), dict(dim=[4])], ntop=2,
        data_filler=dict(type='constant'))
    n.conv1 = L.Convolution(n.data, kernel_size=5, num_output=20,
                            weight_filler=dict(type='xavier'))
    n.pool1 = L.Pooling(n.conv1, pool=P.Pooling.AVE, kernel_size=2, stride=2)
    n.ip1 = L.InnerProduct(n.pool1, num_output=10,
                           weight_filler=dict(type='xavier'),
                           param=[dict(lr_mult=1),
                                  dict(lr_mult=2, decay_mult=0)])
    n.relu1 = L.ReLU(n.ip1, in_place=True)
    n.loss = L.SoftmaxWithLoss(n.relu1, n.label, loss_weight=0.5,
                               include=dict(phase=caffe.TRAIN))
    return n


def parse(text):
    return text_format.Parse(text, caffe_pb2.NetParameter())


def test_a_net():
    assert lenet().to_proto() == parse(LENET)


def test_a_net_that_runs(write):
    net = caffe.Net(write(str(lenet().to_proto())), caffe.TRAIN)
    assert net.forward()['loss'] == pytest.approx(0.5 * np.log(10) * 2)
    assert list(net.blobs) == ['data', 'label', 'conv1', 'pool1', 'ip1', 'loss']


def test_names_that_are_made_up():
    data = L.Input(shape=dict(dim=[1, 2]))
    sums = [L.InnerProduct(data, num_output=i + 1) for i in range(2)]
    net = caffe.to_proto(L.Concat(*sums))
    assert [layer.name for layer in net.layer] == [
        'Input1', 'InnerProduct1', 'InnerProduct2', 'Concat1']
    assert list(net.layer[3].bottom) == ['InnerProduct1', 'InnerProduct2']
    assert L.Silence(data, ntop=0).ntop == 0
    n = caffe.NetSpec()
    n.data = data
    n.silence = L.Silence(n.data, ntop=0)
    assert n.to_proto() == parse("""
        layer { name: 'data' type: 'Input' top: 'data'
                input_param { shape { dim: 1 dim: 2 } } }
        layer { name: 'silence' type: 'Silence' bottom: 'data' }""")
    assert data.to_proto().layer[0].name == 'Input1'


def test_layers_used_twice_appear_once():
    n = caffe.NetSpec()
    n.a = L.Input(shape=dict(dim=[1]))
    n.b = L.ReLU(n.a)
    n.c = L.Eltwise(n.b, n.b, n.a)
    layers = n.to_proto().layer
    assert [layer.name for layer in layers] == ['a', 'b', 'c']
    assert list(layers[2].bottom) == ['b', 'b', 'a']


def test_items():
    n = caffe.NetSpec()
    n['a/b'] = L.Input(shape=dict(dim=[1]))
    assert 'a/b' in n and n['a/b'].fn.type_name == 'Input'
    assert n.to_proto().layer[0].name == 'a/b'
    assert n.keys() == ['a/b'] and n.vals() == [n['a/b']]
    del n['a/b']
    with pytest.raises(AttributeError):
        n.missing
    assert len(n.to_proto().layer) == 0


def test_settings():
    layer = lambda top: caffe.to_proto(top).layer[-1]
    data = L.Input(shape=dict(dim=[1]))
    # Settings of other types by their field, numbers of numpy, enums by name,
    # a value for a list, an empty message, names of layers.
    made = layer(L.Deconvolution(data, name='up', convolution_param=dict(
        num_output=np.int64(3), kernel_size=4, pad=[1, 2],
        weight_filler=dict(type='bilinear'))))
    assert made.name == 'up'
    assert made.convolution_param.num_output == 3
    assert list(made.convolution_param.kernel_size) == [4]
    assert list(made.convolution_param.pad) == [1, 2]
    assert layer(L.Pooling(data, pool='AVE')).pooling_param.pool == 1
    assert layer(L.ReLU(data, relu_param=dict())).HasField('relu_param')
    made = layer(L.Python(data, module='m', layer='l', param_str='x'))
    assert made.python_param.param_str == 'x'
    made = layer(L.Data(source='s', batch_size=2,
                        transform_param=dict(scale=0.5, mean_value=[1, 2])))
    assert made.data_param.source == 's'
    assert list(made.transform_param.mean_value) == [1, 2]
    assert caffe.net_spec.param_name_dict()['Convolution'] == 'convolution'
    assert P.Eltwise.SUM == 1


def test_mistakes():
    data = L.Input(shape=dict(dim=[1]))
    with pytest.raises(TypeError, match='input 1'):
        L.Concat(data, 'label')
    with pytest.raises(caffe.Error, match="no setting 'kernelsize'"):
        caffe.to_proto(L.Convolution(data, kernelsize=3))
    with pytest.raises(AttributeError, match='no field std_dev'):
        caffe.to_proto(L.Convolution(data, weight_filler=dict(std_dev=3)))
    with pytest.raises(ValueError, match='pool cannot be MEAN'):
        caffe.to_proto(L.Pooling(data, pool='MEAN'))
    with pytest.raises(caffe.Error, match='in place'):
        L.Eltwise(data, data, in_place=True)
    with pytest.raises(AttributeError):
        P.Nonsense
