#!/usr/bin/env python3
"""Lists ImageNet's images and their classes, as convert_imageset reads them.

    examples/imagenet/list_images.py FOLDER train|val

FOLDER/train has a folder for each class. Classes are numbered from 0 in the
order of their names, as in Caffe, which go to FOLDER/synsets.txt; a list that
is there is taken as it is. FOLDER/val.txt is made of the development kit, unless
it is there.
"""

import os
import sys

import devkit

DEVKIT = 'ILSVRC2012_devkit_t12.tar.gz'


def write_lines(path, lines):
    with open(path + '.partial', 'w') as file:
        file.writelines(line + '\n' for line in lines)
    os.replace(path + '.partial', path)


def read_lines(path):
    with open(path) as file:
        return file.read().split('\n')[:-1]


def class_numbers(folder):
    """{class: number}."""
    path = os.path.join(folder, 'synsets.txt')
    if not os.path.exists(path):
        train = os.path.join(folder, 'train')
        if not os.path.isdir(train):
            sys.exit(f'neither {path} nor {train} is there')
        write_lines(path, sorted(os.listdir(train)))
    return {name: i for i, name in enumerate(read_lines(path))}


def list_train(folder):
    train = os.path.join(folder, 'train')
    lines = []
    for name, number in class_numbers(folder).items():
        if not os.path.isdir(os.path.join(train, name)):
            sys.exit(f'{train} has no images of the class {name}')
        lines += [f'{name}/{image} {number}'
                  for image in sorted(os.listdir(os.path.join(train, name)))]
    write_lines(os.path.join(folder, 'train.txt'), lines)


def list_val(folder):
    path = os.path.join(folder, 'val.txt')
    if os.path.exists(path):
        return
    numbers = class_numbers(folder)
    labels = devkit.validation_classes(os.path.join(folder, DEVKIT))
    images = sorted(os.listdir(os.path.join(folder, 'val')))
    if len(images) != len(labels):
        sys.exit(f'{folder}/val has {len(images)} images, but {DEVKIT} classes '
                 f'for {len(labels)}')
    unknown = set(labels) - set(numbers)
    if unknown:
        sys.exit(f'{folder}/synsets.txt does not have the class '
                 f'{min(unknown)} of {DEVKIT}')
    write_lines(path, [f'{image} {numbers[label]}'
                       for image, label in zip(images, labels)])


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ('train', 'val'):
        sys.exit(__doc__)
    {'train': list_train, 'val': list_val}[sys.argv[2]](sys.argv[1])


if __name__ == '__main__':
    main()
