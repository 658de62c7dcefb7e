"""What Python adds to the classes of the library: blobs, parameters and layers
by name, and forward and backward passes that take and give arrays."""

from collections import OrderedDict
from itertools import zip_longest

import numpy as np

from ._caffe import (AdaDeltaSolver, AdaGradSolver, AdamSolver, Error, Net,
                     NesterovSolver, RMSPropSolver, SGDSolver, Solver)
from .proto import caffe_pb2


def _cached(make):
    """A property that is made once: nets do not change once they are built."""
    name = '_cached_' + make.__name__

    def get(self):
        if name not in self.__dict__:
            self.__dict__[name] = make(self)
        return self.__dict__[name]

    return property(get, doc=make.__doc__)


def blobs(self):
    """The blobs by name, in the order in which layers make them."""
    return OrderedDict(zip(self._blob_names, self._blobs))


def blob_loss_weights(self):
    """By name, how much every blob counts in the loss."""
    return OrderedDict(zip(self._blob_names, self._blob_loss_weights))


def layer_dict(self):
    """The layers by name."""
    return OrderedDict(zip(self._layer_names, self.layers))


def params(self):
    """The parameters of every layer that has some, by its name."""
    return OrderedDict((name, layer.blobs)
                       for name, layer in zip(self._layer_names, self.layers)
                       if len(layer.blobs) > 0)


def inputs(self):
    """The names of the blobs that the caller fills."""
    return [self._blob_names[i] for i in self._inputs]


def outputs(self):
    """The names of the blobs that no layer reads."""
    return [self._blob_names[i] for i in self._outputs]


def top_names(self):
    """The names of every layer's tops, by the layer's name."""
    return _names_by_layer(self, self._top_ids)


def bottom_names(self):
    """The names of every layer's bottoms, by the layer's name."""
    return _names_by_layer(self, self._bottom_ids)


def _names_by_layer(net, ids_of):
    return OrderedDict((layer, [net._blob_names[i] for i in ids_of(index)])
                       for index, layer in enumerate(net._layer_names))


def _layer_index(net, name):
    try:
        return list(net._layer_names).index(name)
    except ValueError:
        raise Error(f"the net has no layer '{name}'") from None


def _fill(net, part, arrays, expected):
    """Copies arrays into the data or diff of the blobs of those names."""
    if set(arrays) != set(expected):
        raise Error(f'got arrays for {sorted(arrays)}, but the net has '
                    f'{sorted(expected)}')
    for name, array in arrays.items():
        target = getattr(net.blobs[name], part)
        array = np.asarray(array)
        if array.shape != target.shape and (
                array.ndim == 0 or array.shape[:1] != target.shape[:1]):
            raise Error(f"the array for blob '{name}' has the shape "
                        f'{array.shape}, but the net runs with {target.shape}')
        target[...] = array


def _arrays(net, part, names):
    for name in names:
        if name not in net.blobs:
            raise Error(f"the net has no blob '{name}'")
    return {name: getattr(net.blobs[name], part) for name in names}


def forward(self, blobs=None, start=None, end=None, **kwargs):
    """Runs layers forward, and returns {name: data} of the outputs.

    kwargs give the inputs, {name: array}; what is left out keeps the values
    that are there. start and end are names of layers, the first and the last
    to run. blobs are names of more blobs to return; after a part of the net,
    the tops of its last layer are returned with them.
    """
    first = 0 if start is None else _layer_index(self, start)
    if end is None:
        last, wanted = len(self._layer_names) - 1, list(self.outputs)
    else:
        last, wanted = _layer_index(self, end), list(self.top_names[end])
    if kwargs:
        _fill(self, 'data', kwargs, self.inputs)
    self._forward(first, last)
    return _arrays(self, 'data', wanted + list(blobs or []))


