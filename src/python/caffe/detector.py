"""Classifies windows of images with a trained net, for detection."""

import os

import numpy as np

from ._caffe import Error
from .image_net import ImageNet
from .io import load_image, resize_image


class Detector(ImageNet):
    """A net whose one output are scores of classes, run on windows of images.

    context_pad is how many pixels of the net's input show what is around a
    window. The others are as in caffe.io.Transformer.
    """

    def __init__(self, model_file, pretrained_file, mean=None, input_scale=None,
                 raw_scale=None, channel_swap=None, context_pad=None):
        super().__init__(model_file, pretrained_file, mean, input_scale,
                         raw_scale, channel_swap)
        self.configure_crop(context_pad)

    def detect_windows(self, images_windows):
        """Scores of windows: images_windows are pairs of an image (its file, or
        an array H x W x K) and windows (ymin, xmin, ymax, xmax) in it. Returns
        a list of {'window', 'prediction', 'filename'}."""
        crops, detections = [], []
        for source, windows in images_windows:
            is_file = isinstance(source, (str, os.PathLike))
            image = (load_image(source) if is_file
                     else np.asarray(source, dtype=np.float32))
            for window in windows:
                crops.append(self.crop(image, window))
                detections.append({'window': window,
                                   'filename': source if is_file else None})
        if not crops:
            return []
        name = self.inputs[0]
        data = np.array([self.transformer.preprocess(name, crop)
                         for crop in crops])
        scores = self.forward_all(**{name: data})[self.outputs[0]]
        for detection, prediction in zip(detections, scores):
            detection['prediction'] = prediction.squeeze()
        return detections

    def detect_selective_search(self, image_fnames):
        """Scores of the windows that selective search proposes. Needs the
        module selective_search_ijcv_with_python."""
        try:
            import selective_search_ijcv_with_python as selective_search
        except ImportError:
            raise Error('detect_selective_search needs the module '
                        'selective_search_ijcv_with_python; detect_windows '
                        'takes windows from elsewhere') from None
        # The module takes absolute names.
        names = [os.path.abspath(name) for name in image_fnames]
        windows = selective_search.get_windows(
            names, cmd='selective_search_rcnn')
        return self.detect_windows(zip(names, windows))

    def configure_crop(self, context_pad):
        """Sets context_pad, and what stands for pixels outside the image: the
        mean, so that the net sees zeros there."""
        name = self.inputs[0]
        shape = self.blobs[name].shape[1:]
        pad = 0 if context_pad is None else int(context_pad)
        if pad < 0 or 2 * pad >= min(shape[1:]):
            raise Error(f'context_pad cannot be {pad} in an input of '
                        f'{shape[1]} x {shape[2]}')
        self.context_pad = pad
        mean = self.transformer.mean.get(name)
        if mean is None:
            self.crop_mean = np.zeros(shape[1:] + shape[:1], np.float32)
            return
        # What preprocess makes zeros of.
        outside = self.transformer.deprocess(name, np.zeros(shape, np.float32))
        self.crop_mean = outside.reshape(shape[1:] + shape[:1])

    def crop(self, im, window):
        """The window, with context, at the size of the net's input."""
        dims = np.array(self.blobs[self.inputs[0]].shape[2:])
        window = np.array(window, dtype=np.float64)
        if not self.context_pad:
            y0, x0, y1, x1 = np.round(window).astype(int)
            return resize_image(self._inside(im, y0, x0, y1, x1), dims)
        # The window itself gets what the context leaves of the input.
        scale = dims / (dims - 2.0 * self.context_pad)
        centre = (window[:2] + window[2:]) / 2
        half = (window[2:] - window[:2]) / 2 * scale
        wide = np.round(np.concatenate([centre - half, centre + half]))
        y0, x0, y1, x1 = wide.astype(int)
        # Where the part of it that is inside the image comes to lie.
        size = np.maximum([y1 - y0, x1 - x0], 1)
        begin = np.maximum([-y0, -x0], 0) / size
        end = np.minimum([im.shape[0] - y0, im.shape[1] - x0], size) / size
        top, left = np.round(begin * dims).astype(int)
        bottom, right = np.maximum(np.round(end * dims).astype(int),
                                   [top + 1, left + 1])
        result = self.crop_mean.copy()
        inside = self._inside(im, y0, x0, y1, x1)
        fitted = resize_image(inside, (bottom - top, right - left))
        target = result[top:bottom, left:right]
        target[...] = fitted[:target.shape[0], :target.shape[1]]
        return result

    @staticmethod
    def _inside(im, y0, x0, y1, x1):
        part = im[max(y0, 0):max(y1, 0), max(x0, 0):max(x1, 0)]
        if part.size == 0:
            window = int(y0), int(x0), int(y1), int(x1)
            raise Error(f'the window {window} has nothing of an image of '
                        f'{im.shape[0]} x {im.shape[1]}')
        return part
