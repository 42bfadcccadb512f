"""Decide whether a run is worse than its baseline."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

import pandas as pd
from matplotlib.figure import Figure

from rogue.reports.comparison.checks import MOVED, Check, State
from rogue.reports.comparison.equivalence import Verdict
from rogue.reports.comparison.two_runs import Compared
from rogue.reports.drawing.layers import Layer, draw
from rogue.reports.drawing.panels import figure_look, panels, plain
from rogue.reports.drawing.svg import standalone_svg
from rogue.reports.metrics import METRICS
from rogue.reports.results import Results
from rogue.reports.transport_styles import ALARM, INK, MUTED, TransportStyle
from rogue.workloads.manifest import Manifest


def are_identical(baseline: Manifest, candidate: Manifest) -> bool:
    """True if both runs have the same cells with the same tables, byte for byte."""
    return _tables(baseline) == _tables(candidate)


def _tables(manifest: Manifest) -> tuple[object, object]:
    cells = [(each.id, each.transport, each.factors, each.seed, each.status) for each in manifest.cells]
    return cells, {path: digest for path, digest in manifest.files.items() if path.endswith(".parquet")}


def checks_of(compared: Sequence[Compared], baseline: Results, candidate: Results) -> list[Check]:
    """Return a check per row, and one per setting or measure that only the baseline has."""
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
    settings = {(each.transport, each.factors) for each in candidate.measured_settings}
    for setting in baseline.measured_settings:
        key = setting.transport, setting.factors
        if key not in settings:
            yield Check(
                setting.title, "result", State.FAILED, "the candidate has no finished cell of this setting"
            )
            continue
        for name, metric in METRICS.items():
            if baseline.per_run(setting, name) and (*key, name) not in there:
                yield Check(setting.title, metric.title, State.FAILED, "the candidate has no such number")


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


def moved(checks: Sequence[Check]) -> list[Check]:
    """Return the checks of measures that moved, regressions first."""
    return sorted(
        (each for each in checks if each.state in MOVED), key=lambda each: each.state is State.CHANGED
    )
