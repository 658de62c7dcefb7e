#!/usr/bin/env python3
"""Classifies images and writes their scores to a .npy file, N x classes.

    classify.py --model_def deploy.prototxt --pretrained_model net.caffemodel \\
        cat.jpg scores.npy
"""

import argparse
import glob
import os
import time

import numpy as np

import caffe
from caffe.script_options import add_net_options, net_options


def images_of(path, ext):
    """The images in a file, in all files of a folder, or in a .npy array."""
    if path.endswith('.npy'):
        return list(np.load(path))
    if os.path.isdir(path):
        names = sorted(glob.glob(os.path.join(path, '*.' + ext)))
        if not names:
            raise SystemExit(f'classify.py: {path} has no files *.{ext}')
        return [caffe.io.load_image(name) for name in names]
    return [caffe.io.load_image(path)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('input_file', help='an image, a folder of images, or a '
                        '.npy file of an array N x H x W x K')
    parser.add_argument('output_file', help='the .npy file to write')
    add_net_options(parser)
    parser.add_argument('--center_only', action='store_true',
                        help='one crop of every image instead of ten')
    parser.add_argument('--images_dim', default='256,256',
                        help='size to bring images to: height,width')
    parser.add_argument('--ext', default='jpg',
                        help='how names of images end, for a folder')
    args = parser.parse_args()

    dims = [int(size) for size in args.images_dim.split(',')]
    classifier = caffe.Classifier(args.model_def, args.pretrained_model,
                                  image_dims=dims, **net_options(args))
    inputs = images_of(os.path.expanduser(args.input_file), args.ext)
    start = time.time()
    scores = classifier.predict(inputs, not args.center_only)
    print(f'{len(inputs)} images in {time.time() - start:.2f} s')
    np.save(args.output_file, scores)


if __name__ == '__main__':
    main()
