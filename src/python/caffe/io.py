"""Images and arrays on their way into nets and out of them."""

import numpy as np

from ._caffe import Error
from .proto import caffe_pb2

# Messages and arrays.


def blobproto_to_array(blob, return_diff=False):
    """The values, or gradients, of a BlobProto."""
    values = blob.diff if return_diff else blob.data
    doubles = blob.double_diff if return_diff else blob.double_data
    array = (np.array(doubles, dtype=np.float64) if len(doubles) > 0
             else np.array(values, dtype=np.float32))
    if any(blob.HasField(name)
           for name in ('num', 'channels', 'height', 'width')):
        return array.reshape(blob.num, blob.channels, blob.height, blob.width)
    return array.reshape(tuple(blob.shape.dim))


def array_to_blobproto(arr, diff=None):
    """A BlobProto of an array, and of gradients of the same shape."""
    blob = caffe_pb2.BlobProto()
    blob.shape.dim.extend(arr.shape)
    blob.data.extend(np.asarray(arr, dtype=np.float64).flat)
    if diff is not None:
        blob.diff.extend(np.asarray(diff, dtype=np.float64).flat)
    return blob


def arraylist_to_blobprotovector_str(arraylist):
    """The bytes of a BlobProtoVector of all arrays."""
    vector = caffe_pb2.BlobProtoVector()
    vector.blobs.extend(array_to_blobproto(array) for array in arraylist)
    return vector.SerializeToString()


def blobprotovector_str_to_arraylist(str):
    """The arrays in the bytes of a BlobProtoVector."""
    vector = caffe_pb2.BlobProtoVector.FromString(str)
    return [blobproto_to_array(blob) for blob in vector.blobs]


def array_to_datum(arr, label=None):
    """A Datum of an array C x H x W: of bytes if that is its type, otherwise of
    floats."""
    if arr.ndim != 3:
        raise ValueError(f'a Datum has three axes, not {arr.ndim}')
    datum = caffe_pb2.Datum()
    datum.channels, datum.height, datum.width = arr.shape
    if arr.dtype == np.uint8:
        datum.data = arr.tobytes()
    else:
        datum.float_data.extend(np.asarray(arr, dtype=np.float64).flat)
    if label is not None:
        datum.label = int(label)
    return datum


def datum_to_array(datum):
    """The array C x H x W in a Datum. Its label is datum.label."""
    if datum.encoded:
        raise ValueError('the Datum holds an encoded image')
    shape = datum.channels, datum.height, datum.width
    if len(datum.data) > 0:
        return np.frombuffer(datum.data, dtype=np.uint8).reshape(shape)
    return np.array(datum.float_data, dtype=np.float64).reshape(shape)


# Images: arrays H x W x C, RGB, with values from 0 to 1.


def load_image(filename, color=True):
    """Reads an image file: float32, H x W x 3, or H x W x 1 without color."""
    from PIL import Image
    with Image.open(filename) as image:
        is_gray = image.mode in ('1', 'L', 'I', 'I;16', 'F')
        is_deep = image.mode in ('I', 'I;16', 'F')
        if is_deep:
            pixels = np.asarray(image, dtype=np.float32)[:, :, np.newaxis]
            pixels = pixels / (65535 if image.mode != 'F' else 1)
        else:
            pixels = np.asarray(image.convert('L' if is_gray else 'RGB'),
                                dtype=np.float32) / 255
            if is_gray:
                pixels = pixels[:, :, np.newaxis]
    if color:
        return np.tile(pixels, (1, 1, 3)) if is_gray else pixels
    if is_gray:
        return pixels
    # How bright eyes see the three colours (ITU-R BT.709).
    brightness = np.array([0.2125, 0.7154, 0.0721], dtype=np.float32)
    return (pixels @ brightness)[:, :, np.newaxis]


def _cubic(distance):
    near = 1.5 * distance**3 - 2.5 * distance**2 + 1
    far = -0.5 * distance**3 + 2.5 * distance**2 - 4 * distance + 2
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


_KERNELS = {1: (1, lambda distance: np.maximum(1 - distance, 0)),
            3: (2, _cubic)}


def _resize_axis(array, axis, size, order):
    """Interpolates along one axis. Values are in the middle of their pixels;
    beyond the border the outermost go on."""
    old = array.shape[axis]
    if old == size:
        return array
    places = (np.arange(size) + 0.5) * old / size - 0.5
    if order == 0:
        nearest = np.clip(np.floor(places + 0.5), 0, old - 1).astype(int)
        return np.take(array, nearest, axis)
    reach, kernel = _KERNELS[order]
    first = np.floor(places).astype(int) - reach + 1
    result = 0
    for step in range(2 * reach):
        weights = kernel(np.abs(places - (first + step))).astype(np.float32)
        weights = weights.reshape((-1,) + (1,) * (array.ndim - axis - 1))
        taken = np.take(array, np.clip(first + step, 0, old - 1), axis)
        result = result + weights * taken
    return result


def resize_image(im, new_dims, interp_order=1):
    """Brings an image H x W x K to the size new_dims, (height, width). The
    interpolation is nearest (0), linear (1) or cubic (3)."""
    if interp_order not in (0, 1, 3):
        raise ValueError('interp_order must be 0, 1 or 3, not '
                         f'{interp_order}')
    resized = np.asarray(im, dtype=np.float32)
    for axis in (0, 1):
        resized = _resize_axis(resized, axis, int(new_dims[axis]), interp_order)
    return np.asarray(resized, dtype=np.float32)


