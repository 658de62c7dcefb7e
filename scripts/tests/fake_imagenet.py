#!/usr/bin/env python3
"""Writes archives like those of ImageNet, with a few small images.

    scripts/tests/fake_imagenet.py FOLDER

Three classes of two images each, four validation images, and a development kit
whose numbers of classes are not in the order of their names. Exits with 2 where
images cannot be written.
"""

import io
import os
import struct
import sys
import tarfile

CLASSES = ['n00000003', 'n00000001', 'n00000002']  # Numbers 1, 2 and 3.
VALIDATION = [3, 1, 1, 2]

try:
    from PIL import Image
except ImportError:
    sys.exit(2)


def jpeg(level, size):
    buffer = io.BytesIO()
    Image.new('RGB', size, (level, 2 * level, 255 - level)).save(
        buffer, 'JPEG')
    return buffer.getvalue()


def archive(files, mode='w'):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def element(kind, content):
    return (struct.pack('<II', kind, len(content)) + content +
            bytes(-len(content) % 8))


def matrix(matrix_class, shape, *parts):
    return element(14, element(6, struct.pack('<II', matrix_class, 0)) +
                   element(5, struct.pack('<ii', *shape)) + element(1, b'') +
                   b''.join(parts))


def meta():
    """MATLAB's file, version 5."""
    names = b''.join(name.ljust(16, b'\0')
                     for name in (b'ILSVRC2012_ID', b'WNID'))
    cells = b''
    for number, name in enumerate(CLASSES, 1):
        cells += matrix(6, (1, 1), element(9, struct.pack('<d', number)))
        cells += matrix(4, (1, len(name)), element(4, name.encode('utf-16-le')))
    # A small element: size and type share four bytes.
    length = struct.pack('<HHi', 5, 4, 16)
    return (b'MATLAB 5.0 MAT-file'.ljust(124) + b'\0\1IM' +
            matrix(2, (len(CLASSES), 1), length, element(1, names), cells))


def main():
    folder = sys.argv[1]
    inner = {f'{name}.tar': archive(
        {f'{name}_{i}.JPEG': jpeg(20 * k + i, (60 + 10 * k, 50))
         for i in range(2)}) for k, name in enumerate(CLASSES)}
    truth = ''.join(f'{number}\n' for number in VALIDATION).encode()
    kit = 'ILSVRC2012_devkit_t12'
    files = {
        'ILSVRC2012_img_train.tar': archive(inner),
        'ILSVRC2012_img_val.tar': archive(
            {f'ILSVRC2012_val_{i:08}.JPEG': jpeg(10 * i, (64, 64))
             for i in range(1, 1 + len(VALIDATION))}),
        f'{kit}.tar.gz': archive(
            {f'{kit}/data/meta.mat': meta(),
             f'{kit}/data/ILSVRC2012_validation_ground_truth.txt': truth},
            'w:gz')}
    for name, content in files.items():
        with open(os.path.join(folder, name), 'wb') as file:
            file.write(content)


if __name__ == '__main__':
    main()
