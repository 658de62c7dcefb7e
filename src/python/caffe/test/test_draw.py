"""Drawings of nets."""

import shutil

import pytest
from google.protobuf import text_format

import caffe
import caffe.draw
from caffe.proto import caffe_pb2

pytest.importorskip('pydot')

NET = """
name: 'drawn "net"'
layer { name: 'data' type: 'Data' top: 'data' top: 'label'
        data_param { batch_size: 64 } include { phase: TRAIN } }
layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv'
        param { lr_mult: 3 }
        convolution_param { num_output: 20 kernel_size: 5 pad_h: 1 pad_w: 2 } }
layer { name: 'relu' type: 'ReLU' bottom: 'conv' top: 'conv' }
layer { name: 'pool' type: 'Pooling' bottom: 'conv' top: 'pool'
        pooling_param { pool: AVE kernel_size: 2 stride: 2 } }
layer { name: 'acc' type: 'Accuracy' bottom: 'pool' bottom: 'label' top: 'acc'
        include { phase: TEST } }
"""


@pytest.fixture
def net():
    return text_format.Parse(NET, caffe_pb2.NetParameter())


def labels(graph):
    return [node.get_label().strip('"') for node in graph.get_nodes()]


def test_graphs(net):
    graph = caffe.draw.get_pydot_graph(net, 'LR')
    found = labels(graph)
    assert 'conv' in found and found.count('data') == 1
    assert r'conv\n(Convolution)\nkernel size: 5\nstride: 1\npad: 1x2' in found
    assert (r'pool\n(AVE Pooling)\nkernel size: 2\nstride: 2\npad: 0') in found
    # One edge for every bottom and top.
    assert len(graph.get_edges()) == 2 + 2 + 2 + 2 + 3
    edge_labels = [edge.get_label().strip('"') for edge in graph.get_edges()]
    assert edge_labels.count('Batch 64') == 2 and edge_labels.count('20') == 1
    colors = {node.get_label().strip('"').split('\\')[0]:
              node.get_fillcolor().strip('"') for node in graph.get_nodes()}
    assert colors['relu'] == caffe.draw.NEURON_LAYER_STYLE['fillcolor']
    plain = caffe.draw.get_pydot_graph(net, 'TB', label_edges=False)
    assert not any(edge.get_label().strip('"') for edge in plain.get_edges())
    assert 'relu (ReLU)' in labels(plain)


def test_phases(net):
    train = labels(caffe.draw.get_pydot_graph(net, 'TB', phase=caffe.TRAIN))
    test = labels(caffe.draw.get_pydot_graph(net, 'TB', phase=caffe.TEST))
    assert any('acc' in label for label in test)
    assert not any('acc' in label for label in train)
    assert not any('(Data)' in label for label in test)


def test_rates(net):
    graph = caffe.draw.get_pydot_graph(net, 'TB', display_lrm=True)
    assert any('lr mult: 3.0' in label for label in labels(graph))
    assert caffe.draw.get_layer_lr_mult(net.layer[2]) is None


@pytest.mark.skipif(shutil.which('dot') is None, reason='needs Graphviz')
def test_files(net, tmp_path):
    for name, begin in (('net.png', b'\x89PNG'), ('net.svg', b'<?xml')):
        caffe.draw.draw_net_to_file(net, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(begin)
    assert 'conv' in (tmp_path / 'net.svg').read_text()
