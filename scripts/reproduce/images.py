"""The images that experiments train on."""

import os
import random
import shutil
import subprocess
import sys
from collections import namedtuple

from trainings import PROJECT, report

# Two databases, what to do with their images, and how many classes they have.
Images = namedtuple('Images', 'train test transform classes')

IMAGENET = ['examples/imagenet/ilsvrc12_train_lmdb',
            'examples/imagenet/ilsvrc12_val_lmdb',
            'data/ilsvrc12/imagenet_mean.binaryproto']


def _create(options, script, *arguments):
    done = subprocess.run(
        [os.path.join(PROJECT, script), *arguments], stdout=subprocess.DEVNULL,
        env={**os.environ, 'BUILD': options.build})
    if done.returncode != 0:
        sys.exit(f'{script} failed; without its data use --smoke')


def cifar10(options):
    _create(options, 'examples/cifar10/create_cifar10.sh')
    folder = 'examples/cifar10'
    return Images(f'{folder}/cifar10_train_lmdb', f'{folder}/cifar10_test_lmdb',
                  {'mean_file': f'{folder}/mean.binaryproto',
                   'scale': 0.015625}, 10)


def elpv(options):
    """Photographs of solar cells, 256 x 256, in three equal channels, so that
    nets take them for ImageNet's."""
    _create(options, 'examples/elpv/create_elpv.sh', '--colour')
    folder = 'examples/elpv'
    return Images(f'{folder}/elpv_train_colour_lmdb',
                  f'{folder}/elpv_test_colour_lmdb',
                  {'mean_file': f'{folder}/mean_colour.binaryproto',
                   'scale': 0.015625}, 2)


def need_imagenet(options):
    missing = [path for path in IMAGENET if not os.path.exists(path)]
    if missing:
        sys.exit(f'{missing[0]} is not there: examples/imagenet/'
                 'create_imagenet.sh makes it from the archives of ImageNet')


def _picture(generator, label, side):
    """Stripes, whose direction and width follow from the class, and noise."""
    width, is_upright = 1 + label // 2, label % 2
    shift = generator.randrange(side)
    levels = bytearray()
    for y in range(side):
        for x in range(side):
            on = ((x if is_upright else y) + shift) // width % 2
            for channel in range(3):
                levels.append(90 * on + 40 + generator.randrange(60))
    return bytes(levels)


def stand_in(options, classes=10, side=32):
    """A few images that are made up here; for tests."""
    folder = os.path.join(options.folder, 'stand_in')
    databases = {split: os.path.join(folder, f'{split}_lmdb')
                 for split in ('train', 'test')}
    images = Images(databases['train'], databases['test'],
                    {'mean_value': 128, 'scale': 0.015625}, classes)
    generator = random.Random(1)
    for split, count in ('train', 48), ('test', 24):
        if os.path.exists(databases[split]):
            continue
        report(f'making up {count} images: {databases[split]}')
        pictures = os.path.join(folder, split)
        shutil.rmtree(pictures, ignore_errors=True)
        os.makedirs(pictures)
        with open(os.path.join(pictures, 'list.txt'), 'w') as listing:
            for i in range(count):
                listing.write(f'{i}.ppm {i % classes}\n')
                with open(os.path.join(pictures, f'{i}.ppm'), 'wb') as file:
                    file.write(f'P6 {side} {side} 255\n'.encode() +
                               _picture(generator, i % classes, side))
        subprocess.run(
            [os.path.join(options.build, 'bin/convert_imageset'),
             pictures + '/', os.path.join(pictures, 'list.txt'),
             databases[split]], check=True, stderr=subprocess.DEVNULL)
    return images
