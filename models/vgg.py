"""What the nets of Simonyan and Zisserman (2014) share: all but how many
convolutions there are.
"""

from prototxt import Name, imagenet_data, input_data, layer, losses, write

# Weights, then bias.
PARAM = [{'lr_mult': 1, 'decay_mult': 1}, {'lr_mult': 2, 'decay_mult': 0}]


def with_fillers(fields, training):
    if training:
        fields['weight_filler'] = {'type': 'xavier'}
        fields['bias_filler'] = {'type': 'constant', 'value': 0}
    return fields


def trainable(training):
    return {'param': PARAM} if training else {}


def features(stages, training):
    text = ''
    bottom = 'data'
    for s, stage in enumerate(stages, 1):
        for c, channels in enumerate(stage, 1):
            name = f'conv{s}_{c}'
            text += layer(
                name, 'Convolution', bottom, **trainable(training),
                convolution_param=with_fillers(
                    {'num_output': channels, 'pad': 1, 'kernel_size': 3},
                    training))
            text += layer(f'relu{s}_{c}', 'ReLU', name, name)
            bottom = name
        text += layer(f'pool{s}', 'Pooling', bottom, pooling_param={
            'pool': Name('MAX'), 'kernel_size': 2, 'stride': 2})
        bottom = f'pool{s}'
    return text


def classifier(training):
    text = ''
    bottom = 'pool5'
    for i, outputs in (6, 4096), (7, 4096), (8, 1000):
        name = f'fc{i}'
        text += layer(
            name, 'InnerProduct', bottom, **trainable(training),
            inner_product_param=with_fillers({'num_output': outputs},
                                             training))
        bottom = name
        if i < 8:
            text += layer(f'relu{i}', 'ReLU', name, name)
            text += layer(f'drop{i}', 'Dropout', name, name,
                          dropout_param={'dropout_ratio': 0.5})
    return text


def write_vgg(name, stages):
    """Writes the two files of a net, given the channels of each convolution; a
    row of them ends in a pooling layer."""
    head = f'# Written by generate.py.\nname: "{name}"\n'
    write({
        'train_val.prototxt':
            head + imagenet_data(64, 50, mean=[103.939, 116.779, 123.68]) +
            features(stages, True) + classifier(True) + losses('fc8'),
        'deploy.prototxt':
            head + input_data() + features(stages, False) + classifier(False) +
            layer('prob', 'Softmax', 'fc8'),
    })
