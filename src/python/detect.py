#!/usr/bin/env python3
"""Classifies windows of images and writes their scores to a .csv file.

    detect.py --model_def deploy.prototxt --pretrained_model net.caffemodel \\
        windows.csv scores.csv

windows.csv has the columns filename, ymin, xmin, ymax and xmax; the result has
them too, and one more for every class.
"""

import argparse
import csv
import time

import caffe
from caffe.script_options import add_net_options, net_options

COORDINATES = ['ymin', 'xmin', 'ymax', 'xmax']


def windows_of(file):
    """Pairs of an image's name and its windows, in the order of the file."""
    windows = {}
    with open(file, newline='') as source:
        for row in csv.DictReader(source):
            window = [float(row[name]) for name in COORDINATES]
            windows.setdefault(row['filename'], []).append(window)
    return list(windows.items())


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('input_file', help='a .csv file of windows, or with '
                        '--crop_mode=selective_search a list of images, one a '
                        'line')
    parser.add_argument('output_file', help='the .csv file to write')
    add_net_options(parser)
    parser.add_argument('--crop_mode', default='list',
                        choices=['list', 'selective_search'],
                        help='where windows come from')
    parser.add_argument('--context_pad', type=int, default=16,
                        help='pixels of the input around a window')
    args = parser.parse_args()

    detector = caffe.Detector(args.model_def, args.pretrained_model,
                              context_pad=args.context_pad, **net_options(args))
    start = time.time()
    if args.crop_mode == 'list':
        detections = detector.detect_windows(windows_of(args.input_file))
    else:
        with open(args.input_file) as names:
            detections = detector.detect_selective_search(
                [name.strip() for name in names if name.strip()])
    print(f'{len(detections)} windows in {time.time() - start:.2f} s')

    with open(args.output_file, 'w', newline='') as result:
        writer = csv.writer(result)
        classes = detections[0]['prediction'].size if detections else 0
        writer.writerow(['filename'] + COORDINATES +
                        [f'class{i}' for i in range(classes)])
        for detection in detections:
            writer.writerow([detection['filename'], *detection['window'],
                             *detection['prediction'].flat])


if __name__ == '__main__':
    main()
