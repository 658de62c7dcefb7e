"""Nets written as Python expressions.

    n = caffe.NetSpec()
    n.data, n.label = L.Data(source='train_lmdb', batch_size=64, ntop=2)
    n.conv1 = L.Convolution(n.data, kernel_size=5, num_output=20,
                            weight_filler=dict(type='xavier'))
    n.relu1 = L.ReLU(n.conv1, in_place=True)
    n.loss = L.SoftmaxWithLoss(n.relu1, n.label)
    print(n.to_proto())

L is caffe.layers: L.X makes a layer of type X. Its arguments are the tops it
reads; its keywords are settings, either of the message for that type or of the
layer itself. P is caffe.params, whose P.Pooling.MAX is the value of a setting.
"""

from collections import Counter, OrderedDict

from ._caffe import Error
from .proto import caffe_pb2


def _message_fields():
    """The field of LayerParameter that holds the settings of a type, by the
    name of its message without "Parameter": {'Convolution':
    'convolution_param', ...}."""
    return {field.message_type.name[:-len('Parameter')]: field.name
            for field in caffe_pb2.LayerParameter.DESCRIPTOR.fields
            if field.name.endswith('_param') and
            field.message_type.name.endswith('Parameter')}


_FIELD_OF_TYPE = _message_fields()


def param_name_dict():
    """The settings of every type: {'Convolution': 'convolution', ...}."""
    return {name: field[:-len('_param')]
            for name, field in _FIELD_OF_TYPE.items()}


def assign_proto(proto, name, value):
    """Sets a field of a message to a value, a list, or, for a message within,
    to a dictionary."""
    field = proto.DESCRIPTOR.fields_by_name.get(name)
    if field is None:
        raise AttributeError(f'{proto.DESCRIPTOR.name} has no field {name}')
    if hasattr(value, 'tolist'):  # numpy's arrays and numbers
        value = value.tolist()
    is_repeated = _is_repeated(field)
    if is_repeated and not isinstance(value, (list, tuple)):
        value = [value]
    if field.message_type is not None:
        for item in value if is_repeated else [value]:
            target = (getattr(proto, name).add() if is_repeated
                      else getattr(proto, name))
            if not isinstance(item, dict):
                target.CopyFrom(item)
                continue
            # An empty dictionary still says that the message is there.
            target.SetInParent()
            for key, inner in item.items():
                assign_proto(target, key, inner)
    elif is_repeated:
        getattr(proto, name).extend(_number_of(field, item) for item in value)
    else:
        setattr(proto, name, _number_of(field, value))


def _is_repeated(field):
    # New versions of protobuf have no labels, old ones nothing else.
    if hasattr(field, 'is_repeated'):
        return field.is_repeated
    return field.label == field.LABEL_REPEATED


def _number_of(field, value):
    """The value, or the number of an enum's value that is given by name."""
    if field.enum_type is None or not isinstance(value, str):
        return value
    if value not in field.enum_type.values_by_name:
        raise ValueError(f'{field.name} cannot be {value}; it is one of '
                         f'{", ".join(field.enum_type.values_by_name)}')
    return field.enum_type.values_by_name[value].number


class Top:
    """What a layer makes: number n of the tops of fn."""

    def __init__(self, fn, n):
        self.fn = fn
        self.n = n

    def to_proto(self):
        """The net that ends here."""
        return to_proto(self)

    def _to_proto(self, layers, names, autonames):
        return self.fn._to_proto(layers, names, autonames)


