"""Whether two testbeds agree: no further apart than the experiment's `agree_within` allows."""

import math
from collections.abc import Mapping
from typing import Final

from rogue.reports.metrics import METRICS
from rogue.reports.quantities import NO_VALUE
from rogue.workloads.manifest import Manifest

KEY: Final = "agree_within"


def tolerances_of(manifest: Manifest) -> dict[str, float]:
    """Return how far apart two means may be, by metric: a part of the larger one."""
    stated = manifest.experiment.get(KEY)
    if not isinstance(stated, Mapping):
        return {}
    return {
        name: float(within)
        for name, within in stated.items()
        if name in METRICS and isinstance(within, int | float) and not isinstance(within, bool)
    }


def agree(one: float | None, other: float | None, within: float) -> bool | None:
    """Return whether two means are no further apart than allowed; None where one of them is missing.

    What never came back is infinite on both sides, and so the same.
    """
    if one is None or other is None or math.isnan(one) or math.isnan(other):
        return None
    if math.isinf(one) or math.isinf(other):
        return one == other
    return abs(one - other) <= within * max(abs(one), abs(other))


def agreement_text(verdict: bool | None, within: float) -> str:
    """Return it in words, with what was allowed."""
    if verdict is None:
        return NO_VALUE
    return f"{'yes' if verdict else 'no'}, within {_percent(within)}"


def tally(verdicts: list[bool | None]) -> str:
    """Return in a sentence how many of all agree."""
    judged = [verdict for verdict in verdicts if verdict is not None]
    text = f"{sum(judged)} of {len(judged)} measures agree within what the experiment allows"
    missing = len(verdicts) - len(judged)
    return f"{text}; {missing} have no value on both sides." if missing else f"{text}."


def _percent(within: float) -> str:
    return f"{100 * within:g} %"
