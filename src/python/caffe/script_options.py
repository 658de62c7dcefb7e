"""Options that classify.py and detect.py share."""

import numpy as np

from . import _caffe
from .io import blobproto_to_array
from .proto import caffe_pb2


def add_net_options(parser):
    parser.add_argument('--model_def', required=True,
                        help="the net's prototxt, with an input for images")
    parser.add_argument('--pretrained_model', required=True,
                        help='its weights, a .caffemodel')
    parser.add_argument('--gpu', action='store_true', help='run on the GPU')
    parser.add_argument('--mean_file', default='',
                        help='the mean image to subtract: .npy or .binaryproto')
    parser.add_argument('--input_scale', type=float,
                        help='factor for inputs after the mean is subtracted')
    parser.add_argument('--raw_scale', type=float, default=255.0,
                        help='factor for inputs before; images are 0 to 1')
    parser.add_argument('--channel_swap', default='2,1,0',
                        help='order of channels; 2,1,0 makes BGR of RGB; empty '
                        'for as they are')


def _mean_of(file):
    if not file:
        return None
    if not file.endswith('.binaryproto'):
        return np.load(file)
    with open(file, 'rb') as stored:
        mean = caffe_pb2.BlobProto.FromString(stored.read())
    return blobproto_to_array(mean)[0]


def net_options(args):
    """What Classifier and Detector take of the options."""
    if args.gpu:
        _caffe.set_mode_gpu()
    swap = [int(channel) for channel in args.channel_swap.split(',')
            if channel.strip()]
    return dict(mean=_mean_of(args.mean_file), input_scale=args.input_scale,
                raw_scale=args.raw_scale, channel_swap=swap or None)
