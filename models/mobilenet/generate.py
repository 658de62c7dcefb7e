#!/usr/bin/env python3
"""Writes train_val.prototxt and deploy.prototxt of MobileNet (Howard et al.,
2017), of full width. Needs the package caffe.

    models/mobilenet/generate.py [FOLDER]
"""

import os
import sys

from caffe import NetSpec, layers as L, params as P

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
from prototxt import (imagenet_data, input_data, layer, losses, spec_layers,
                      write)

# Name, channels and stride of each pair of a depthwise and a 1 x 1 convolution.
PAIRS = [('2_1', 64, 1), ('2_2', 128, 2), ('3_1', 128, 1), ('3_2', 256, 2),
         ('4_1', 256, 1), ('4_2', 512, 2), ('5_1', 512, 1), ('5_2', 512, 1),
         ('5_3', 512, 1), ('5_4', 512, 1), ('5_5', 512, 1), ('5_6', 1024, 2),
         ('6', 1024, 1)]


def build(training):
    net = NetSpec()
    net.data, net.label = L.Input(ntop=2)

    def with_filler(fields):
        if training:
            fields['weight_filler'] = dict(type='msra')
        return fields

    def convolution(number, kind, bottom, channels, size, **shape):
        """Without bias, normalized, rectified."""
        name = f'conv{number}{kind}'
        if size > 1:
            shape['pad'] = size // 2
        net[name] = L.Convolution(bottom, **with_filler(dict(
            num_output=channels, bias_term=False, kernel_size=size, **shape)))
        top = L.BatchNorm(net[name], **(
            {} if training else dict(use_global_stats=True)))
        net[f'{name}/bn'] = top
        net[f'{name}/scale'] = L.Scale(top, in_place=True, bias_term=True)
        net[f'relu{number}{kind}'] = L.ReLU(top, in_place=True)
        return top

    top = convolution('1', '', net.data, 32, 3, stride=2)
    inputs = 32
    for number, channels, stride in PAIRS:
        top = convolution(number, '/dw', top, inputs, 3, group=inputs,
                          **(dict(stride=stride) if stride > 1 else {}))
        top = convolution(number, '/sep', top, channels, 1)
        inputs = channels
    net.pool6 = L.Pooling(top, pool=P.Pooling.AVE, global_pooling=True)
    net.fc7 = L.Convolution(
        net.pool6, **with_filler(dict(num_output=1000, kernel_size=1)),
        **(dict(param=[dict(lr_mult=1, decay_mult=1),
                       dict(lr_mult=2, decay_mult=0)]) if training else {}))
    return spec_layers(net)


HEAD = '# Written by generate.py.\nname: "MOBILENET"\n'

write({
    'train_val.prototxt':
        HEAD + imagenet_data(64, 50, mean=[103.94, 116.78, 123.68],
                             scale=0.017) +
        build(True) + losses('fc7'),
    'deploy.prototxt':
        HEAD + input_data() + build(False) + layer('prob', 'Softmax', 'fc7'),
})
