"""What Classifier and Detector share: a net that is fed with images."""

from ._caffe import Error
from .io import Transformer
from .proto.caffe_pb2 import TEST
from .pycaffe import Net


class ImageNet(Net):
    """A net with one input of images, and how these become inputs."""

    def __init__(self, model_file, pretrained_file, mean, input_scale,
                 raw_scale, channel_swap):
        super().__init__(model_file, TEST, weights=pretrained_file)
        if not self.inputs:
            raise Error(f'{model_file} has no input; it needs one for images')
        self.transformer = Transformer(
            {name: self.blobs[name].shape for name in self.inputs})
        name = self.inputs[0]
        self.transformer.set_transpose(name, (2, 0, 1))
        for value, setter in ((mean, self.transformer.set_mean),
                              (input_scale, self.transformer.set_input_scale),
                              (raw_scale, self.transformer.set_raw_scale),
                              (channel_swap,
                               self.transformer.set_channel_swap)):
            if value is not None:
                setter(name, value)
