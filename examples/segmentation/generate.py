#!/usr/bin/env python3
"""Writes shapes_fcn_train_test.prototxt and shapes_fcn.prototxt: a small net of
the kind of Long, Shelhamer and Darrell (2015), with one skip. Needs the package
caffe.

    examples/segmentation/generate.py [FOLDER]
"""

import os
import sys

from caffe import NetSpec, layers as L, params as P
from caffe.coord_map import crop

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../models'))
from prototxt import Name, input_data, layer, spec_layers, write

# Channels of the convolutions; behind each the image is halved.
CHANNELS = 16, 32, 64

# Background, disc, square and triangle.
CLASSES = 4


def data(top, phase, split, batch_size, transform):
    return layer(top, 'Data', include={'phase': Name(phase)},
                 transform_param=transform, data_param={
                     'source': f'examples/segmentation/{split}_{top}_lmdb',
                     'batch_size': batch_size, 'backend': Name('LMDB')})


def images_and_labels(phase, split, batch_size):
    """Two databases that are in the same order."""
    return (data('data', phase, split, batch_size,
                 {'mean_value': 128, 'scale': 0.0078125}) +
            data('label', phase, split, batch_size, {'scale': 1}))


def build(training):
    net = NetSpec()
    net.data, net.label = L.Input(ntop=2)

    def convolution(name, bottom, channels, **shape):
        if training:
            shape['weight_filler'] = dict(type='msra')
            shape['param'] = [dict(lr_mult=1, decay_mult=1),
                              dict(lr_mult=2, decay_mult=0)]
        net[name] = L.Convolution(bottom, num_output=channels, **shape)
        return net[name]

    def enlarge(name, bottom, factor):
        """Bilinear, and not learned: each class by itself."""
        fields = dict(num_output=CLASSES, group=CLASSES, bias_term=False,
                      kernel_size=2 * factor, stride=factor)
        if training:
            fields['weight_filler'] = dict(type='bilinear')
        net[name] = L.Deconvolution(bottom, convolution_param=fields,
                                    param=[dict(lr_mult=0)])
        return net[name]

    top = net.data
    for number, channels in enumerate(CHANNELS, 1):
        for half in 1, 2:
            top = convolution(f'conv{number}_{half}', top, channels,
                              kernel_size=3, pad=1)
            net[f'relu{number}_{half}'] = L.ReLU(top, in_place=True)
        top = net[f'pool{number}'] = L.Pooling(top, pool=P.Pooling.MAX,
                                               kernel_size=2, stride=2)
    coarse = convolution('score_fr', top, CLASSES, kernel_size=1)
    fine = convolution('score_pool2', net.pool2, CLASSES, kernel_size=1)
    net.upscore2 = enlarge('upscore2', coarse, 2)
    net.upscore2c = crop(net.upscore2, fine)
    net.fuse_pool2 = L.Eltwise(net.upscore2c, fine)
    net.upscore4 = enlarge('upscore4', net.fuse_pool2, 4)
    net.score = crop(net.upscore4, net.data)
    return spec_layers(net)


HEAD = '# Written by generate.py.\nname: "ShapesFCN"\n'

write({
    'shapes_fcn_train_test.prototxt':
        HEAD + images_and_labels('TRAIN', 'train', 20) +
        images_and_labels('TEST', 'test', 20) + build(True) +
        layer('accuracy', 'Accuracy', ['score', 'label'],
              top=['accuracy', 'class_accuracy'],
              include={'phase': Name('TEST')}) +
        layer('loss', 'SoftmaxWithLoss', ['score', 'label']),
    'shapes_fcn.prototxt':
        HEAD + input_data(side=64) + build(False) +
        layer('prob', 'Softmax', 'score'),
})
