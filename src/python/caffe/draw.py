"""Draws nets as graphs. Needs pydot and Graphviz."""

from .proto import caffe_pb2

LAYER_STYLE_DEFAULT = {'shape': 'record', 'fillcolor': '#6495ED',
                       'style': 'filled'}
NEURON_LAYER_STYLE = {'shape': 'record', 'fillcolor': '#90EE90',
                      'style': 'filled'}
BLOB_STYLE = {'shape': 'octagon', 'fillcolor': '#E0E0E0', 'style': 'filled'}

_COLORS = {'Convolution': '#FF5050', 'Deconvolution': '#FF5050',
           'Pooling': '#FF9900', 'InnerProduct': '#CC33FF'}


def get_pooling_types_dict():
    """The names of the ways of pooling, by their numbers."""
    methods = caffe_pb2.PoolingParameter.PoolMethod
    return {number: name for name, number in methods.items()}


def choose_color_by_layertype(layertype):
    return _COLORS.get(layertype, '#6495ED')


def get_edge_label(layer):
    """What a layer makes: images, channels or outputs; '""' for nothing."""
    if layer.type == 'Data':
        return f'Batch {layer.data_param.batch_size}'
    if layer.type in ('Convolution', 'Deconvolution'):
        return str(layer.convolution_param.num_output)
    if layer.type == 'InnerProduct':
        return str(layer.inner_product_param.num_output)
    return '""'


def get_layer_lr_mult(layer):
    """The first parameter's lr_mult, for layers with weights."""
    if layer.type in ('Convolution', 'Deconvolution', 'InnerProduct'):
        return layer.param[0].lr_mult if len(layer.param) > 0 else 1.0
    return None


def _spatial(param, name, default):
    """A size along height and width, however the prototxt gives it."""
    stem = name.split('_')[0]
    sides = getattr(param, stem + '_h'), getattr(param, stem + '_w')
    if any(sides):
        return 'x'.join(map(str, sides))
    value = getattr(param, name)
    if isinstance(value, int):
        return str(value)
    return 'x'.join(map(str, value)) if len(value) > 0 else str(default)


def get_layer_label(layer, rankdir, display_lrm=False):
    """Name, type, and for some layers sizes; one below the other in graphs from
    left to right, otherwise side by side."""
    separator = ' ' if rankdir in ('TB', 'BT') else '\\n'
    parts = [layer.name, f'({layer.type})']
    if layer.type in ('Convolution', 'Deconvolution', 'Pooling'):
        is_pooling = layer.type == 'Pooling'
        param = layer.pooling_param if is_pooling else layer.convolution_param
        if is_pooling:
            method = get_pooling_types_dict()[param.pool]
            parts[1] = f'({method} {layer.type})'
        parts += [f'kernel size: {_spatial(param, "kernel_size", 1)}',
                  f'stride: {_spatial(param, "stride", 1)}',
                  f'pad: {_spatial(param, "pad", 0)}']
    lr_mult = get_layer_lr_mult(layer) if display_lrm else None
    if lr_mult is not None:
        parts.append(f'lr mult: {lr_mult:.1f}')
    return separator.join(parts)


def _is_in_phase(layer, phase):
    if phase is None:
        return True
    if layer.include:
        return any(not rule.HasField('phase') or rule.phase == phase
                   for rule in layer.include)
    return all(not rule.HasField('phase') or rule.phase != phase
               for rule in layer.exclude)


def _quoted(text):
    return '"' + text.replace('"', r'\"') + '"'


def get_pydot_graph(caffe_net, rankdir, label_edges=True, phase=None,
                    display_lrm=False):
    """The graph of a caffe_pb2.NetParameter: layers as boxes, blobs as
    octagons. With a phase, only the layers of that phase."""
    import pydot
    graph = pydot.Dot(_quoted(caffe_net.name or 'Net'), graph_type='digraph',
                      rankdir=rankdir)
    blobs = {}

    def blob_node(name):
        if name not in blobs:
            blobs[name] = pydot.Node(_quoted(name + '_blob'),
                                     label=_quoted(name), **BLOB_STYLE)
            graph.add_node(blobs[name])
        return blobs[name]

    for name in caffe_net.input:
        blob_node(name)
    for index, layer in enumerate(caffe_net.layer):
        if not _is_in_phase(layer, phase):
            continue
        is_in_place = (len(layer.bottom) == 1 and
                       list(layer.bottom) == list(layer.top))
        style = dict(NEURON_LAYER_STYLE if is_in_place else LAYER_STYLE_DEFAULT)
        if not is_in_place:
            style['fillcolor'] = choose_color_by_layertype(layer.type)
        label = get_layer_label(layer, rankdir, display_lrm)
        # Names of layers need not be unique.
        node = pydot.Node(_quoted(f'{layer.name}_{layer.type}_{index}'),
                          label=_quoted(label), **style)
        graph.add_node(node)
        edge_label = get_edge_label(layer) if label_edges else '""'
        for bottom in layer.bottom:
            graph.add_edge(pydot.Edge(blob_node(bottom), node, label='""'))
        for top in layer.top:
            graph.add_edge(pydot.Edge(node, blob_node(top),
                                      label=_quoted(edge_label.strip('"'))))
    return graph


def draw_net(caffe_net, rankdir, ext='png', phase=None, display_lrm=False):
    """The picture of a net, as the bytes of a file of that format."""
    graph = get_pydot_graph(caffe_net, rankdir, phase=phase,
                            display_lrm=display_lrm)
    return graph.create(format=ext)


def draw_net_to_file(caffe_net, filename, rankdir='LR', phase=None,
                     display_lrm=False):
    """Writes the picture of a net in the format that the file's name ends
    with."""
    ext = str(filename).rsplit('.', 1)[-1]
    with open(filename, 'wb') as file:
        file.write(draw_net(caffe_net, rankdir, ext, phase, display_lrm))
