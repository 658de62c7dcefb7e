"""What scripts about nets share: writing prototxt as text, and reading it.

Values may be numbers, strings, bools, Names (written without quotes), dicts
(nested messages) and lists (repeated fields).
"""

import os
import re
import sys


class Name(str):
    """An enum's value, such as MAX or LMDB."""


def _field(name, value, indent):
    pad = '  ' * indent
    if isinstance(value, list):
        return ''.join(_field(name, item, indent) for item in value)
    if isinstance(value, dict):
        line = f'{pad}{name} {{ {_one_line(value)} }}\n'
        if len(line) <= 80:
            return line
        body = ''.join(_field(*item, indent + 1) for item in value.items())
        return f'{pad}{name} {{\n{body}{pad}}}\n'
    return f'{pad}{name}: {_scalar(value)}\n'


def _one_line(message):
    parts = []
    for name, value in message.items():
        for item in value if isinstance(value, list) else [value]:
            parts.append(f'{name} {{ {_one_line(item)} }}'
                         if isinstance(item, dict)
                         else f'{name}: {_scalar(item)}')
    return ' '.join(parts)


def _scalar(value):
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, str) and not isinstance(value, Name):
        return f'"{value}"'
    return str(value)


def text(message):
    """The text of a whole message."""
    return ''.join(_field(*item, 0) for item in message.items())


_TOKEN = re.compile(r'#[^\n]*|"[^"]*"|[{}]|[^\s{}:;,]+')


def parse(text):
    """The message that a text stands for, every field a list."""
    return _parse_fields(token for token in _TOKEN.findall(text)
                         if token[0] != '#')


def _parse_fields(tokens):
    message = {}
    for name in tokens:
        if name == '}':
            break
        token = next(tokens)
        message.setdefault(name, []).append(
            _parse_fields(tokens) if token == '{' else _parse_scalar(token))
    return message


def _parse_scalar(token):
    if token[0] == '"':
        return token[1:-1]
    if token in ('true', 'false'):
        return token == 'true'
    for kind in (int, float):
        try:
            return kind(token)
        except ValueError:
            pass
    return Name(token)


def layer(name, type, bottom=None, top=None, **fields):
    """The text of one layer; the top is called like the layer by default."""
    blobs = {'bottom': bottom} if bottom is not None else {}
    blobs['top'] = top or name
    return (f'layer {{\n'
            f'  name: "{name}" type: "{type}"\n'
            f'  {_one_line(blobs)}\n' +
            ''.join(_field(*item, 1) for item in fields.items()) + '}\n')


def imagenet_data(train_batch, test_batch, mean, crop_size=224, mirror=True,
                  **transform):
    """The two Data layers that read ImageNet's databases."""
    def data(phase, split, batch_size):
        return layer(
            'data', 'Data', top=['data', 'label'],
            include={'phase': Name(phase)},
            transform_param={**transform,
                             'mirror': mirror and phase == 'TRAIN',
                             'crop_size': crop_size, 'mean_value': mean},
            data_param={
                'source': f'examples/imagenet/ilsvrc12_{split}_lmdb',
                'batch_size': batch_size,
                'backend': Name('LMDB')})
    return data('TRAIN', 'train', train_batch) + data('TEST', 'val', test_batch)


def input_data(side=224, batch_size=1):
    """The Input layer of a deployed net: one image, or some."""
    return layer('data', 'Input', input_param={
        'shape': {'dim': [batch_size, 3, side, side]}})


def losses(scores, top5=True):
    """Accuracies in tests, and the loss."""
    test_only = {'phase': Name('TEST')}
    text = layer('accuracy', 'Accuracy', [scores, 'label'], include=test_only)
    if top5:
        text += layer('accuracy_top5', 'Accuracy', [scores, 'label'],
                      include=test_only, accuracy_param={'top_k': 5})
    return text + layer('loss', 'SoftmaxWithLoss', [scores, 'label'])


def spec_layers(spec):
    """The text of a caffe.NetSpec's layers. Its Input layers are left out: they
    only stand for the data, whose layers differ between files."""
    text = ''
    for message in spec.to_proto().layer:
        fields = _fields(message)
        if message.type != 'Input':
            text += layer(fields.pop('name'), fields.pop('type'),
                          fields.pop('bottom'), fields.pop('top'), **fields)
    return text


def _fields(message):
    """A protobuf message as the dictionaries that are written here."""
    def scalar(field, value):
        if field.message_type is not None:
            return _fields(value)
        if field.enum_type is not None:
            return Name(field.enum_type.values_by_number[value].name)
        if field.cpp_type == field.CPPTYPE_FLOAT:
            return Name(f'{value:.7g}')
        return value

    # Only lists can be extended; how to ask the field itself whether it is one
    # depends on the version of protobuf.
    return {field.name: [scalar(field, item) for item in value]
            if hasattr(value, 'extend') else scalar(field, value)
            for field, value in message.ListFields()}


def write(files):
    """Writes {file name: text} beside the calling script, or into the folder
    given as its argument."""
    folder = (sys.argv[1] if len(sys.argv) > 1
              else os.path.dirname(os.path.abspath(sys.argv[0])))
    for name, text in files.items():
        with open(os.path.join(folder, name), 'w') as file:
            file.write(text)
