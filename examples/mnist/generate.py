#!/usr/bin/env python3
"""Writes mnist_autoencoder.prototxt and mnist_autoencoder_deploy.prototxt: the
net of Hinton and Salakhutdinov (2006) from digits to 30 numbers and back. Needs
the package caffe.

    examples/mnist/generate.py [FOLDER]
"""

import os
import sys

from caffe import NetSpec, layers as L

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../models'))
from prototxt import Name, layer, spec_layers, write

# The outputs of each inner product. The code itself has no neurons behind it,
# and those of the last are at the end.
ENCODE = {'encode1': 1000, 'encode2': 500, 'encode3': 250, 'encode4': 30}
DECODE = {'decode4': 250, 'decode3': 500, 'decode2': 1000, 'decode1': 784}
WITHOUT_NEURON = 'encode4', 'decode1'


def data(split, **include):
    return layer('data', 'Data', include=include,
                 transform_param={'scale': 0.0039215684},
                 data_param={'source': f'examples/mnist/mnist_{split}_lmdb',
                             'batch_size': 100, 'backend': Name('LMDB')})


def build(training):
    net = NetSpec()
    net.data = L.Input()
    weights = dict(
        param=[dict(lr_mult=1, decay_mult=1), dict(lr_mult=1, decay_mult=0)],
        weight_filler=dict(type='gaussian', std=1, sparse=15),
        bias_filler=dict(type='constant', value=0)) if training else {}
    if training:
        net.flatdata = L.Flatten(net.data)
    top = net.data
    for name, outputs in {**ENCODE, **DECODE}.items():
        top = net[name] = L.InnerProduct(top, num_output=outputs, **weights)
        if name not in WITHOUT_NEURON:
            top = net[name + 'neuron'] = L.Sigmoid(top)
    if training:
        net['cross_entropy_loss'] = L.SigmoidCrossEntropyLoss(
            top, net.flatdata, name='loss', loss_weight=1)
    net.decode1neuron = L.Sigmoid(top)
    if training:
        net['l2_error'] = L.EuclideanLoss(net.decode1neuron, net.flatdata,
                                          name='loss', loss_weight=0)
    return spec_layers(net)


HEAD = '# Written by generate.py.\nname: "MNISTAutoencoder"\n'
TEST = Name('TEST')

write({
    'mnist_autoencoder.prototxt':
        HEAD + data('train', phase=Name('TRAIN')) +
        data('train', phase=TEST, stage='test-on-train') +
        data('test', phase=TEST, stage='test-on-test') + build(True),
    'mnist_autoencoder_deploy.prototxt':
        HEAD + layer('data', 'Input', input_param={
            'shape': {'dim': [1, 1, 28, 28]}}) + build(False),
})