class Function:
    """A layer: its type, what it reads, and its settings."""

    def __init__(self, type_name, inputs, params):
        for index, top in enumerate(inputs):
            if not isinstance(top, Top):
                raise TypeError(f'{type_name} reads tops of layers, but its '
                                f'input {index} is of {type(top)}')
        self.type_name = type_name
        self.inputs = inputs
        self.params = dict(params)
        self.ntop = self.params.pop('ntop', 1)
        self.in_place = self.params.pop('in_place', False)
        if self.in_place and self.ntop != len(inputs):
            raise Error(f'{type_name} cannot work in place: it has '
                        f'{len(inputs)} bottom(s) and {self.ntop} top(s)')
        self.tops = tuple(Top(self, n) for n in range(self.ntop))

    def _autoname(self, autonames):
        autonames[self.type_name] += 1
        return self.type_name + str(autonames[self.type_name])

    def _top_name(self, top, names, autonames):
        if top not in names:
            names[top] = self._autoname(autonames)
        return names[top]

    def _name(self, names, autonames):
        if self.tops:
            return self._top_name(self.tops[0], names, autonames)
        if self not in names:
            names[self] = self._autoname(autonames)
        return names[self]

    def _to_proto(self, layers, names, autonames):
        if self in layers:
            return
        for top in self.inputs:
            top._to_proto(layers, names, autonames)
        layer = caffe_pb2.LayerParameter()
        layer.name = self._name(names, autonames)
        layer.type = self.type_name
        layer.bottom.extend(layers[top.fn].top[top.n] for top in self.inputs)
        if self.in_place:
            layer.top.extend(layer.bottom)
        else:
            layer.top.extend(self._top_name(top, names, autonames)
                             for top in self.tops)
        for key, value in self.params.items():
            self._assign(layer, key, value)
        layers[self] = layer

    def _assign(self, layer, key, value):
        field = _FIELD_OF_TYPE.get(self.type_name)
        settings = None if field is None else getattr(layer, field)
        has = lambda message: key in message.DESCRIPTOR.fields_by_name
        if not key.endswith('param') and settings is not None and has(settings):
            assign_proto(settings, key, value)
        elif has(layer):
            assign_proto(layer, key, value)
        else:
            raise Error(f'a layer of type {self.type_name} has no setting '
                        f"'{key}'")


class NetSpec:
    """A net: tops under the names they are assigned to."""

    def __init__(self):
        super().__setattr__('tops', OrderedDict())

    def __setattr__(self, name, value):
        self.tops[name] = value

    def __getattr__(self, name):
        try:
            return self.tops[name]
        except KeyError:
            raise AttributeError(f'the net has no top {name}') from None

    def __setitem__(self, name, value):
        self.tops[name] = value

    def __getitem__(self, name):
        return self.tops[name]

    def __delitem__(self, name):
        del self.tops[name]

    def __contains__(self, name):
        return name in self.tops

    def keys(self):
        return list(self.tops)

    def vals(self):
        return list(self.tops.values())

    def update(self, others):
        self.tops.update(others)

    def to_proto(self):
        """The net, as a caffe_pb2.NetParameter."""
        names = {top: name for name, top in self.tops.items()}
        return _net_of(self.tops.values(), names)


def _net_of(tops, names):
    autonames = Counter()
    layers = OrderedDict()
    for top in tops:
        top._to_proto(layers, names, autonames)
    net = caffe_pb2.NetParameter()
    net.layer.extend(layers.values())
    return net


def to_proto(*tops):
    """The net that ends in these tops; names of layers are made up."""
    return _net_of(tops, {})


class Layers:
    """Layers by type: layers.Convolution(top, num_output=20, ...)."""

    def __getattr__(self, type_name):
        if type_name.startswith('__'):
            raise AttributeError(type_name)

        def make(*inputs, **params):
            fn = Function(type_name, inputs, params)
            if fn.ntop == 0:
                return fn
            return fn.tops[0] if fn.ntop == 1 else fn.tops

        return make


class Parameters:
    """Values of settings: params.Pooling.MAX."""

    def __getattr__(self, name):
        message = getattr(caffe_pb2, name + 'Parameter', None)
        if message is None:
            raise AttributeError(f'there are no settings {name}Parameter')
        return message


layers = Layers()
params = Parameters()
