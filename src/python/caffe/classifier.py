"""Classifies images with a trained net."""

import numpy as np

from .image_net import ImageNet
from .io import oversample as oversample_images
from .io import resize_image


class Classifier(ImageNet):
    """A net whose one output are scores of classes.

    image_dims is the size, (height, width), that images are brought to before
    the net's input is cut out of them; by default that of the input. The others
    are as in caffe.io.Transformer: mean, input_scale, raw_scale, channel_swap.
    """

    def __init__(self, model_file, pretrained_file, image_dims=None, mean=None,
                 input_scale=None, raw_scale=None, channel_swap=None):
        super().__init__(model_file, pretrained_file, mean, input_scale,
                         raw_scale, channel_swap)
        self.crop_dims = np.array(self.blobs[self.inputs[0]].shape[2:])
        self.image_dims = image_dims if image_dims else self.crop_dims

    def predict(self, inputs, oversample=True):
        """Scores of every class, N x classes, for images H x W x K.

        With oversample they are means over ten crops of every image, otherwise
        those of the crop in the middle.
        """
        images = np.array([resize_image(image, self.image_dims)
                           for image in inputs], dtype=np.float32)
        if oversample:
            images = oversample_images(images, self.crop_dims)
        else:
            top, left = (np.array(self.image_dims) - self.crop_dims) // 2
            images = images[:, top:top + self.crop_dims[0],
                            left:left + self.crop_dims[1]]
        name = self.inputs[0]
        data = np.array([self.transformer.preprocess(name, image)
                         for image in images])
        scores = self.forward_all(**{name: data})[self.outputs[0]]
        if oversample:
            scores = scores.reshape((len(scores) // 10, 10, -1)).mean(axis=1)
        return scores
