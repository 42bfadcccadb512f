"""Generate the reference page of the cases of uet-htsim; run as a program, draw docs/images/uet-htsim.svg."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import Final

import matplotlib as mpl
from reference_experiments import table
from uet_htsim_cases import CREDIT_CASES, ROOT, Case, read_cases
from uet_htsim_run import BY_COIN, BY_RATE, CREDITS, MEASURED, Measured, read_measured

FIGURE: Final = ROOT / "docs/images/uet-htsim.svg"
MET: Final = 0.05
CLOSE: Final = 0.10
CHECKS: Final = "checks of the simulator, up to 1024 hosts"
PERMUTATIONS: Final = "permutations of 8192 hosts"
INCASTS: Final = "incasts into one of 8192 hosts"
GROUPS: Final = (CHECKS, PERMUTATIONS, INCASTS)


@dataclass(frozen=True, slots=True)
class Row:
    """A case with the results of our runs."""

    number: int
    case: Case
    first: tuple[Measured, ...]
    """Same thresholds at every port, one per seed."""
    by_rate: tuple[Measured, ...]
    """Thresholds in proportion to port rates; only for cases with slow links."""
    by_coin: tuple[Measured, ...]
    """Also with coin trimming; first seed only."""

    @property
    def group(self) -> str:
        """Section of the page."""
        if self.case.file.startswith("validate_outputs/"):
            return CHECKS
        return INCASTS if self.case.matrix.startswith("incast/") else PERMUTATIONS

    @property
    def best(self) -> tuple[Measured, ...]:
        """Runs whose thresholds follow uet-htsim's."""
        return self.by_rate or self.first

    def deviation(self, runs: Sequence[Measured]) -> float:
        """Return how much longer our runs take, as a fraction; mean over seeds."""
        return fmean(each.tail_us for each in runs) / self.case.tail_us - 1


def rows(
    cases: Sequence[Case],
    first: Sequence[Measured],
    by_rate: Sequence[Measured] = (),
    by_coin: Sequence[Measured] = (),
) -> list[Row]:
    """Return all cases, each with its runs."""
    return [
        Row(number, case, *(tuple(m for m in runs if m.case == number) for runs in (first, by_rate, by_coin)))
        for number, case in enumerate(cases, start=1)
    ]


def shares(found: Sequence[Row]) -> str:
    """Return the table of how many cases, and older results of uet-htsim, are within 5 and 10 %."""
    lines = [_share(group, [row for row in found if row.group == group]) for group in GROUPS]
    lines.append(_share("**all**", found))
    kinds = ("same bytes", "by rate", "and by coin", "uet-htsim's older")
    head = ("cases", "run", *(text for kind in kinds for text in (f"{kind}: 5 %", "10 %")))
    return table(head, lines)


def _share(name: str, found: Sequence[Row]) -> tuple[str, ...]:
    run = [row for row in found if row.first]
    older = [abs(row.case.older_us / row.case.tail_us - 1) for row in found if row.case.older_us]
    counts = [
        _within([abs(row.deviation(row.first)) for row in run]),
        _within([abs(row.deviation(row.best)) for row in run]),
        _within([abs(row.deviation(row.by_coin)) for row in run if row.by_coin]),
        _within(older),
    ]
    return (name, f"{len(run)} of {len(found)}", *(text for pair in counts for text in pair))


def _within(deviations: Sequence[float]) -> tuple[str, str]:
    if not deviations:
        return "–", "–"
    texts = []
    for most in (MET, CLOSE):
        count = sum(each <= most for each in deviations)
        texts.append(f"{count} ({count / len(deviations):.0%})")
    return texts[0], texts[1]


def every_case(found: Sequence[Row]) -> Iterator[str]:
    """Yield heading and table of each group."""
    times = ("here, µs", "", "by rate, µs", "", "and by coin, µs", "")
    head = ("", "case", "uet-htsim, µs", *times, "seeds", "again there", "again here")
    for group in GROUPS:
        yield f"### {group[0].upper()}{group[1:]}"
        yield table(head, [_line(row) for row in found if row.group == group])


