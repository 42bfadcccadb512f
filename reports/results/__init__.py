"""A run: its finished cells by setting, their measured values, and the text of a value."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rogue.reports.cells.view import CellView, common_interval_ns
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.statistics import MeanInterval, mean_interval
from rogue.reports.quantities import NARROW_SPACE, NO_VALUE, Scale, Unit, number_text, quantity_text, readable
from rogue.reports.reading.load import Run
from rogue.reports.transport_styles import TransportStyle, styles_of
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import CellStatus


@dataclass(frozen=True, slots=True)
class PublishedNumber:
    """A claim's number for one setting. `value` and `tolerance` are in the metric's base units."""

    claim: str
    """Its id."""
    setting: "Setting"
    metric: str
    value: float
    tolerance: float
    measured: MeanInterval
    is_ratio: bool = False
    """Value and measurement are ratios to another setting."""

    @property
    def has_place(self) -> bool:
        """True if the measurement can be drawn as a multiple of the number."""
        return self.value > 0 and self.measured.exists


Counted = Callable[[int, int, str], None]
"""Gets the number done, the total, and the activity, such as `measuring cells`."""


def in_silence(_done: int, _total: int, _what: str) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Setting:
    """One transport at one factor point: the cells that differ only in repetition and seed."""

    transport: str
    registry_name: str
    factors: tuple[tuple[str, str], ...]
    entries: tuple[CellRecord, ...]
    style: TransportStyle
    """Look of the transport in this run."""

    @property
    def factor_text(self) -> str:
        """Return the factor point in words, `senders 8, size 1MB`; empty without factors."""
        return ", ".join(f"{factor_name(key)} {value}" for key, value in self.factors)

    @property
    def title(self) -> str:
        """Return transport and factor point in words."""
        return f"{self.style.name}, {self.factor_text}" if self.factors else self.style.name


class CellValues(Mapping[str, float | None]):
    """Every metric of a cell by name, in base units; each is measured on first access."""

    def __init__(self, view: CellView, interval_ns: int) -> None:
        self._view, self._interval_ns = view, interval_ns
        self._known: dict[str, float | None] = {}

    def __getitem__(self, metric: str) -> float | None:
        if metric not in self._known:
            self._known[metric] = METRICS[metric].of(self._view, self._interval_ns)
        return self._known[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(METRICS)

    def __len__(self) -> int:
        return len(METRICS)


class Results:
    """A run with its settings, the measured values of each cell, and their means.

    `counted` gets the progress of long operations.
    """

    def __init__(self, run: Run, counted: Counted = in_silence) -> None:
        self.run = run
        self.counted = counted
        self.settings = settings_of(run.manifest.cells)
        self.published: Sequence[PublishedNumber] = ()
        """Published numbers of its settings for figures, set by `hold_against`."""
        self._means: dict[tuple[str, tuple[tuple[str, str], ...], str], MeanInterval | None] = {}

    @cached_property
    def views(self) -> dict[str, CellView]:
        """Return the finished cells by id, in order of repetition."""
        done = [cell for cell in self.run.manifest.cells if cell.status is CellStatus.OK]
        done.sort(key=lambda cell: cell.repetition)
        return {cell.id: CellView(self.run, cell) for cell in done}

    @cached_property
    def interval_ns(self) -> int:
        """Return the interval over which goodput is read everywhere in this run's report."""
        return common_interval_ns(list(self.views.values()))

    @cached_property
    def values(self) -> dict[str, CellValues]:
        """Return every metric of every finished cell: cell id, metric name, value in base units."""
        return {cell_id: CellValues(view, self.interval_ns) for cell_id, view in self.views.items()}

    def measure_all(self) -> None:
        """Measure every metric, cell by cell: each table is read once for it, however many there are."""
        for done, view in enumerate(self.views.values(), start=1):
            _ = view.window  # of all cells, before the first is measured: they share one interval
            self.counted(done, len(self.views), "reading cells")
        for done, values in enumerate(self.values.values(), start=1):
            dict(values)
            self.counted(done, len(self.values), "measuring cells")

    def views_of(self, setting: Setting) -> list[CellView]:
        """Return the finished cells of a setting, in order of repetition."""
        views = [self.views[entry.id] for entry in setting.entries if entry.id in self.views]
        return sorted(views, key=lambda view: view.entry.repetition)

    def per_run(self, setting: Setting, metric: str) -> list[float]:
        """Return a metric's values, one per finished cell that has it."""
        values = [self.values[view.entry.id][metric] for view in self.views_of(setting)]
        return [value for value in values if value is not None]

    def by_repetition(self, setting: Setting, metric: str) -> dict[int, float]:
        """Return the same by repetition; equal repetitions have the same traffic."""
        values = {
            view.entry.repetition: self.values[view.entry.id][metric] for view in self.views_of(setting)
        }
        return {repetition: value for repetition, value in values.items() if value is not None}

    def mean(self, setting: Setting, metric: str) -> MeanInterval | None:
        """Return a metric's mean over the runs of a setting with its 95 % interval."""
        key = setting.transport, setting.factors, metric
        if key not in self._means:
            self._means[key] = mean_interval(self.per_run(setting, metric))
        return self._means[key]

    def at_least(self, setting: Setting, metric: str) -> float | None:
        """Return the least mean that infinite values of a metric allow; None if there is no such bound."""
        bound = METRICS[metric].bound
        if bound is None:
            return None
        found = []
        for view in self.views_of(setting):
            value = self.values[view.entry.id][metric]
            found.append(bound(view, self.interval_ns) if value == math.inf else value)
        known = [value for value in found if value is not None]
        return sum(known) / len(known) if known and len(known) == len(found) else None

    def has(self, metric: str) -> bool:
        """True if any finished cell has a value of this metric."""
        return any(values[metric] is not None for values in self.values.values())

    def published_at(self, setting: Setting, metric: str) -> list[float]:
        """Return the published numbers of a metric of a setting, in base units, without ratios."""
        return [
            each.value
            for each in self.published
            if each.setting is setting and each.metric == metric and not each.is_ratio
        ]

    @property
    def measured_settings(self) -> list[Setting]:
        """Return the settings that have a finished cell."""
        return [setting for setting in self.settings if self.views_of(setting)]


