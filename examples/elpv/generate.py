#!/usr/bin/env python3
"""Writes elpv_alexnet_train_test.prototxt and elpv_resnet18_train_test.prototxt:
the nets in models/ with these images, two classes, and fillers that let few
images train them from scratch.

    examples/elpv/generate.py [FOLDER]
"""

import os
import sys

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      '../../models')
sys.path.insert(0, MODELS)
from prototxt import Name, parse, text, write


def data(layer, batch_size):
    """The Data layer of a model with our database instead of ImageNet's."""
    phase = layer['include'][0]['phase'][0]
    crop_size = layer['transform_param'][0]['crop_size'][0]
    split = phase.lower()
    return {
        **layer,
        'transform_param': {
            'mean_file': 'examples/elpv/mean.binaryproto',
            'scale': 0.015625, 'crop_size': crop_size,
            'mirror': phase == 'TRAIN'},
        'data_param': {
            'source': f'examples/elpv/elpv_{split}_lmdb',
            # The 656 test images are 41 such batches.
            'batch_size': batch_size, 'backend': Name('LMDB')},
    }


def adapted(layer, scores, batch_size):
    if layer['type'] == ['Data']:
        return data(layer, batch_size)
    # Another name, so that weights trained on ImageNet fit all other layers.
    for field in 'name', 'bottom', 'top':
        layer[field] = [f'{scores}_elpv' if name == scores else name
                        for name in layer.get(field, [])]
    for field in 'convolution_param', 'inner_product_param':
        for param in layer.get(field, []):
            param['weight_filler'] = [{'type': 'msra'}]
            param.pop('bias_filler', None)
    if layer['name'] == [f'{scores}_elpv']:
        layer['inner_product_param'][0]['num_output'] = [2]
    return layer


def net(model, scores, batch_size):
    with open(os.path.join(MODELS, model, 'train_val.prototxt')) as file:
        message = parse(file.read())
    message['layer'] = [adapted(layer, scores, batch_size)
                        for layer in message['layer']
                        if layer['name'] != ['accuracy_top5']]
    return '# Written by generate.py.\n' + text(message)


write({
    'elpv_alexnet_train_test.prototxt': net('bvlc_alexnet', 'fc8', 16),
    'elpv_resnet18_train_test.prototxt': net('resnet18', 'fc1000', 16),
})
