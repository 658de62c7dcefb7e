#!/usr/bin/env python3
"""Writes train_val.prototxt and deploy.prototxt of ResNet-50 (He, Zhang, Ren
and Sun, 2015).

    models/resnet50/generate.py [FOLDER]
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
from prototxt import Name, imagenet_data, input_data, layer, losses, write

# Number of blocks, channels inside a block, and stride of the first block, of
# res2 to res5. A block gives four times its inner channels.
STAGES = [(3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)]


class Net:
    """The layers between the data and the loss, with what training needs or
    without."""

    def __init__(self, training):
        self.training = training
        self.text = ''

    def add(self, *args, **fields):
        self.text += layer(*args, **fields)

    def convolution(self, name, bottom, num_output, kernel_size, stride,
                    bias_term=False):
        fields = {'num_output': num_output, 'kernel_size': kernel_size}
        if kernel_size > 1:
            fields['pad'] = kernel_size // 2
        if stride > 1:
            fields['stride'] = stride
        if not bias_term:
            fields['bias_term'] = False
        if self.training:
            fields['weight_filler'] = {'type': 'msra'}
        self.add(name, 'Convolution', bottom, convolution_param=fields)

    def normalize(self, blob, suffix):
        """Batch normalization is two layers in Caffe: to zero mean and unit
        variance, then the learned scale and shift."""
        fields = {} if self.training else {
            'batch_norm_param': {'use_global_stats': True}}
        self.add(f'bn{suffix}', 'BatchNorm', blob, blob, **fields)
        self.add(f'scale{suffix}', 'Scale', blob, blob,
                 scale_param={'bias_term': True})

    def branch(self, block, suffix, bottom, num_output, kernel_size, stride,
               relu):
        name = f'res{block}_{suffix}'
        self.convolution(name, bottom, num_output, kernel_size, stride)
        self.normalize(name, f'{block}_{suffix}')
        if relu:
            self.add(f'{name}_relu', 'ReLU', name, name)
        return name

    def block(self, name, bottom, channels, stride, shortcut):
        across = bottom
        if shortcut:
            across = self.branch(name, 'branch1', bottom, 4 * channels, 1,
                                 stride, relu=False)
        a = self.branch(name, 'branch2a', bottom, channels, 1, stride, True)
        b = self.branch(name, 'branch2b', a, channels, 3, 1, True)
        c = self.branch(name, 'branch2c', b, 4 * channels, 1, 1, False)
        top = f'res{name}'
        self.add(top, 'Eltwise', [across, c])
        self.add(f'{top}_relu', 'ReLU', top, top)
        return top

    def build(self):
        self.convolution('conv1', 'data', 64, 7, 2, bias_term=True)
        self.normalize('conv1', '_conv1')
        self.add('conv1_relu', 'ReLU', 'conv1', 'conv1')
        self.add('pool1', 'Pooling', 'conv1', pooling_param={
            'pool': Name('MAX'), 'kernel_size': 3, 'stride': 2})
        bottom = 'pool1'
        for stage, (blocks, channels, stride) in enumerate(STAGES, 2):
            for i in range(blocks):
                bottom = self.block(f'{stage}{"abcdef"[i]}', bottom, channels,
                                    stride if i == 0 else 1, shortcut=i == 0)
        self.add('pool5', 'Pooling', bottom, pooling_param={
            'pool': Name('AVE'), 'kernel_size': 7, 'stride': 1})
        fields = {'num_output': 1000}
        if self.training:
            fields['weight_filler'] = {'type': 'msra'}
        self.add('fc1000', 'InnerProduct', 'pool5', inner_product_param=fields)
        return self.text


HEAD = '# Written by generate.py.\nname: "ResNet-50"\n'

write({
    'train_val.prototxt':
        HEAD + imagenet_data(32, 25, mean=[104, 117, 123]) +
        Net(training=True).build() + losses('fc1000'),
    'deploy.prototxt':
        HEAD + input_data() + Net(training=False).build() +
        layer('prob', 'Softmax', 'fc1000'),
})
