"""Where in one top of a NetSpec a place of another top is.

Along every spatial axis a layer maps the coordinate x of its bottom to scale x
+ shift in its top. A map is (axis, scale, shift): the first axis it is about
(None if it is the same for all), and numbers or arrays with one entry an axis.
With them, crop() makes the Crop layer that lines one top up with another.
"""

import numpy as np

from .net_spec import layers as L

# Every value of the top comes from the place of the bottom that it has itself.
PASS_THROUGH_LAYERS = frozenset([
    'AbsVal', 'BatchNorm', 'Bias', 'BNLL', 'Clip', 'Dropout', 'Eltwise', 'ELU',
    'Exp', 'Log', 'LRN', 'MVN', 'Power', 'PReLU', 'ReLU', 'Scale', 'Sigmoid',
    'Softmax', 'Split', 'Swish', 'TanH', 'Threshold'])

IDENTITY = (None, 1, 0)


class UndefinedMapException(Exception):
    """A layer that does not keep places, such as InnerProduct."""


class AxisMismatchException(Exception):
    """Two maps that are about different axes."""


def conv_params(fn):
    """(axis, stride, kernel, pad) of a layer that slides a kernel over its
    bottom; the kernel is counted with its dilation."""
    params = fn.params.get('convolution_param', fn.params)
    if any(f'{name}_{axis}' in params
           for name in ('kernel', 'stride', 'pad') for axis in 'hw'):
        raise UndefinedMapException(
            'give kernel_size, stride and pad, not those of h and w')
    number = lambda name, default: np.array(params.get(name, default), ndmin=1)
    kernel = (number('kernel_size', 1) - 1) * number('dilation', 1) + 1
    return params.get('axis', 1), number('stride', 1), kernel, number('pad', 0)


def crop_params(fn):
    """(axis, offset) of a Crop layer."""
    params = fn.params.get('crop_param', fn.params)
    return params.get('axis', 2), np.array(params.get('offset', 0), ndmin=1)


def coord_map(fn):
    """From the coordinates of a layer's bottom to those of its top."""
    if fn.type_name in ('Convolution', 'Pooling', 'Im2col'):
        axis, stride, kernel, pad = conv_params(fn)
        return axis, 1 / stride, (pad - (kernel - 1) / 2) / stride
    if fn.type_name == 'Deconvolution':
        axis, stride, kernel, pad = conv_params(fn)
        return axis, stride, (kernel - 1) / 2 - pad
    if fn.type_name in PASS_THROUGH_LAYERS:
        return IDENTITY
    if fn.type_name == 'Crop':
        axis, offset = crop_params(fn)
        # Convolutions name the axis of channels, the one before.
        return axis - 1, 1, -offset
    raise UndefinedMapException(fn.type_name)


def compose(second, first):
    """The map that does the first and then the second."""
    axis = second[0] if first[0] is None else first[0]
    if second[0] is not None and second[0] != axis:
        raise AxisMismatchException(f'axes {first[0]} and {second[0]}')
    return axis, second[1] * first[1], second[1] * first[2] + second[2]


def inverse(mapping):
    """The map back."""
    axis, scale, shift = mapping
    return axis, 1 / scale, -shift / scale


def _maps_of_sources(top):
    """For the top and all it is made of, nearest first: the map from there to
    the top."""
    maps = {top: IDENTITY}
    waiting = [top]
    while waiting:
        nearest = waiting.pop(0)
        try:
            step = coord_map(nearest.fn)
        except UndefinedMapException:
            continue
        # The second bottom of a Crop only tells a size.
        inputs = nearest.fn.inputs
        for bottom in inputs[:1] if nearest.fn.type_name == 'Crop' else inputs:
            if bottom not in maps:
                maps[bottom] = compose(maps[nearest], step)
                waiting.append(bottom)
    return maps


def coord_map_from_to(top_from, top_to):
    """From the coordinates of one top to those of another, by way of a top that
    both are made of."""
    from_maps = _maps_of_sources(top_from)
    for top, to_map in _maps_of_sources(top_to).items():
        if top in from_maps:
            return compose(to_map, inverse(from_maps[top]))
    raise RuntimeError('there is no map between these tops: no layers that '
                       'keep places connect them')


def crop(top_from, top_to):
    """A Crop layer that cuts top_from to the size and place of top_to."""
    axis, scale, shift = coord_map_from_to(top_from, top_to)
    if not np.all(np.asarray(scale) == 1):
        raise AssertionError(f'the tops differ in scale, by {scale}')
    if not np.all(np.asarray(shift) <= 0):
        raise AssertionError(f'cannot crop at the negative offset {-shift}')
    if not np.all(np.round(shift) == shift):
        raise AssertionError(f'cannot crop at {-shift}, between two values')
    offset = -np.round(np.atleast_1d(shift)).astype(int)
    crop_param = dict(offset=offset.tolist())
    if axis is not None:
        crop_param['axis'] = axis + 1
    return L.Crop(top_from, top_to, crop_param=crop_param)
