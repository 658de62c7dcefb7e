#!/usr/bin/env python3
"""Writes mnist_siamese_train_test.prototxt and mnist_siamese.prototxt: two
copies of LeNet with the same weights, as in Chopra, Hadsell and LeCun (2005).

    examples/siamese/generate.py [FOLDER]
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../models'))
from prototxt import Name, layer, write

FILLERS = {'weight_filler': {'type': 'xavier'},
           'bias_filler': {'type': 'constant'}}


def tower(data, suffix='', shared=True):
    """LeNet from an image to two numbers, with the suffix behind the names of
    its layers, and names for parameters to share."""
    def params(name):
        return {'param': [{'name': name + '_w', 'lr_mult': 1},
                          {'name': name + '_b', 'lr_mult': 2}]} if shared else {}

    def convolution(name, bottom, num_output):
        return layer(name + suffix, 'Convolution', bottom, **params(name),
                     convolution_param={'num_output': num_output,
                                        'kernel_size': 5, **FILLERS})

    def pooling(name, bottom):
        return layer(name + suffix, 'Pooling', bottom + suffix, pooling_param={
            'pool': Name('MAX'), 'kernel_size': 2, 'stride': 2})

    def product(name, bottom, num_output):
        return layer(name + suffix, 'InnerProduct', bottom + suffix,
                     **params(name), inner_product_param={
                         'num_output': num_output, **FILLERS})

    return (convolution('conv1', data, 20) + pooling('pool1', 'conv1') +
            convolution('conv2', 'pool1' + suffix, 50) +
            pooling('pool2', 'conv2') + product('ip1', 'pool2', 500) +
            layer('relu1' + suffix, 'ReLU', 'ip1' + suffix, 'ip1' + suffix) +
            product('ip2', 'ip1', 10) + product('feat', 'ip2', 2))


def pairs(phase, split, batch_size):
    return layer('pair_data', 'Data', top=['pair_data', 'sim'],
                 include={'phase': Name(phase)},
                 transform_param={'scale': 0.00390625},
                 data_param={
                     'source': f'examples/siamese/mnist_siamese_{split}_leveldb',
                     'batch_size': batch_size})


write({
    'mnist_siamese_train_test.prototxt':
        '# Written by generate.py.\nname: "Siamese LeNet"\n' +
        pairs('TRAIN', 'train', 64) + pairs('TEST', 'test', 100) +
        layer('slice_pair', 'Slice', 'pair_data', ['data', 'data_p'],
              slice_param={'slice_point': 1}) +
        tower('data') + tower('data_p', '_p') +
        layer('loss', 'ContrastiveLoss', ['feat', 'feat_p', 'sim'],
              contrastive_loss_param={'margin': 1}),
    'mnist_siamese.prototxt':
        '# Written by generate.py.\nname: "Siamese LeNet"\n' +
        layer('data', 'Input',
              input_param={'shape': {'dim': [1, 1, 28, 28]}}) +
        tower('data', shared=False),
})
