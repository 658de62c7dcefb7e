#!/usr/bin/env python3
"""Writes a C++ source that names all of Caffe's C++ interface.

    generate_api_probes.py caffe_api.txt OUTPUT

The table has one [header] after the other, with the macros, classes, public
member functions and free functions that Caffe 1.0 declares in it. The source
includes the headers and names all the rest; where we lack one, it does not
compile, and the compiler tells which.
"""

import re
import sys

# Free functions are in namespace caffe but for those in these headers.
SCOPES = {
    'caffe/test/test_caffe_main.hpp': '',
    'caffe/util/db.hpp': 'caffe::db',
    'caffe/util/db_lmdb.hpp': 'caffe::db',
    'caffe/util/mkl_alternate.hpp': '',
}
# What stands for the parameter of a class template.
ARGUMENTS = {'Dtype': 'float', 'T': 'int', 'TypeParam': 'CPUDevice<float>'}


class Table:
    """The table, and what C++ to write for it."""

    def __init__(self):
        self.includes = []
        self.lines = []
        self.names = set()
        self.classes = {}
        self.counts = dict.fromkeys(
            ('headers', 'classes', 'members', 'functions', 'macros'), 0)

    def read(self, text):
        for line in text.splitlines():
            if line.startswith('['):
                self.header = line.strip('[]')
                self.counts['headers'] += 1
                self.includes.append(f'#include "{self.header}"')
            elif line.startswith('  class '):
                head, _, members = line[len('  class '):].rpartition(':')
                self.add_class(*head.split(' : '), members=members.split())
            elif line.startswith('  functions: '):
                self.add_functions(line.split(': ')[1].split(', '))
            elif line.startswith('  macros: '):
                self.add_macros(line.split(': ')[1].split(', '))
            elif not line.startswith('#'):
                sys.exit(f'cannot read the line: {line}')

    def add_macros(self, names):
        self.counts['macros'] += len(names)
        for name in names:
            self.lines += [f'#ifndef {name}',
                           f'#error "{self.header} lacks the macro {name}"',
                           '#endif']

    def add_functions(self, names):
        self.counts['functions'] += len(names)
        scope = SCOPES.get(self.header, 'caffe')
        self.lines += [f'using {scope}::{name};' for name in names]

    def add_class(self, name, bases='', members=()):
        self.counts['classes'] += 1
        alias = f'Class{self.counts["classes"]}'
        self.lines.append(f'using {alias} = {self.spell(name)};  // {name}')
        for base in bases.split(', ') if bases else []:
            base = self.spell(base)
            self.lines.append(
                f'static_assert(std::derived_from<{alias}, {base}>);')
        for member in members:
            self.add_member(name, alias, member.rstrip(','))

    def add_member(self, class_name, alias, member):
        self.counts['members'] += 1
        word = member.replace('operator=', 'assign')
        if word not in self.names:
            self.names.add(word)
            self.lines += ['template <typename T>',
                           f'concept Has_{word} = requires {{ &T::{member}; }};']
        # Whoever derives from a class can make its protected members public, so
        # that only there they can be named. (Overloads cannot be, ever.)
        probe = f'{alias}_{word}'
        self.lines += [
            f'struct {probe} : {alias} {{ using {alias}::{member}; }};',
            f'static_assert(Has_{word}<{alias}> || !Has_{word}<{probe}>,',
            f'              "{class_name}::{member} is not public");',
        ]

    def spell(self, name):
        """A class as the table has it, as C++ with its template arguments."""
        for parameter, argument in ARGUMENTS.items():
            name = name.replace(f'<{parameter}>', f'<{argument}>')
        # The table has caffe::Net::Callback for a class in a template.
        outer, separator, inner = name.rpartition('::')
        name = self.classes.get(outer, outer) + separator + inner
        self.classes[re.sub('<.*>', '', name)] = name
        return name


def main():
    table = Table()
    with open(sys.argv[1], encoding='utf-8') as file:
        table.read(file.read())
    with open(sys.argv[2], 'w', encoding='utf-8') as file:
        file.write('\n'.join(table.includes))
        file.write('\n\nnamespace caffe::api {\n\nusing namespace db;\n')
        file.write('\n'.join(table.lines) + '\n')
        for what, count in table.counts.items():
            file.write(f'constexpr int kCaffe{what.capitalize()} = {count};\n')
        file.write('\n}  // namespace caffe::api\n')


main()