def oversample(images, crop_dims):
    """Ten crops of every image: corners and centre, and the same mirrored.
    images are arrays H x W x K of one shape; returns 10 N x h x w x K."""
    height, width = np.array(images[0].shape[:2])
    crop_height, crop_width = np.array(crop_dims, dtype=int)
    bottom, right = height - crop_height, width - crop_width
    if bottom < 0 or right < 0:
        raise ValueError(f'cannot crop {crop_height} x {crop_width} out of '
                         f'{height} x {width}')
    # The centre is between two pixels where the difference is odd.
    corners = [(0, 0), (0, right), (bottom, 0), (bottom, right),
               (int(bottom / 2), int(right / 2))]
    crops = []
    for image in images:
        five = [image[y:y + crop_height, x:x + crop_width]
                for y, x in corners]
        crops += five + [crop[:, ::-1] for crop in five]
    return np.array(crops, dtype=np.float32)


class Transformer:
    """Makes inputs of a net from images, and back.

    inputs are the shapes of the net's inputs, {name: (N, C, H, W)}. Every step
    is done only if it was set, in this order: resize to H x W, transpose,
    channel_swap, raw_scale, mean, input_scale.
    """

    def __init__(self, inputs):
        self.inputs = inputs
        self.transpose = {}
        self.channel_swap = {}
        self.raw_scale = {}
        self.mean = {}
        self.input_scale = {}

    def _check_input(self, in_):
        if in_ not in self.inputs:
            raise Error(f"'{in_}' is not one of the net's inputs, "
                        f'{list(self.inputs)}')

    def preprocess(self, in_, data):
        """An image H x W x K as the net wants it, usually C x H x W."""
        self._check_input(in_)
        result = np.asarray(data).astype(np.float32, copy=False)
        dims = tuple(self.inputs[in_][2:])
        if result.shape[:2] != dims:
            result = resize_image(result, dims)
        if in_ in self.transpose:
            result = result.transpose(self.transpose[in_])
        if in_ in self.channel_swap:
            result = result[list(self.channel_swap[in_])]
        if in_ in self.raw_scale:
            result = result * self.raw_scale[in_]
        if in_ in self.mean:
            result = result - self.mean[in_]
        if in_ in self.input_scale:
            result = result * self.input_scale[in_]
        return np.asarray(result, dtype=np.float32)

    def deprocess(self, in_, data):
        """The image that an input was made of, at the net's size."""
        self._check_input(in_)
        result = np.asarray(data).astype(np.float32).squeeze()
        if in_ in self.input_scale:
            result = result / self.input_scale[in_]
        if in_ in self.mean:
            result = result + self.mean[in_]
        if in_ in self.raw_scale:
            result = result / self.raw_scale[in_]
        if in_ in self.channel_swap:
            result = result[np.argsort(self.channel_swap[in_])]
        if in_ in self.transpose:
            result = result.transpose(np.argsort(self.transpose[in_]))
        return np.asarray(result, dtype=np.float32)

    def set_transpose(self, in_, order):
        """The order of axes; (2, 0, 1) makes C x H x W of H x W x C."""
        self._check_input(in_)
        if len(order) != len(self.inputs[in_]) - 1:
            raise Error(f'transpose needs {len(self.inputs[in_]) - 1} axes, '
                        f'not {len(order)}')
        self.transpose[in_] = order

    def set_channel_swap(self, in_, order):
        """The order of channels; (2, 1, 0) makes BGR of RGB. Works on the first
        axis, so set a transpose as well."""
        self._check_input(in_)
        if len(order) != self.inputs[in_][1]:
            raise Error(f'channel_swap needs {self.inputs[in_][1]} channels, '
                        f'not {len(order)}')
        self.channel_swap[in_] = order

    def set_raw_scale(self, in_, scale):
        """What values are multiplied with before the mean is subtracted, such
        as 255."""
        self._check_input(in_)
        self.raw_scale[in_] = scale

    def set_mean(self, in_, mean):
        """What is subtracted: a value a channel, or an array C x H x W, which
        is brought to the net's size."""
        self._check_input(in_)
        channels, *dims = self.inputs[in_][1:]
        mean = np.asarray(mean, dtype=np.float32)
        if mean.ndim == 1:
            if len(mean) != channels:
                raise ValueError(f'the mean has {len(mean)} values where the '
                                 f'input has {channels} channels')
            self.mean[in_] = mean[:, np.newaxis, np.newaxis]
            return
        if mean.ndim == 2:
            mean = mean[np.newaxis]
        if mean.ndim != 3 or mean.shape[0] not in (1, channels):
            raise ValueError(f'the mean has the shape {mean.shape}, which does '
                             f'not fit an input of {self.inputs[in_]}')
        if mean.shape[1:] != tuple(dims):
            mean = resize_image(mean.transpose(1, 2, 0), dims)
            mean = mean.transpose(2, 0, 1)
        self.mean[in_] = mean

    def set_input_scale(self, in_, scale):
        """What values are multiplied with after the mean is subtracted."""
        self._check_input(in_)
        self.input_scale[in_] = scale
