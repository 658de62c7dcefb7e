#!/usr/bin/env python3
"""Writes train_val.prototxt and deploy.prototxt of SqueezeNet 1.1 (Iandola et
al., 2016). Needs the package caffe.

    models/squeezenet_v1.1/generate.py [FOLDER]
"""

import os
import sys

from caffe import NetSpec, layers as L, params as P

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
from prototxt import (imagenet_data, input_data, layer, losses, spec_layers,
                      write)

# Channels that a fire module squeezes its bottom to; its top has eight times as
# many.
SQUEEZE = {2: 16, 3: 16, 4: 32, 5: 32, 6: 48, 7: 48, 8: 64, 9: 64}

# Modules behind which the image is halved.
POOL_AFTER = 3, 5

XAVIER = dict(type='xavier')


def build(training):
    net = NetSpec()
    net.data, net.label = L.Input(ntop=2)

    def convolution(scope, name, bottom, channels, size, weight_filler=XAVIER,
                    **shape):
        if training:
            shape['weight_filler'] = weight_filler
        top = L.Convolution(bottom, num_output=channels, kernel_size=size,
                            **shape)
        net[scope + name] = top
        net[f'{scope}relu_{name}'] = L.ReLU(top, in_place=True)
        return top

    def halve(name, bottom):
        net[name] = L.Pooling(bottom, pool=P.Pooling.MAX, kernel_size=3,
                              stride=2)
        return net[name]

    def fire(scope, bottom, channels):
        squeezed = convolution(scope, 'squeeze1x1', bottom, channels, 1)
        net[scope + 'concat'] = L.Concat(
            convolution(scope, 'expand1x1', squeezed, 4 * channels, 1),
            convolution(scope, 'expand3x3', squeezed, 4 * channels, 3, pad=1))
        return net[scope + 'concat']

    top = halve('pool1', convolution('', 'conv1', net.data, 64, 3, stride=2))
    for number, channels in SQUEEZE.items():
        top = fire(f'fire{number}/', top, channels)
        if number in POOL_AFTER:
            top = halve(f'pool{number}', top)
    net.drop9 = L.Dropout(top, in_place=True, dropout_ratio=0.5)
    top = convolution('', 'conv10', top, 1000, 1,
                      weight_filler=dict(type='gaussian', std=0.01))
    net.pool10 = L.Pooling(top, pool=P.Pooling.AVE, global_pooling=True)
    return spec_layers(net)


HEAD = '# Written by generate.py.\nname: "SqueezeNet_v1.1"\n'

write({
    'train_val.prototxt':
        HEAD + imagenet_data(32, 25, mean=[104, 117, 123], crop_size=227,
                             mirror=False) +
        build(True) + losses('pool10'),
    'deploy.prototxt':
        HEAD + input_data(side=227) + build(False) +
        layer('prob', 'Softmax', 'pool10'),
})
