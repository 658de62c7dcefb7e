"""Tables for docs/."""


def print_table(rows):
    """`rows` are lists of texts; the first is the head. Numbers, all columns
    but the first, are set to the right."""
    print('| ' + ' | '.join(rows[0]) + ' |')
    print('| --- |' + ' ---: |' * (len(rows[0]) - 1))
    for row in rows[1:]:
        print('| ' + ' | '.join(row) + ' |')
    print()
