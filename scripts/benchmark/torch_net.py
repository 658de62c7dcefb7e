#!/usr/bin/env python3
"""Times forward and backward passes of a Caffe net in PyTorch.

    scripts/benchmark/torch_net.py NET.prototxt ITERATIONS THREADS

Builds the net from the prototxt with PyTorch's modules, in its default layout
and in training mode, on random data of the shape that the DummyData layer
gives. Prints one line for every iteration: milliseconds.
"""

import os
import sys
import time

import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..',
                                'models'))
import prototxt


def _setting(message, name, default):
    return message.get(name, [default])[0]


def _convolution(layer, bottom):
    param = layer['convolution_param'][0]
    return nn.Conv2d(bottom.shape[1], param['num_output'][0],
                     param['kernel_size'][0], _setting(param, 'stride', 1),
                     _setting(param, 'pad', 0),
                     groups=_setting(param, 'group', 1),
                     bias=_setting(param, 'bias_term', True))


def _pooling(layer, bottom):
    param = layer['pooling_param'][0]
    kind = nn.AvgPool2d if param['pool'][0] == 'AVE' else nn.MaxPool2d
    return kind(param['kernel_size'][0], _setting(param, 'stride', 1),
                _setting(param, 'pad', 0), ceil_mode=True)


def _lrn(layer, bottom):
    param = layer['lrn_param'][0]
    return nn.LocalResponseNorm(_setting(param, 'local_size', 5),
                                _setting(param, 'alpha', 1),
                                _setting(param, 'beta', 0.75),
                                _setting(param, 'k', 1))


def _inner_product(layer, bottom):
    outputs = layer['inner_product_param'][0]['num_output'][0]
    return nn.Sequential(nn.Flatten(),
                         nn.Linear(bottom[0].numel(), outputs))


def _dropout(layer, bottom):
    param = _setting(layer, 'dropout_param', {})
    return nn.Dropout(_setting(param, 'dropout_ratio', 0.5))


# What makes the module for a layer. PyTorch's batch normalization scales as
# well, so that the Scale layer behind it is left with nothing to do.
MODULES = {
    'Convolution': _convolution,
    'Pooling': _pooling,
    'LRN': _lrn,
    'InnerProduct': _inner_product,
    'Dropout': _dropout,
    'ReLU': lambda layer, bottom: nn.ReLU(inplace=True),
    'BatchNorm': lambda layer, bottom: nn.BatchNorm2d(bottom.shape[1]),
    'Scale': lambda layer, bottom: nn.Identity(),
    'SoftmaxWithLoss': lambda layer, bottom: nn.CrossEntropyLoss(),
}


class Net:
    """The layers in the order of the prototxt. Modules are made in the first
    pass, when the shapes of their inputs are known."""

    def __init__(self, net):
        self.layers = [layer for layer in net['layer'] if 'bottom' in layer]
        data = [layer for layer in net['layer'] if 'bottom' not in layer][0]
        shapes = [shape['dim'] for shape in
                  data['dummy_data_param'][0]['shape']]
        self.data = torch.randn(shapes[0])
        self.label = torch.randint(10, shapes[1])
        self.modules = {}

    def forward(self):
        blobs = {'data': self.data, 'label': self.label}
        for layer in self.layers:
            bottoms = [blobs[name] for name in layer['bottom']]
            blobs[layer['top'][0]] = self.run(layer, bottoms)
        return blobs[self.layers[-1]['top'][0]]

    def run(self, layer, bottoms):
        if layer['type'][0] == 'Eltwise':
            return bottoms[0] + bottoms[1]
        name = layer['name'][0]
        if name not in self.modules:
            make = MODULES[layer['type'][0]]
            self.modules[name] = make(layer, bottoms[0]).train()
        return self.modules[name](*bottoms)

    def clear_gradients(self):
        for module in self.modules.values():
            module.zero_grad()


def main():
    path, iterations, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    with open(path) as file:
        net = Net(prototxt.parse(file.read()))
    for iteration in range(-1, int(iterations)):
        net.clear_gradients()
        start = time.perf_counter()
        net.forward().backward()
        # The first pass allocates.
        if iteration >= 0:
            print(1000 * (time.perf_counter() - start), flush=True)


if __name__ == '__main__':
    main()
