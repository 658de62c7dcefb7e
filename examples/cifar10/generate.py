#!/usr/bin/env python3
"""Writes cifar10_resnet20_train_test.prototxt and cifar10_resnet20.prototxt,
and those of cifar10_resnet56: the nets of 20 and 56 layers for CIFAR-10 of He,
Zhang, Ren and Sun (2015).

    examples/cifar10/generate.py [FOLDER]
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../models'))
from prototxt import Name, input_data, layer, losses, write
from residual import ResidualNet


def data(phase, split, batch_size):
    return layer(
        'cifar', 'Data', top=['data', 'label'],
        include={'phase': Name(phase)},
        transform_param={
            'mean_file': 'examples/cifar10/mean.binaryproto',
            'scale': 0.015625,
            'mirror': phase == 'TRAIN'},
        data_param={
            'source': f'examples/cifar10/cifar10_{split}_lmdb',
            'batch_size': batch_size,
            'backend': Name('LMDB')})


def build(blocks, training):
    """The layers of a net with so many blocks in each of its three stages."""
    # With channels, and stride of the first block.
    stages = [(blocks, 16, 1), (blocks, 32, 2), (blocks, 64, 2)]
    # Caffe's 0.999 remembers a thousand iterations: at the first, high rate,
    # tests would see statistics of weights that are long gone.
    net = ResidualNet(training, moving_average_fraction=0.95)
    bottom = net.stages(net.basic, net.first(16, 3, 1), stages,
                        first_shortcut=False)
    net.scores('pool', 'fc10', bottom, 8, 10)
    return net.text


def files(blocks):
    # Two layers with weights a block, the first convolution and fc10.
    depth = 6 * blocks + 2
    head = f'# Written by generate.py.\nname: "ResNet-{depth}"\n'
    return {
        f'cifar10_resnet{depth}_train_test.prototxt':
            head + data('TRAIN', 'train', 128) + data('TEST', 'test', 100) +
            build(blocks, True) + losses('fc10', top5=False),
        f'cifar10_resnet{depth}.prototxt':
            head + input_data(side=32) + build(blocks, False) +
            layer('prob', 'Softmax', 'fc10'),
    }


write({**files(blocks=3), **files(blocks=9)})