def _line(row: Row) -> tuple[str, ...]:
    parts = [_time(row, runs) for runs in (row.first, row.by_rate, row.by_coin)]
    again = f"{fmean(each.again for each in row.best):.0f}" if row.best else "–"
    told = (*(text for pair in parts for text in pair), str(len(row.best)))
    return (str(row.number), named(row.case), f"{row.case.tail_us:g}", *told, str(row.case.again), again)


def _time(row: Row, runs: Sequence[Measured]) -> tuple[str, str]:
    if not runs:
        return "–", ""
    mean_us, deviation = fmean(each.tail_us for each in runs), row.deviation(runs)
    return (f"{mean_us:.1f}", f"{deviation:+.1%}") if isfinite(mean_us) else ("never", "")


def named(case: Case) -> str:
    """Return the case in the words of its command line."""
    matrix = case.matrix.removeprefix("incast/").rpartition(".")[0]
    topology = case.topology.removesuffix(".topo")
    return ", ".join(f"`{each}`" for each in (matrix, topology, case.options) if each)


def draw(found: Sequence[Row], path: Path) -> None:
    """Plot their times against ours with bands of 5 and 10 %; crosses: slow links, equal thresholds."""
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "uet-htsim"
    figure = Figure(figsize=(6.4, 6.0), layout="constrained")
    axes = figure.add_subplot(xscale="log", yscale="log", xlabel="uet-htsim: tail completion time (µs)")
    axes.set_ylabel("here (µs)")
    ends = (14.0, 30_000.0)
    for most, shade in ((CLOSE, "0.9"), (MET, "0.8")):
        low, high = [end * (1 - most) for end in ends], [end * (1 + most) for end in ends]
        axes.fill_between(ends, low, high, color=shade, linewidth=0, label=f"within {most:.0%}")
    for group, marker in zip(GROUPS, ("o", "^", "s"), strict=True):
        own = [row for row in found if row.group == group and row.best]
        theirs, ours = [row.case.tail_us for row in own], [fmean(m.tail_us for m in row.best) for row in own]
        axes.scatter(theirs, ours, s=16, marker=marker, alpha=0.7, label=group)
    slow = [row for row in found if row.by_rate and row.first]
    theirs, ours = [row.case.tail_us for row in slow], [fmean(m.tail_us for m in row.first) for row in slow]
    axes.scatter(
        theirs, ours, s=16, marker="x", color="0.3", label="slow links, the same bytes at every port"
    )
    axes.set(xlim=ends, ylim=ends)
    axes.legend(loc="upper left", fontsize="small", frameon=False)
    figure.savefig(path, metadata={"Date": None})


def credit_cases(found: Sequence[Row]) -> Iterator[str]:
    """Yield the section about cases in which receivers control congestion."""
    run = [row for row in found if row.first]
    met, close = _within([abs(row.deviation(row.first)) for row in run])
    yield "## Credits of receivers"
    yield f"{len(run)} of {len(found)} cases have been run. Within 5 % are {met}, within 10 % {close}."
    head = ("", "case", "uet-htsim, µs", "here, µs", "", "seeds", "again there", "again here")
    columns = (0, 1, 2, 3, 4, 9, 10, 11)
    yield table(head, [tuple(_line(row)[at] for at in columns) for row in found])


def generated() -> str:
    """Return the page."""
    files = read_files()
    found = rows(read_cases(), files["first"], files["by_rate"], files["by_coin"])
    credits_found = rows(read_cases(CREDIT_CASES), files["credits"])
    parts = [
        "# Cases of uet-htsim",
        "Tail completion times of uet-htsim (commit 40ccb05) and of this simulator."
        " [How they were compared](../explanation/uet-htsim.md) explains the columns.",
        "## Shares",
        shares(found),
        *credit_cases(credits_found),
        "## Every case",
        *every_case(found),
    ]
    return "\n\n".join(parts) + "\n"


def read_files() -> dict[str, list[Measured]]:
    """Read all results."""
    files = {"first": MEASURED, "by_rate": BY_RATE, "by_coin": BY_COIN, "credits": CREDITS}
    return {name: read_measured(path) for name, path in files.items()}


if __name__ == "__main__":
    draw(rows(read_cases(), read_measured(MEASURED), read_measured(BY_RATE)), FIGURE)
