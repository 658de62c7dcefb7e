"""Trainings of one net that differ in compression only, from several seeds."""

import statistics

import experiment
import logs
import nets
from trainings import accuracy, train


def run(options, name, variants, change=None):
    """{variant: [result of each seed]}, where `variants` are what the solver
    says in compression { } by the variant's name, None for nothing.
    change(variant, net, solver, seed) may give another net."""
    results = {}
    for variant, compression in variants.items():
        results[variant] = []
        for seed in experiment.seeds(options):
            net, solver = nets.training(options, name, seed)
            if change:
                net = change(variant, net, solver, seed)
            results[variant].append(train(
                options, f'{name}/{variant}_{seed}', net, solver, compression))
    return results


def summary(results):
    """What JSON and tables have of every training."""
    return {variant: [{'accuracy': accuracy(result),
                       'stopped': result.get('stopped'),
                       'loss': result['losses'][-1][1],
                       'ratio': logs.ratio(result)} for result in found]
            for variant, found in results.items()}


def rows(found, head='variant'):
    """A table of a summary; differences are from the first variant, seed by
    seed."""
    first = next(iter(found.values()))
    table = [[head, 'accuracy', 'difference', 'last loss', 'ratio', 'stopped']]
    for variant, results in found.items():
        differences = [result['accuracy'] - other['accuracy']
                       for result, other in zip(results, first)
                       if None not in (result['accuracy'], other['accuracy'])]
        stopped = sum(result['stopped'] is not None for result in results)
        table.append([
            variant, experiment.spread([r['accuracy'] for r in results], ' %'),
            experiment.spread(differences) if results is not first else '',
            f"{statistics.mean(r['loss'] for r in results):.3f}",
            experiment.spread([r['ratio'] for r in results]),
            f'{stopped} of {len(results)}'])
    return table