def backward(self, diffs=None, start=None, end=None, **kwargs):
    """Runs layers backward, and returns {name: diff} of the inputs.

    kwargs give the gradients of the outputs, {name: array}. start and end are
    names of layers, the first and the last to run: start is behind end in the
    net. diffs are names of more blobs whose gradients to return.
    """
    first = (len(self._layer_names) - 1 if start is None
             else _layer_index(self, start))
    if end is None:
        last, wanted = 0, list(self.inputs)
    else:
        last, wanted = _layer_index(self, end), list(self.bottom_names[end])
    if kwargs:
        _fill(self, 'diff', kwargs, self.outputs)
    self._backward(first, last)
    return _arrays(self, 'diff', wanted + list(diffs or []))


def _batches(net, arrays):
    """Cuts arrays into batches of the net's size; the last is filled up with
    zeros."""
    counts = {name: len(array) for name, array in arrays.items()}
    if len(set(counts.values())) > 1:
        raise Error(f'the arrays have different numbers of images: {counts}')
    if not arrays:
        raise Error('there are no arrays to run the net on')
    count = next(iter(counts.values()))
    size = net.blobs[next(iter(arrays))].shape[0]
    for begin in range(0, count, size):
        batch = {}
        for name, array in arrays.items():
            part = np.asarray(array[begin:begin + size], dtype=np.float32)
            if len(part) < size:
                missing = (size - len(part),) + part.shape[1:]
                part = np.concatenate([part, np.zeros(missing, np.float32)])
            batch[name] = part
        yield batch, min(size, count - begin)


def _collect(all_arrays, arrays, count):
    for name, array in arrays.items():
        # What has no axes, such as a loss, counts once a batch.
        rows = np.atleast_1d(array)[:count].copy()
        all_arrays.setdefault(name, []).extend(rows)


def forward_all(self, blobs=None, **kwargs):
    """Runs the net on as many images as there are, batch by batch.

    kwargs give the inputs, {name: array}. Returns {name: array} of the outputs
    and of the blobs named, one entry an image.
    """
    results = {}
    for batch, count in _batches(self, kwargs):
        _collect(results, self.forward(blobs=blobs, **batch), count)
    return {name: np.asarray(rows) for name, rows in results.items()}


def forward_backward_all(self, blobs=None, diffs=None, **kwargs):
    """Runs the net forward and backward on as many images as there are.

    kwargs give inputs and gradients of outputs, {name: array}. Returns the
    outputs (with the blobs named) and the gradients of the inputs (with those
    named by diffs), one entry an image.
    """
    data = {name: kwargs[name] for name in kwargs if name in self.inputs}
    tops = {name: kwargs[name] for name in kwargs if name not in self.inputs}
    results, gradients = {}, {}
    top_batches = _batches(self, tops) if tops else ()
    for bottom, top in zip_longest(_batches(self, data), top_batches):
        if bottom is None or (tops and top is None):
            raise Error('inputs and gradients of outputs have different '
                        'numbers of images')
        batch, count = bottom
        _collect(results, self.forward(blobs=blobs, **batch), count)
        _collect(gradients,
                 self.backward(diffs=diffs, **(top[0] if top else {})), count)
    return tuple({name: np.asarray(rows) for name, rows in arrays.items()}
                 for arrays in (results, gradients))


def set_input_arrays(self, data, labels):
    """Lets the MemoryData layer that the net starts with read these arrays:
    float32, N x C x H x W and N, where N is a multiple of the batch size. They
    are not copied."""
    if labels.ndim == 1:
        labels = np.ascontiguousarray(labels[:, np.newaxis, np.newaxis,
                                             np.newaxis])
    self._set_input_arrays(data, labels)


def param(self):
    """The settings, as a caffe_pb2.SolverParameter; changes have no effect."""
    return caffe_pb2.SolverParameter.FromString(self._param())


class NCCL:
    """Trains on several GPUs, in builds with NCCL. This is none."""

    def __init__(self, solver, uid):
        raise Error('built without NCCL')

    @staticmethod
    def new_uid():
        raise Error('built without NCCL')


for _property in (blobs, blob_loss_weights, layer_dict, params, inputs, outputs,
                  top_names, bottom_names):
    setattr(Net, _property.__name__, _cached(_property))
for _method in (forward, backward, forward_all, forward_backward_all,
                set_input_arrays):
    setattr(Net, _method.__name__, _method)
Solver.param = property(param, doc=param.__doc__)