def settings_of(cells: list[CellRecord]) -> list[Setting]:
    """Group cells that differ only in repetition, in the order in which the manifest has them."""
    styles = styles_of((cell.transport_name, cell.transport) for cell in cells)
    groups: dict[tuple[str, tuple[tuple[str, str], ...]], list[CellRecord]] = {}
    for cell in cells:
        point = tuple((key, str(value)) for key, value in cell.factors.items())
        groups.setdefault((cell.transport, point), []).append(cell)
    return [
        Setting(transport, entries[0].transport_name, point, tuple(entries), styles[transport])
        for (transport, point), entries in groups.items()
    ]


def settings_by_point(settings: Sequence[Setting]) -> dict[str, list[Setting]]:
    """Group settings by factor point, in words, so that the transports at one point can be compared."""
    points: dict[str, list[Setting]] = {}
    for setting in settings:
        points.setdefault(setting.factor_text, []).append(setting)
    return points


def by_transport(settings: Sequence[Setting]) -> dict[str, list[Setting]]:
    """Return the settings of each transport."""
    groups: dict[str, list[Setting]] = {}
    for setting in settings:
        groups.setdefault(setting.transport, []).append(setting)
    return groups


def factor_name(key: str) -> str:
    """Return the readable part of a factor's key: `workload.base_rtt` is `base rtt`."""
    return key.rsplit(".", 1)[-1].replace("_", " ")


def value_text(results: Results, setting: Setting, metric: str) -> str:
    """Write the mean of a metric over the runs.

    `71 µs`; `none, 61 % lost` if it is infinite in a run; a dash if it was not measured.
    """
    return ", ".join(_parts(results, setting, metric))


def spoken_text(results: Results, setting: Setting, metric: str) -> str:
    """Write the same for a sentence with commas: `none (61 % lost)`."""
    value, *lost = _parts(results, setting, metric)
    return f"{value} ({lost[0]})" if lost else value


def _parts(results: Results, setting: Setting, metric: str) -> list[str]:
    """Return the value, with what is lost if the value is infinite or transfers are unfinished."""
    mean = results.mean(setting, metric)
    if mean is None:
        return [NO_VALUE]
    text = mean_text(results, setting, metric)
    lost = lost_text(results, setting, metric)
    return [text, lost] if lost and (not mean.exists or is_counted(metric)) else [text]


def mean_text(results: Results, setting: Setting, metric: str) -> str:
    """Write the mean of a metric for a sentence, without what is lost."""
    return written(results, setting, metric, lambda value: readable(value, METRICS[metric].unit))


def written(results: Results, setting: Setting, metric: str, write: Callable[[float], str]) -> str:
    """Write the mean of a metric; `≥ x` if a percentile falls among the unfinished transfers."""
    mean, bound = results.mean(setting, metric), None
    if mean is None:
        return NO_VALUE
    if not mean.exists:
        bound = results.at_least(setting, metric)
    return write(mean.mean) if bound is None else f"≥{NARROW_SPACE}{write(bound)}"


def is_counted(metric: str) -> bool:
    """True if the lost samples of a metric are counted, and so named beside each of its values."""
    lost = METRICS[metric].lost
    return lost is not None and lost.counts is not None


def lost_text(results: Results, setting: Setting, metric: str) -> str:
    """Write what is lost of a metric: `61 % lost`, `1 of 3 525 unfinished`; empty if nothing or unknown."""
    lost = METRICS[metric].lost
    if lost is not None and lost.counts is not None:
        counts = [lost.counts(view) for view in results.views_of(setting)]
        missing, total = (sum(numbers) for numbers in zip(*counts, strict=True))
        texts = [number_text(number, Unit.COUNT) for number in (missing, total)]
        return f"{texts[0]} of {texts[1]} {lost.word}" if missing else ""
    share = results.mean(setting, lost.metric) if lost else None
    return f"{quantity_text(share.mean, Unit.PERCENT)} {lost.word}" if lost and share else ""


def values_text(results: Results, setting: Setting, metric: str, scale: Scale | None = None) -> str:
    """Write the value of each run without its unit: `71.0, 71.4, none`."""
    values = results.per_run(setting, metric)
    return ", ".join(number_text(value, METRICS[metric].unit, scale) for value in values)
