#!/usr/bin/env python3
"""Writes train_val.prototxt and deploy.prototxt of ResNet-18 (He, Zhang, Ren
and Sun, 2015).

    models/resnet18/generate.py [FOLDER]
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
from prototxt import imagenet_data, input_data, layer, losses, write
from residual import ResidualNet

# Number of blocks, their channels, and stride of the first block, of res2 to
# res5.
STAGES = [(2, 64, 1), (2, 128, 2), (2, 256, 2), (2, 512, 2)]


def build(training):
    net = ResidualNet(training)
    bottom = net.max_pool('pool1', net.first(64, 7, 2))
    bottom = net.stages(net.basic, bottom, STAGES, first_shortcut=False)
    net.scores('pool5', 'fc1000', bottom, 7, 1000)
    return net.text


HEAD = '# Written by generate.py.\nname: "ResNet-18"\n'

write({
    'train_val.prototxt':
        HEAD + imagenet_data(64, 50, mean=[104, 117, 123]) + build(True) +
        losses('fc1000'),
    'deploy.prototxt':
        HEAD + input_data() + build(False) + layer('prob', 'Softmax', 'fc1000'),
})
