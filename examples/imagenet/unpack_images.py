#!/usr/bin/env python3
"""Unpacks an archive of ImageNet's images, or of archives of them.

    examples/imagenet/unpack_images.py ILSVRC2012_img_train.tar FOLDER
    examples/imagenet/unpack_images.py ILSVRC2012_img_val.tar FOLDER

An archive NAME.tar inside the archive becomes the folder NAME. What is there
already is left alone, and everything appears whole, so that a run that was
stopped goes on.
"""

import os
import shutil
import sys
import tarfile
import time


class Progress:
    """A line now and then: how far, and how long it will take."""

    def __init__(self, size, every=30):
        self.size, self.every = size, every
        self.begun = self.last = time.monotonic()
        self.first = None

    def at(self, position):
        now = time.monotonic()
        if self.first is None:
            self.first = position
        if now - self.last < self.every or position <= self.first:
            return
        self.last = now
        left = (now - self.begun) / (position - self.first) * (
            self.size - position)
        print(f'    {100 * position / self.size:.0f} % of the archive, '
              f'{left / 60:.0f} min left', flush=True)


def file_name(member):
    """Without folders: nothing is written outside of ours."""
    return os.path.basename(member.name)


def write(source, path):
    """A file that appears whole."""
    with open(path + '.partial', 'wb') as file:
        shutil.copyfileobj(source, file)
    os.replace(path + '.partial', path)


def unpack_class(source, folder):
    """An archive of images of one class."""
    partial = folder + '.partial'
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(partial)
    with tarfile.open(fileobj=source) as images:
        for member in images:
            if member.isfile():
                write(images.extractfile(member),
                      os.path.join(partial, file_name(member)))
    os.replace(partial, folder)


def check_end(archive):
    """Archives end with two blocks of zeros; one that was not downloaded to its
    end does not."""
    with open(archive, 'rb') as file:
        file.seek(max(0, os.path.getsize(archive) - 1024))
        if file.read() != bytes(1024):
            raise tarfile.ReadError('it has no end')


def unpack(archive, folder):
    check_end(archive)
    os.makedirs(folder, exist_ok=True)
    progress = Progress(os.path.getsize(archive))
    with tarfile.open(archive) as members:
        for member in members:
            if not member.isfile():
                continue
            progress.at(member.offset)
            path = os.path.join(folder, file_name(member))
            name, extension = os.path.splitext(path)
            if extension == '.tar':
                if not os.path.exists(name):
                    unpack_class(members.extractfile(member), name)
            elif not os.path.exists(path):
                write(members.extractfile(member), path)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    archive = sys.argv[1]
    try:
        unpack(*sys.argv[1:])
    except (tarfile.TarError, EOFError) as error:
        sys.exit(f'{archive} is damaged or not complete: {error}')
    except OSError as error:
        sys.exit(f'{archive} cannot be unpacked: {error}')


if __name__ == '__main__':
    main()
