"""Warnings about transports that the repetitions cannot tell apart."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from rogue.reports.metrics.statistics import LEVEL_WITHIN, SINGLE_VALUES_MAX, MeanInterval
from rogue.reports.quantities import counted, joined
from rogue.reports.results import Results, Setting, settings_by_point
from rogue.reports.results.headlines import headlines_of, subject_of
from rogue.reports.warnings.warning import RunWarning, some

ALPHA: Final = 0.05
"""Probability of finding a difference that does not exist."""
POWER: Final = 0.8
"""Probability of finding a difference that exists."""
SEEDS_MIN: Final = SINGLE_VALUES_MAX + 1
"""Smallest number of seeds with an interval."""
SEEDS_MAX: Final = 100
COMPARED: Final = ("flows", "throughput", "queues", "latency")
"""Tables that agree if two transports behave alike; their columns of text are labels."""


def identical_tables(results: Results) -> RunWarning | None:
    """Warn of transports that behave alike to the nanosecond in all repetitions of a factor point."""
    found: dict[tuple[str, ...], list[str]] = {}
    points = settings_by_point(results.measured_settings)
    for point, settings in points.items():
        for names in _alike(results, settings):
            found.setdefault(names, []).append(point)
    if not found:
        return None
    groups = [
        joined(list(names))
        + ("" if len(where) == len(points) else f" ({counted(len(where), 'factor point')})")
        for names, where in found.items()
    ]
    return RunWarning(
        f"Identical results to the nanosecond: {some(groups)}.",
        "What distinguishes them has no effect here: check the parameters, or add the load, loss or pauses"
        " that it is for.",
    )


def _alike(results: Results, settings: Sequence[Setting]) -> Iterator[tuple[str, ...]]:
    """Yield groups of at least two transports with the same tables."""
    left = list(settings)
    while left:
        first = left.pop(0)
        same = [other for other in left if _is_same(results, first, other)]
        left = [other for other in left if other not in same]
        if same:
            yield tuple(setting.style.name for setting in (first, *same))


def _is_same(results: Results, one: Setting, other: Setting) -> bool:
    """Compare the measures first, which are known; only if these are equal read the tables."""
    cells = [[view.entry for view in results.views_of(setting)] for setting in (one, other)]
    if [cell.seed for cell in cells[0]] != [cell.seed for cell in cells[1]]:
        return False
    pairs = [(first.id, second.id) for first, second in zip(*cells, strict=True)]
    if any(dict(results.values[first]) != dict(results.values[second]) for first, second in pairs):
        return False
    return all(
        _same_numbers(*(results.run.table(cell, table) for cell in pair))
        for pair in pairs
        for table in COMPARED
    )


def _same_numbers(one: pd.DataFrame | None, other: pd.DataFrame | None) -> bool:
    if one is None or other is None:
        return one is other
    first, second = (frame.select_dtypes(include="number").to_numpy(np.float64) for frame in (one, other))
    return np.array_equal(first, second, equal_nan=True)


def too_few_seeds(results: Results) -> RunWarning | None:
    """Warn of measures in the summary whose means differ while the intervals of the seeds overlap."""
    found: dict[str, Counter[str]] = {}
    needed, seeds = 0, 0
    subject = subject_of(results)
    for own, rival in _compared(results, subject):
        for headline in headlines_of(results.run.manifest).shown:
            one, other = (results.mean(setting, headline.metric) for setting in (own, rival))
            if one is None or other is None or not _is_uncertain(one, other):
                continue
            found.setdefault(rival.style.name, Counter())[headline.noun] += 1
            needed, seeds = max(needed, seeds_needed(one.values, other.values)), max(seeds, one.n, other.n)
    if not found:
        return None
    points = len(settings_by_point(results.measured_settings))
    rivals = some([f"{name} ({_measures_at(nouns, points)})" for name, nouns in found.items()])
    first = next(each.style.name for each in results.measured_settings if each.transport == subject)
    needed = max(needed, seeds + 1)  # overlapping intervals ask for more than the t-test does
    enough = f"about {needed}" if needed <= SEEDS_MAX else f"more than {max(SEEDS_MAX, seeds)}"
    return RunWarning(
        f"With {counted(seeds, 'seed')}, the intervals of {first} overlap those of {rivals}.",
        f"Treat these as equal, or repeat: {enough} seeds would show a difference of that size"
        f" ({100 * POWER:.0f} % power at {100 * ALPHA:.0f} %; `repetitions`).",
    )


def _measures_at(nouns: Mapping[str, int], points: int) -> str:
    """Return the measures, each with the number of factor points unless it is all of them."""
    return ", ".join(
        noun if count == points else f"{noun} at {count} of {counted(points, 'point')}"
        for noun, count in nouns.items()
    )


def _compared(results: Results, subject: str) -> Iterator[tuple[Setting, Setting]]:
    """Yield the transport of the question with each other one, at the factor points that both have."""
    for settings in settings_by_point(results.measured_settings).values():
        own = next((each for each in settings if each.transport == subject), None)
        if own is not None:
            yield from ((own, rival) for rival in settings if rival is not own)


def _is_uncertain(one: MeanInterval, other: MeanInterval) -> bool:
    """True if the means differ, but the intervals of several seeds touch."""
    if not (one.exists and other.exists) or one.low is None or other.low is None:
        return False
    assert one.high is not None and other.high is not None, "an interval has two ends"
    if abs(one.mean - other.mean) <= LEVEL_WITHIN * max(abs(one.mean), abs(other.mean)):
        return False
    return one.low <= other.high and other.low <= one.high


def seeds_needed(one: Sequence[float], other: Sequence[float]) -> int:
    """Return the seeds per transport with which a difference of this size is found with probability POWER.

    That of the two-sided t-test with n runs each: d * sqrt(n / 2) is the noncentrality, d the difference over
    the pooled standard deviation. SEEDS_MAX + 1 stands for more.
    Source: Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, section 2.5.
    """
    from scipy.stats import nct, t  # slow to import, and few reports need it

    deviation = math.sqrt((np.var(one, ddof=1) + np.var(other, ddof=1)) / 2)
    effect = abs(float(np.mean(one) - np.mean(other))) / deviation
    for n in range(SEEDS_MIN, SEEDS_MAX + 1):
        freedom, distance = 2 * n - 2, effect * math.sqrt(n / 2)
        limit = t.ppf(1 - ALPHA / 2, freedom)
        if nct.sf(limit, freedom, distance) + nct.cdf(-limit, freedom, distance) >= POWER:
            return n
    return SEEDS_MAX + 1


def single_seed(results: Results) -> RunWarning | None:
    """Warn of a comparison of transports with one run each."""
    settings = results.measured_settings
    names = {setting.transport for setting in settings}
    if len(names) < 2 or any(len(results.views_of(setting)) > 1 for setting in settings):
        return None
    return RunWarning(
        "Each number is from one run, so any difference may be chance.",
        f"Repeat with at least {SEEDS_MIN} seeds: `--set repetitions={SEEDS_MIN}`.",
    )
