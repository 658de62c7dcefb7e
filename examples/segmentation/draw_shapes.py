#!/usr/bin/env python3
"""Draws images with discs, squares and triangles on a background of noise, and
for each the class of every point.

    draw_shapes.py FOLDER COUNT SEED

writes FOLDER/image_00000.ppm, FOLDER/label_00000.pgm and so on, and
FOLDER/images.txt and FOLDER/labels.txt for convert_imageset.
"""

import os
import random
import sys

SIDE = 64
DISC, SQUARE, TRIANGLE = 1, 2, 3


def half_width(shape, radius, dy):
    """Of the row that is dy below the middle of a shape; negative: it has no
    part in it."""
    if abs(dy) > radius:
        return -1
    if shape == DISC:
        return int((radius ** 2 - dy ** 2) ** 0.5)
    if shape == SQUARE:
        return radius
    return (radius + dy) // 2


def draw(rng):
    """The colours and the classes of one image's points. Shapes may lie on
    others, and reach over the border."""
    pixels = bytearray(rng.getrandbits(8) for _ in range(3 * SIDE * SIDE))
    classes = bytearray(SIDE * SIDE)
    for _ in range(rng.randint(1, 3)):
        shape = rng.choice((DISC, SQUARE, TRIANGLE))
        radius = rng.randint(8, 16)
        x, y = rng.randrange(SIDE), rng.randrange(SIDE)
        colour = bytes(rng.randrange(256) for _ in range(3))
        for row in range(SIDE):
            half = half_width(shape, radius, row - y)
            begin = row * SIDE + max(x - half, 0)
            end = row * SIDE + min(x + half + 1, SIDE)
            if begin < end:
                pixels[3 * begin:3 * end] = colour * (end - begin)
                classes[begin:end] = bytes([shape]) * (end - begin)
    return pixels, classes


def main():
    folder, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(seed)
    for kind in 'image', 'label':
        ending = 'ppm' if kind == 'image' else 'pgm'
        with open(os.path.join(folder, kind + 's.txt'), 'w') as names:
            names.writelines(f'{kind}_{i:05}.{ending} 0\n'
                             for i in range(count))
    for i in range(count):
        pixels, classes = draw(rng)
        for name, magic, values in ((f'image_{i:05}.ppm', 'P6', pixels),
                                    (f'label_{i:05}.pgm', 'P5', classes)):
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(f'{magic}\n{SIDE} {SIDE}\n255\n'.encode() + values)


if __name__ == '__main__':
    main()
