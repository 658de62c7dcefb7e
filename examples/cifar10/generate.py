#!/usr/bin/env python3
"""Writes cifar10_resnet20_train_test.prototxt and cifar10_resnet20.prototxt:
the net of 20 layers for CIFAR-10 of He, Zhang, Ren and Sun (2015).

    examples/cifar10/generate.py [FOLDER]
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../models'))
from prototxt import Name, input_data, layer, losses, write
from residual import ResidualNet

# Number of blocks, their channels, and stride of the first block.
STAGES = [(3, 16, 1), (3, 32, 2), (3, 64, 2)]


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


def build(training):
    # Caffe's 0.999 remembers a thousand iterations: at the first, high rate,
    # tests would see statistics of weights that are long gone.
    net = ResidualNet(training, moving_average_fraction=0.95)
    bottom = net.stages(net.basic, net.first(16, 3, 1), STAGES,
                        first_shortcut=False)
    net.scores('pool', 'fc10', bottom, 8, 10)
    return net.text


HEAD = '# Written by generate.py.\nname: "ResNet-20"\n'

write({
    'cifar10_resnet20_train_test.prototxt':
        HEAD + data('TRAIN', 'train', 128) + data('TEST', 'test', 100) +
        build(True) + losses('fc10', top5=False),
    'cifar10_resnet20.prototxt':
        HEAD + input_data(side=32) + build(False) +
        layer('prob', 'Softmax', 'fc10'),
})
