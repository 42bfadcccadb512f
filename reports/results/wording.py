"""The one text of a measured value: the same on a card, in a table, in a legend and in words."""

from rogue.reports.metrics import METRICS
from rogue.reports.quantities import NO_VALUE, Scale, Unit, number_text, quantity_text, readable
from rogue.reports.results import Results, Setting


def value_text(results: Results, setting: Setting, metric: str) -> str:
    """Write the mean of a metric over the runs.

    `71 µs`; `none, 61 % lost` where in a run what it is about never came back; a dash where nothing was
    measured.
    """
    return ", ".join(_parts(results, setting, metric))


def spoken_text(results: Results, setting: Setting, metric: str) -> str:
    """Write the same within a sentence that has commas of its own: `none (61 % lost)`."""
    value, *lost = _parts(results, setting, metric)
    return f"{value} ({lost[0]})" if lost else value


def _parts(results: Results, setting: Setting, metric: str) -> list[str]:
    """Return the value, with the lost share if the value is infinite and the share is known."""
    mean = results.mean(setting, metric)
    if mean is None:
        return [NO_VALUE]
    text, lost = readable(mean.mean, METRICS[metric].unit), lost_text(results, setting, metric)
    return [text] if mean.exists or not lost else [text, lost]


def never_text(results: Results, setting: Setting, metric: str) -> str:
    """Say of a metric that is infinite what became of it: `is lost, as 61 % are`, or that it never came."""
    lost = METRICS[metric].lost
    share = results.mean(setting, lost.metric) if lost else None
    if lost is None or share is None:
        return "never came"
    return f"is {lost.word}, as {quantity_text(share.mean, Unit.PERCENT)} are"


def lost_text(results: Results, setting: Setting, metric: str) -> str:
    """Write which share of a metric's samples never came back: `61 % lost`; empty if it is not known."""
    lost = METRICS[metric].lost
    share = results.mean(setting, lost.metric) if lost else None
    return f"{quantity_text(share.mean, Unit.PERCENT)} {lost.word}" if lost and share else ""


def values_text(results: Results, setting: Setting, metric: str, scale: Scale | None = None) -> str:
    """Write the value of each run without its unit: `71.0, 71.4, none`."""
    values = results.per_run(setting, metric)
    return ", ".join(number_text(value, METRICS[metric].unit, scale) for value in values)
