"""Reads the development kit of ILSVRC 2012: which class each validation image
has. Names and numbers of classes are in a file of MATLAB's (version 5 of its
format), of which just enough is understood here.
"""

import struct
import sys
import tarfile
import zlib

GROUND_TRUTH = 'data/ILSVRC2012_validation_ground_truth.txt'
META = 'data/meta.mat'

# Types of elements: numbers, and those with elements inside.
NUMBERS = {1: 'b', 2: 'B', 3: 'h', 4: 'H', 5: 'i', 6: 'I', 7: 'f', 9: 'd',
           12: 'q', 13: 'Q'}
UTF8, UTF16 = 16, 17
MATRIX, COMPRESSED = 14, 15
# Classes of matrices.
STRUCT, CHARACTERS = 2, 4
HEADER_BYTES = 128


def elements(data):
    """Pairs of a type and bytes."""
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from('<II', data, at)
        if kind >> 16:  # A small one: its size, type and bytes in eight bytes.
            kind, size = kind & 0xFFFF, kind >> 16
            yield kind, data[at + 4:at + 4 + size]
            at += 8
            continue
        yield kind, data[at + 8:at + 8 + size]
        at += 8 + size
        if kind != COMPRESSED:
            at += -size % 8


def numbers(kind, data):
    form = NUMBERS[kind]
    return struct.unpack(f'<{len(data) // struct.calcsize(form)}{form}', data)


def text(kind, data):
    if kind in (UTF16, 4):
        return data.decode('utf-16-le')
    return data.decode('utf-8')


def value(data):
    """Of a matrix: a list of dictionaries, a text, or a list of numbers."""
    parts = list(elements(data))
    matrix_class = numbers(*parts[0])[0] & 0xFF
    if matrix_class == STRUCT:
        length = numbers(*parts[3])[0]
        names = parts[4][1]
        fields = [names[i:i + length].split(b'\0')[0].decode()
                  for i in range(0, len(names), length)]
        cells = [value(cell) for _, cell in parts[5:]]
        return [dict(zip(fields, cells[i:i + len(fields)]))
                for i in range(0, len(cells), len(fields))]
    if matrix_class == CHARACTERS:
        return text(*parts[3]) if len(parts) > 3 else ''
    # Other classes (cells, objects) are nothing we look at.
    if len(parts) > 3 and parts[3][0] in NUMBERS:
        return list(numbers(*parts[3]))
    return []


def first_matrix(data):
    for kind, content in elements(data[HEADER_BYTES:]):
        if kind == COMPRESSED:
            kind, content = next(elements(zlib.decompress(content)))
        if kind == MATRIX:
            return value(content)
    raise ValueError('it has no matrix')


def _member(archive, name):
    for member in archive:
        if member.name.endswith('/' + name) or member.name == name:
            return archive.extractfile(member).read()
    raise ValueError(f'it has no {name}')


def validation_classes(path):
    """The names of the classes (n01440764, ...) of all validation images."""
    try:
        with tarfile.open(path) as archive:
            truth = _member(archive, GROUND_TRUTH)
        with tarfile.open(path) as archive:
            synsets = first_matrix(_member(archive, META))
        names = {synset['ILSVRC2012_ID'][0]: synset['WNID']
                 for synset in synsets}
        return [names[int(number)] for number in truth.split()]
    except (tarfile.TarError, EOFError, ValueError, KeyError, IndexError,
            TypeError, struct.error, zlib.error) as error:
        sys.exit(f'{path} is not the development kit: {error}')
    except OSError as error:
        sys.exit(f'{path} cannot be read: {error}')
