#!/usr/bin/env python3
"""Writes train_val.prototxt and deploy.prototxt of GoogLeNet (Szegedy et al.,
2014). Needs the package caffe.

    models/bvlc_googlenet/generate.py [FOLDER]
"""

import os
import sys

from caffe import NetSpec, layers as L, params as P

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
from prototxt import imagenet_data, input_data, spec_layers, write

# Channels of 1x1, 3x3_reduce, 3x3, 5x5_reduce, 5x5 and pool_proj. A row ends in
# a pooling layer.
STAGES = {
    3: {'a': (64, 96, 128, 16, 32, 32), 'b': (128, 128, 192, 32, 96, 64)},
    4: {'a': (192, 96, 208, 16, 48, 64), 'b': (160, 112, 224, 24, 64, 64),
        'c': (128, 128, 256, 24, 64, 64), 'd': (112, 144, 288, 32, 64, 64),
        'e': (256, 160, 320, 32, 128, 128)},
    5: {'a': (256, 160, 320, 32, 128, 128), 'b': (384, 192, 384, 48, 128, 128)},
}

# Where there is a loss besides the one at the end.
AUXILIARY = {'inception_4a': 'loss1', 'inception_4d': 'loss2'}


class GoogLeNet:
    """The layers between the data and the probabilities, with what training
    needs or without."""

    def __init__(self, training):
        self.training = training
        self.net = NetSpec()
        self.net.data, self.net.label = L.Input(ntop=2)

    def add(self, name, top):
        self.net[name] = top
        return top

    def weights(self, bias):
        """Settings of a layer with weights."""
        return dict(param=[dict(lr_mult=1, decay_mult=1),
                           dict(lr_mult=2, decay_mult=0)],
                    weight_filler=dict(type='xavier'),
                    bias_filler=dict(type='constant', value=bias)
                    ) if self.training else {}

    def convolution(self, scope, name, bottom, channels, size=1, stride=1,
                    relu=None):
        shape = dict(num_output=channels, kernel_size=size)
        if size > 1:
            shape['pad'] = size // 2
        if stride > 1:
            shape['stride'] = stride
        top = self.add(f'{scope}/{name}', L.Convolution(
            bottom, **shape, **self.weights(bias=0.2)))
        self.add(f'{scope}/{relu or "relu_" + name}',
                 L.ReLU(top, in_place=True))
        return top

    def normalize(self, name, bottom):
        return self.add(name, L.LRN(bottom, local_size=5, alpha=0.0001,
                                    beta=0.75))

    def halve(self, name, bottom):
        return self.add(name, L.Pooling(bottom, pool=P.Pooling.MAX,
                                        kernel_size=3, stride=2))

    def inception(self, scope, bottom, channels):
        one, reduce3, three, reduce5, five, proj = channels
        one = self.convolution(scope, '1x1', bottom, one)
        three = self.convolution(
            scope, '3x3', self.convolution(scope, '3x3_reduce', bottom,
                                           reduce3), three, size=3)
        five = self.convolution(
            scope, '5x5', self.convolution(scope, '5x5_reduce', bottom,
                                           reduce5), five, size=5)
        pool = self.add(f'{scope}/pool', L.Pooling(
            bottom, pool=P.Pooling.MAX, kernel_size=3, stride=1, pad=1))
        proj = self.convolution(scope, 'pool_proj', pool, proj)
        return self.add(f'{scope}/output', L.Concat(one, three, five, proj))

    def classifier(self, scope, bottom):
        return self.add(f'{scope}/classifier', L.InnerProduct(
            bottom, num_output=1000, **self.weights(bias=0)))

    def loss(self, scope, layer, top, scores, weight):
        self.add(top, L.SoftmaxWithLoss(scores, self.net.label,
                                        name=f'{scope}/{layer}',
                                        loss_weight=weight))
        for k in 1, 5:
            self.add(f'{scope}/top-{k}', L.Accuracy(
                scores, self.net.label, include=dict(phase='TEST'),
                **(dict(accuracy_param=dict(top_k=k)) if k > 1 else {})))

    def auxiliary_loss(self, scope, bottom):
        pool = self.add(f'{scope}/ave_pool', L.Pooling(
            bottom, pool=P.Pooling.AVE, kernel_size=5, stride=3))
        conv = self.convolution(scope, 'conv', pool, 128)
        fc = self.add(f'{scope}/fc', L.InnerProduct(
            conv, num_output=1024, **self.weights(bias=0.2)))
        self.add(f'{scope}/relu_fc', L.ReLU(fc, in_place=True))
        self.add(f'{scope}/drop_fc', L.Dropout(fc, in_place=True,
                                               dropout_ratio=0.7))
        self.loss(scope, 'loss', f'{scope}/loss1', self.classifier(scope, fc),
                  weight=0.3)

    def build(self):
        top = self.convolution('conv1', '7x7_s2', self.net.data, 64, size=7,
                               stride=2, relu='relu_7x7')
        top = self.normalize('pool1/norm1', self.halve('pool1/3x3_s2', top))
        top = self.convolution('conv2', '3x3_reduce', top, 64)
        top = self.convolution('conv2', '3x3', top, 192, size=3)
        top = self.halve('pool2/3x3_s2', self.normalize('conv2/norm2', top))
        for stage, blocks in STAGES.items():
            for letter, channels in blocks.items():
                scope = f'inception_{stage}{letter}'
                top = self.inception(scope, top, channels)
                if self.training and scope in AUXILIARY:
                    self.auxiliary_loss(AUXILIARY[scope], top)
            if stage < 5:
                top = self.halve(f'pool{stage}/3x3_s2', top)
        top = self.add('pool5/7x7_s1', L.Pooling(
            top, pool=P.Pooling.AVE, kernel_size=7, stride=1))
        self.add('pool5/drop_7x7_s1', L.Dropout(top, in_place=True,
                                                dropout_ratio=0.4))
        scores = self.classifier('loss3', top)
        if self.training:
            self.loss('loss3', 'loss3', 'loss3/loss3', scores, weight=1)
        else:
            self.net.prob = L.Softmax(scores)
        return spec_layers(self.net)


HEAD = '# Written by generate.py.\nname: "GoogleNet"\n'

write({
    'train_val.prototxt':
        HEAD + imagenet_data(32, 50, mean=[104, 117, 123]) +
        GoogLeNet(training=True).build(),
    'deploy.prototxt':
        HEAD + input_data(batch_size=10) + GoogLeNet(training=False).build(),
})
