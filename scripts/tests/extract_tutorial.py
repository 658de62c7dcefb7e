#!/usr/bin/env python3
"""Writes the files that docs/add_a_layer.md adds or changes.

    extract_tutorial.py PROJECT_FOLDER OUTPUT_FOLDER

A block of the page under the line

    `some/file`:

is that file. Under the line

    In `Function` of `some/file`:

the block goes to the front of the list that the function returns.
"""

import pathlib
import re
import sys

BLOCK = r':\n\n```\w*\n(.*?)^```$'
FILE = re.compile(r'^`([^`]+)`' + BLOCK, re.M | re.S)
PLACE = re.compile(r'^In `(\w+)` of `([^`]+)`' + BLOCK, re.M | re.S)


def main():
    project, output = map(pathlib.Path, sys.argv[1:])
    page = (project / 'docs/add_a_layer.md').read_text(encoding='utf-8')
    changed = dict(FILE.findall(page))
    for function, name, block in PLACE.findall(page):
        before = (project / name).read_text(encoding='utf-8')
        start = before.index('return {\n', before.index(f' {function}()'))
        place = before.index('\n', start) + 1
        changed[name] = before[:place] + block + before[place:]
    for name, text in changed.items():
        file = output / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding='utf-8')


main()
