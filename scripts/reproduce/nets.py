"""The nets that were published about, in three sizes.

smoke: a sixteenth of the channels, 32 x 32, some made-up images.
quick: a quarter of the channels, 32 x 32, CIFAR-10.
full:  the nets in models/, with their own solvers, ImageNet.
"""

import os
from collections import namedtuple

import images
from trainings import PROJECT, prototxt

# Folder in models/, rate and filler of the small nets, and what was published:
# top-1 in percent raw and compressed, megabytes of the inputs of all
# convolutions at a batch of 256, and by how much those shrank.
Model = namedtuple('Model', 'folder rate filler raw compressed megabytes ratio')
MODELS = {
    'alexnet': Model('bvlc_alexnet', 0.01, 'xavier', 57.41, 57.42, 407, 13.5),
    'vgg16': Model('vgg16', 0.01, 'msra', 68.05, 68.02, 9300, 11.1),
    'resnet18': Model('resnet18', 0.05, 'msra', 67.57, 67.43, 3420, 10.7),
    'resnet50': Model('resnet50', 0.05, 'msra', 71.49, 71.18, 10280, 11.0),
}

# Part of the channels, images of a batch, iterations, batches of a test, and
# how many iterations are between two tests and two displays.
Size = namedtuple('Size', 'divisor batch iterations test_iter test display')
SIZES = {
    'smoke': Size(16, 8, 6, 2, 3, 2),
    'quick': Size(4, 128, 800, 78, 100, 20),
}


def read_model(name):
    path = os.path.join(PROJECT, 'models', MODELS[name].folder,
                        'train_val.prototxt')
    with open(path) as file:
        return prototxt.parse(file.read())


def read_solver(name):
    path = os.path.join(PROJECT, 'models', MODELS[name].folder,
                        'solver.prototxt')
    with open(path) as file:
        return prototxt.parse(file.read())


def _set_data(net, data, batch, side=None):
    """Our databases instead of ImageNet's."""
    for layer in net['layer']:
        if layer['type'] != ['Data']:
            continue
        is_train = layer['include'][0]['phase'] == ['TRAIN']
        transform = {**data.transform, 'mirror': is_train}
        if side:
            transform['crop_size'] = side
        layer['transform_param'] = [transform]
        layer['data_param'] = [{
            'source': data.train if is_train else data.test,
            'batch_size': batch, 'backend': prototxt.Name('LMDB')}]


def _last_inner_product(net):
    return [layer for layer in net['layer']
            if layer['type'] == ['InnerProduct']][-1]


def _for_few_images(net, classes, filler):
    """Fillers that let a net without pretrained weights learn from few images,
    averages that follow a short training, and so many classes."""
    for layer in net['layer']:
        for field in 'convolution_param', 'inner_product_param':
            for param in layer.get(field, []):
                param['weight_filler'] = [{'type': filler}]
                param.pop('bias_filler', None)
        if layer['type'] == ['BatchNorm']:
            layer['batch_norm_param'] = [{'moving_average_fraction': 0.95}]
    # Small scores at first: large ones would drive all neurons below zero.
    _last_inner_product(net)['inner_product_param'][0].update(
        num_output=[classes], weight_filler=[{'type': 'gaussian', 'std': 0.01}])
    net['layer'] = [layer for layer in net['layer']
                    if layer['name'] != ['accuracy_top5']]


def _for_small_images(net):
    """Does not shrink images of 32 x 32 before the first convolution has seen
    them, as is usual with these nets."""
    for layer in net['layer']:
        param = layer.get('convolution_param', [{}])[0]
        if layer['name'] == ['conv1']:
            # 11 x 11 of AlexNet, or 7 x 7.
            is_large = param['kernel_size'][0] > 7
            param.update(kernel_size=[5 if is_large else 3],
                         pad=[2 if is_large else 1], stride=[1])
        if (layer['type'] == ['Pooling'] and
                layer['pooling_param'][0]['pool'] == ['AVE']):
            layer['pooling_param'] = [{'pool': prototxt.Name('AVE'),
                                       'global_pooling': True}]
    pool = next((layer for layer in net['layer'] if layer['name'] == ['pool1']
                 and layer['bottom'] == ['conv1']), None)
    if pool:  # Of the residual nets.
        net['layer'].remove(pool)
        for layer in net['layer']:
            layer['bottom'] = ['conv1' if name == 'pool1' else name
                               for name in layer.get('bottom', [])]


def _thinner(net, divisor):
    last = _last_inner_product(net)
    for layer in net['layer']:
        for field in 'convolution_param', 'inner_product_param':
            for param in layer.get(field, []):
                if layer is not last:
                    param['num_output'] = [param['num_output'][0] // divisor]


def small_net(name, data, divisor, batch):
    net = read_model(name)
    _set_data(net, data, batch)
    _for_few_images(net, data.classes, MODELS[name].filler)
    _for_small_images(net)
    _thinner(net, divisor)
    return prototxt.text(net)


def large_net(name, data, batch, divisor=1):
    """The net in models/ with its own size of images, for these."""
    net = read_model(name)
    crop = next(layer['transform_param'][0]['crop_size'][0]
                for layer in net['layer'] if layer['type'] == ['Data'])
    _set_data(net, data, batch, crop)
    _for_few_images(net, data.classes, MODELS[name].filler)
    _thinner(net, divisor)
    return prototxt.text(net)


def with_batch(net, batch):
    """The net with so many images in a batch of training."""
    message = prototxt.parse(net)
    for layer in message['layer']:
        if layer['type'] == ['Data'] and layer['include'][0]['phase'] == [
                'TRAIN']:
            layer['data_param'][0]['batch_size'] = [batch]
    return prototxt.text(message)


def convolutions(net):
    """The names of a net's convolutions."""
    return {layer['name'][0] for layer in prototxt.parse(net)['layer']
            if layer['type'] == ['Convolution']}


def with_bounds(net, bounds):
    """The net with a fixed bound for what the layers in `bounds` read."""
    message = prototxt.parse(net)
    for layer in message['layer']:
        if layer['name'][0] in bounds:
            layer['compression_param'] = [{'bound': bounds[layer['name'][0]]}]
    return prototxt.text(message)


def test_interval(iterations, wanted):
    """So that there is a test at the end."""
    return iterations if iterations % wanted else wanted


def training(options, name, seed=1):
    """The text of a net and the fields of its solver, in the size asked for."""
    if options.size == 'full':
        images.need_imagenet(options)
        solver = {**read_solver(name), 'random_seed': seed}
        if options.iterations:
            solver['max_iter'] = options.iterations
            solver['test_interval'] = test_interval(
                options.iterations, solver['test_interval'][0])
        return prototxt.text(read_model(name)), solver
    size = SIZES[options.size]
    data = (images.cifar10 if options.size == 'quick'
            else images.stand_in)(options)
    iterations = options.iterations or size.iterations
    solver = {
        'base_lr': MODELS[name].rate, 'lr_policy': 'poly', 'power': 1,
        'momentum': 0.9, 'weight_decay': 0.0005, 'max_iter': iterations,
        'test_iter': size.test_iter,
        'test_interval': test_interval(iterations, size.test),
        'test_initialization': False, 'display': size.display,
        'snapshot': max(size.test, iterations // 4), 'random_seed': seed}
    return small_net(name, data, size.divisor, size.batch), solver
