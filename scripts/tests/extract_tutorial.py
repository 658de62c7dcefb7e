#!/usr/bin/env python3
"""Does to a copy of the project what docs/add_a_layer.md says.

    extract_tutorial.py PROJECT_FOLDER OUTPUT_FOLDER

writes the files that the page adds or changes. A block of the page under the
line

    `some/file`:

is that file. Under the line

    In `Function` of `some/file`:

the block goes to the front of the list that the function returns, and under

    At the end of `some/file`:

there. A row of a table

    | `some/file` | `line` |

is a line that goes into a list in that file, in alphabetical order.
"""

import pathlib
import re
import sys

BLOCK = r':\n\n```\w*\n(.*?)^```$'
FILE = re.compile(r'^`([^`]+)`' + BLOCK, re.M | re.S)
PLACE = re.compile(r'^In `(\w+)` of `([^`]+)`' + BLOCK, re.M | re.S)
END = re.compile(r'^At the end of `([^`]+)`' + BLOCK, re.M | re.S)
ROW = re.compile(r'^\| `([^`]+)` \| `([^`]+)` \|$', re.M)


def in_function(text, function, block):
    start = text.index('return {\n', text.index(f' {function}()'))
    place = text.index('\n', start) + 1
    return text[:place] + block + text[place:]


def in_list(text, line):
    """In front of the first line of its kind, `x.cpp` or `command(x)`, that
    comes after it in the alphabet."""
    kind = re.compile(r'( *)' + re.sub(r'\w*softsign\w*', r'\\w+',
                                       line.replace('(', r'\(')
                                           .replace(')', r'\)')) + r'\)?')
    lines = text.splitlines(keepends=True)
    for i, other in enumerate(lines):
        match = kind.fullmatch(other.rstrip('\n'))
        if match and other.strip() > line:
            return ''.join(lines[:i] + [match[1] + line + '\n'] + lines[i:])
    sys.exit(f'found no place for {line}')


def main():
    project, output = map(pathlib.Path, sys.argv[1:])
    page = (project / 'docs/add_a_layer.md').read_text(encoding='utf-8')
    changed = dict(FILE.findall(page))

    def before(name):
        return (project / name).read_text(encoding='utf-8')

    for function, name, block in PLACE.findall(page):
        changed[name] = in_function(before(name), function, block)
    for name, block in END.findall(page):
        changed[name] = before(name) + block
    for name, line in ROW.findall(page):
        changed[name] = in_list(before(name), line)
    for name, text in changed.items():
        file = output / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding='utf-8')


main()
