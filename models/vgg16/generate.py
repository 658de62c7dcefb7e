#!/usr/bin/env python3
"""Writes train_val.prototxt and deploy.prototxt of VGG-16 (configuration D of
Simonyan and Zisserman, 2014).

    models/vgg16/generate.py [FOLDER]
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
from prototxt import Name, imagenet_data, input_data, layer, losses, write

# Channels of each convolution; a row ends in a pooling layer.
STAGES = [[64] * 2, [128] * 2, [256] * 3, [512] * 3, [512] * 3]

# Weights, then bias.
PARAM = [{'lr_mult': 1, 'decay_mult': 1}, {'lr_mult': 2, 'decay_mult': 0}]


def with_fillers(fields, training):
    if training:
        fields['weight_filler'] = {'type': 'xavier'}
        fields['bias_filler'] = {'type': 'constant', 'value': 0}
    return fields


def trainable(training):
    return {'param': PARAM} if training else {}


def features(training):
    text = ''
    bottom = 'data'
    for s, stage in enumerate(STAGES, 1):
        for c, channels in enumerate(stage, 1):
            name = f'conv{s}_{c}'
            text += layer(
                name, 'Convolution', bottom, **trainable(training),
                convolution_param=with_fillers(
                    {'num_output': channels, 'pad': 1, 'kernel_size': 3},
                    training))
            text += layer(f'relu{s}_{c}', 'ReLU', name, name)
            bottom = name
        text += layer(f'pool{s}', 'Pooling', bottom, pooling_param={
            'pool': Name('MAX'), 'kernel_size': 2, 'stride': 2})
        bottom = f'pool{s}'
    return text


def classifier(training):
    text = ''
    bottom = 'pool5'
    for i, outputs in (6, 4096), (7, 4096), (8, 1000):
        name = f'fc{i}'
        text += layer(
            name, 'InnerProduct', bottom, **trainable(training),
            inner_product_param=with_fillers({'num_output': outputs},
                                             training))
        bottom = name
        if i < 8:
            text += layer(f'relu{i}', 'ReLU', name, name)
            text += layer(f'drop{i}', 'Dropout', name, name,
                          dropout_param={'dropout_ratio': 0.5})
    return text


HEAD = '# Written by generate.py.\nname: "VGG_ILSVRC_16_layers"\n'

write({
    'train_val.prototxt':
        HEAD + imagenet_data(64, 50, mean=[103.939, 116.779, 123.68]) +
        features(True) + classifier(True) + losses('fc8'),
    'deploy.prototxt':
        HEAD + input_data() + features(False) + classifier(False) +
        layer('prob', 'Softmax', 'fc8'),
})
