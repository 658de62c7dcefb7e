#!/usr/bin/env python3
"""What happens when zeros do not stay zeros.

    scripts/reproduce/zeros.py [--quick | --smoke | --full] [--nets NAME...]

Trains with the codecs sz, which keeps zeros, and shifted, which has the same
bound but brings zeros back as small values, at several tolerances; both round
to the nearest. The guard only warns, so that nothing comes to their help.
"""

import experiment
import variants

SETTINGS = ('codec: "{}" rounding: NEAREST error_bound {{ tolerance: {} }} '
            'guard {{ action: WARN }}')
TOLERANCES = {'smoke': [0.01], 'quick': [0.01, 0.1], 'full': [0.01]}


def main():
    options = experiment.parse(__doc__, default_seeds={'quick': 2, 'full': 4})
    settings = {'raw': None}
    for tolerance in TOLERANCES[options.size]:
        for codec in 'sz', 'shifted':
            settings[f'{codec}_{tolerance}'] = SETTINGS.format(codec, tolerance)
    results, tables = {}, []
    for name in options.nets:
        results[name] = variants.summary(
            variants.run(options, name, settings))
        tables.append((
            f'{name}: zeros kept (sz) and not (shifted), by tolerance. '
            'Published: without zeros, AlexNet on ImageNet diverged within '
            '5,000 iterations in 4 of 4 runs.', variants.rows(results[name])))
    experiment.save(options, 'zeros', results, tables,
                    experiment.command(options, __file__))


if __name__ == '__main__':
    main()
