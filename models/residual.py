"""What the residual nets (He, Zhang, Ren and Sun, 2015) share: convolutions
with batch normalization, and the two kinds of block around a shortcut.
"""

from string import ascii_lowercase

from prototxt import Name, layer


class ResidualNet:
    """The layers between the data and the loss, with what training needs or
    without."""

    def __init__(self, training, moving_average_fraction=None):
        self.training = training
        self.moving_average_fraction = moving_average_fraction
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
        fields = {}
        if not self.training:
            fields['batch_norm_param'] = {'use_global_stats': True}
        elif self.moving_average_fraction is not None:
            fields['batch_norm_param'] = {
                'moving_average_fraction': self.moving_average_fraction}
        self.add(f'bn{suffix}', 'BatchNorm', blob, blob, **fields)
        self.add(f'scale{suffix}', 'Scale', blob, blob,
                 scale_param={'bias_term': True})

    def first(self, num_output, kernel_size, stride, bias_term=False):
        """The convolution of the images."""
        self.convolution('conv1', 'data', num_output, kernel_size, stride,
                         bias_term)
        self.normalize('conv1', '_conv1')
        self.add('conv1_relu', 'ReLU', 'conv1', 'conv1')
        return 'conv1'

    def branch(self, block, suffix, bottom, num_output, kernel_size, stride,
               relu):
        name = f'res{block}_{suffix}'
        self.convolution(name, bottom, num_output, kernel_size, stride)
        self.normalize(name, f'{block}_{suffix}')
        if relu:
            self.add(f'{name}_relu', 'ReLU', name, name)
        return name

    def join(self, block, across, along):
        top = f'res{block}'
        self.add(top, 'Eltwise', [across, along])
        self.add(f'{top}_relu', 'ReLU', top, top)
        return top

    def bottleneck(self, block, bottom, channels, stride, shortcut):
        """1 x 1, 3 x 3 and 1 x 1; gives four times the channels."""
        across = bottom
        if shortcut:
            across = self.branch(block, 'branch1', bottom, 4 * channels, 1,
                                 stride, relu=False)
        a = self.branch(block, 'branch2a', bottom, channels, 1, stride, True)
        b = self.branch(block, 'branch2b', a, channels, 3, 1, True)
        c = self.branch(block, 'branch2c', b, 4 * channels, 1, 1, False)
        return self.join(block, across, c)

    def basic(self, block, bottom, channels, stride, shortcut):
        """3 x 3 and 3 x 3."""
        across = bottom
        if shortcut:
            across = self.branch(block, 'branch1', bottom, channels, 1, stride,
                                 relu=False)
        a = self.branch(block, 'branch2a', bottom, channels, 3, stride, True)
        b = self.branch(block, 'branch2b', a, channels, 3, 1, False)
        return self.join(block, across, b)

    def stages(self, add_block, bottom, stages, first_shortcut=True):
        """Stages from res2 on, each a number of blocks, their channels, and
        the stride of the first; only that one has a convolution in its
        shortcut, if the shapes need it."""
        for stage, (blocks, channels, stride) in enumerate(stages, 2):
            for i in range(blocks):
                shortcut = i == 0 and (stage > 2 or first_shortcut)
                bottom = add_block(f'{stage}{ascii_lowercase[i]}', bottom, channels,
                                   stride if i == 0 else 1, shortcut)
        return bottom

    def max_pool(self, name, bottom):
        self.add(name, 'Pooling', bottom, pooling_param={
            'pool': Name('MAX'), 'kernel_size': 3, 'stride': 2})
        return name

    def scores(self, pool, name, bottom, side, num_output):
        """The mean of every channel, and an inner product."""
        self.add(pool, 'Pooling', bottom, pooling_param={
            'pool': Name('AVE'), 'kernel_size': side, 'stride': 1})
        fields = {'num_output': num_output}
        if self.training:
            fields['weight_filler'] = {'type': 'msra'}
        self.add(name, 'InnerProduct', pool, inner_product_param=fields)
