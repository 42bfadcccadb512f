"""Decide whether a run is worse than its baseline."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, NamedTuple, Self

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from rogue.reports.comparison.checks import Check, State
from rogue.reports.comparison.equivalence import ALPHA, Verdict
from rogue.reports.comparison.two_runs import Compared
from rogue.reports.drawing.layers import Layer, draw
from rogue.reports.drawing.panels import figure_look, panels, plain
from rogue.reports.drawing.svg import standalone_svg
from rogue.reports.metrics import METRICS
from rogue.reports.results import Results, Setting
from rogue.reports.transport_styles import ALARM, INK, MUTED, TransportStyle
from rogue.workloads.manifest import Manifest
from rogue.workloads.records import CellStatus


def are_identical(baseline: Manifest, candidate: Manifest) -> bool:
    """True if both runs finished the same cells with the same tables, byte for byte."""
    is_finished = all(each.status is CellStatus.OK for each in baseline.cells)
    return is_finished and _tables(baseline) == _tables(candidate)


def _tables(manifest: Manifest) -> tuple[object, object]:
    cells = [(each.id, each.transport, each.factors, each.seed, each.status) for each in manifest.cells]
    return cells, {path: digest for path, digest in manifest.files.items() if path.endswith(".parquet")}


def checks_of(compared: Sequence[Compared], baseline: Results, candidate: Results) -> list[Check]:
    """Return a check per row, and one per setting or measure of which the candidate has less."""
    return [*map(_check, compared), *_missing(compared, baseline, candidate)]


def _check(row: Compared) -> Check:
    states = {Verdict.UNDECIDED: State.OPEN, Verdict.TOO_FEW: State.OPEN}
    state = states.get(row.verdict, State.PASSED)
    if row.differs:
        state = State.FAILED if row.is_worse else State.CHANGED
    title, measure, *cells, _p, _verdict = row.row
    return Check(title, measure, state, f"{row.sentence}: {row.verdict_text}", tuple(cells))


def _missing(compared: Sequence[Compared], baseline: Results, candidate: Results) -> Iterator[Check]:
    there = {(each.setting.transport, each.setting.factors, each.metric.name) for each in compared}
    settings = {(each.transport, each.factors): each for each in candidate.measured_settings}
    for setting in baseline.measured_settings:
        key = setting.transport, setting.factors
        other = settings.get(key)
        if other is None:
            yield Check(
                setting.title, "result", State.FAILED, "the candidate has no finished cell of this setting"
            )
            continue
        cells = Part.of_cells(baseline, setting), Part.of_cells(candidate, other)
        if cells[1].share < cells[0].share:
            yield Check(setting.title, "cells", State.FAILED, _fewer("cells finished", *cells))
        for name, metric in METRICS.items():
            runs = Part.of_runs(baseline, setting, name), Part.of_runs(candidate, other, name)
            if runs[0].found and (*key, name) not in there:
                yield Check(setting.title, metric.title, State.FAILED, "the candidate has no such number")
            elif runs[1].share < runs[0].share:
                state = State.FAILED if runs[1].is_rarer(runs[0]) else State.OPEN
                yield Check(setting.title, metric.title, state, _fewer("runs have this number", *runs))


class Part(NamedTuple):
    """How many cells or runs of a setting have a result."""

    found: int
    total: int

    @classmethod
    def of_cells(cls, results: Results, setting: Setting) -> Self:
        """Return the finished cells."""
        return cls(len(results.views_of(setting)), len(setting.entries))

    @classmethod
    def of_runs(cls, results: Results, setting: Setting, metric: str) -> Self:
        """Return the finished cells that have a metric."""
        return cls(len(results.per_run(setting, metric)), len(results.views_of(setting)))

    @property
    def share(self) -> float:
        """Return the part that has a result."""
        return self.found / self.total

    def is_rarer(self, other: Self) -> bool:
        """True if the result is rarer than in the other part by more than chance. Fisher's exact test."""
        from scipy.stats import fisher_exact  # slow to import, and few comparisons need it

        table = np.array([[each.found, each.total - each.found] for each in (self, other)])
        return bool(fisher_exact(table, alternative="less").pvalue <= ALPHA)


def _fewer(what: str, baseline: Part, candidate: Part) -> str:
    return (
        f"{candidate.found} of {candidate.total} {what} in the candidate, "
        f"{baseline.found} of {baseline.total} in the baseline"
    )


def has_test(compared: Sequence[Compared]) -> bool:
    """True if a row was tested, or if all are identical."""
    return any(each.verdict not in (Verdict.IDENTICAL, Verdict.TOO_FEW) for each in compared) or all(
        each.verdict is Verdict.IDENTICAL for each in compared
    )


ROWS_MAX: Final = 40
_LOOKS: Final = {
    "worse": TransportStyle("worse", ALARM, "#ff8a80", "X"),
    "better": TransportStyle("better", "#00795a", "#3fcf9f", "o"),
    "other": TransportStyle("other", MUTED, "#a6b0bb", "s"),
}


class MovedPicture:
    """A picture of the measures that moved: relative change with its interval, and the margin."""

    layers: ClassVar = (
        Layer("spans", "margin", MUTED, {"alpha": 0.25, "linewidth": 12}),
        Layer("spans", "interval", look={"linewidth": 1.2}),
        Layer("points", "change", look={"markersize": 6}),
        Layer("rule", "baseline", INK),
    )

    def __init__(self, compared: Sequence[Compared], margin: float) -> None:
        moved = [
            each for each in compared if each.differs and each.means[0] and each.difference.low is not None
        ]
        self._moved = sorted(moved, key=lambda each: not each.is_worse)[:ROWS_MAX]
        self._margin = margin

    def svg(self) -> str | None:
        """Return the picture as a file; None if nothing moved that has a relative change."""
        if not self._moved:
            return None
        with figure_look():
            words = "; ".join(f"{each.setting.title}: {each.sentence}" for each in self._moved)
            return standalone_svg(self._drawn(), "Measures that moved", words)

    def _drawn(self) -> Figure:
        rows: list[dict[str, object]] = []
        for each in self._moved:
            one = abs(each.means[0]) / 100
            kind = "worse" if each.is_worse else "other" if each.metric.better == "near" else "better"
            row = {"series": kind, "row": plain(f"{each.setting.title}: {each.metric.title}", 52)}
            found = each.difference
            rows += [
                row | {"mark": "margin", "low": -100 * self._margin, "high": 100 * self._margin},
                row | {"mark": "interval", "low": (found.low or 0) / one, "high": (found.high or 0) / one},
                row | {"mark": "change", "change": found.mean / one},
            ]
        rows.append({"mark": "baseline", "change": 0.0})
        figure, (axis,) = panels([""], 1, height_inches=0.9 + 0.26 * len(self._moved))
        draw(axis, pd.DataFrame(rows), self.layers, ("change", "row"), _LOOKS)
        axis.set(xlabel="change (% of the baseline)", ylabel="")
        return figure
