#!/usr/bin/env python3
"""Draws a net: draw_net.py net.prototxt net.png"""

import argparse

from google.protobuf import text_format

import caffe
import caffe.draw
from caffe.proto import caffe_pb2


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('input_net_proto_file', help="the net's prototxt")
    parser.add_argument('output_image_file',
                        help='the picture: .png, .svg, .pdf, ...')
    parser.add_argument('--rankdir', default='LR',
                        choices=['LR', 'RL', 'TB', 'BT'],
                        help='left to right, top to bottom, or the reverse')
    parser.add_argument('--phase', default='ALL',
                        choices=['TRAIN', 'TEST', 'ALL'],
                        help='only layers of that phase')
    parser.add_argument('--display_lrm', action='store_true',
                        help='show how fast layers learn')
    args = parser.parse_args()

    net = caffe_pb2.NetParameter()
    with open(args.input_net_proto_file) as file:
        text_format.Merge(file.read(), net)
    phase = {'TRAIN': caffe.TRAIN, 'TEST': caffe.TEST, 'ALL': None}[args.phase]
    caffe.draw.draw_net_to_file(net, args.output_image_file, args.rankdir,
                                phase, args.display_lrm)


if __name__ == '__main__':
    main()
