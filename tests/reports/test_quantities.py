"""Tests: numbers and LaTeX text, and errors."""

import math
from pathlib import Path

import pytest

from rogue.reports.errors import ReportError
from rogue.reports.latex import latex_text
from rogue.reports.pages.build import build
from rogue.reports.quantities import (
    NARROW_SPACE,
    NO_VALUE,
    Unit,
    common_scale,
    counted,
    duration_text,
    joined,
    number_text,
    quantity_text,
    readable,
    size_text,
)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (9.2085e9, Unit.RATE, "9.21"),
        (12.34e9, Unit.RATE, "12.3"),
        (0.0, Unit.RATE, "0"),
        (45.85e6, Unit.RATE, "0.046"),
        (71_049, Unit.TIME, "71.0"),
        (7_204_000, Unit.TIME, f"7{NARROW_SPACE}204"),
        (90_349, Unit.BYTES, "90.3"),
        (0.9833, Unit.PERCENT, "98.3"),
        (-0.4, Unit.TIME, "0"),
        (-0.02, Unit.PERCENT, "\u22122.0"),
        (0.99949, Unit.INDEX, "0.999"),
        (2.0, Unit.COUNT, "2"),
        (5 / 3, Unit.COUNT, "1.7"),
        (7465.5, Unit.COUNT, f"7{NARROW_SPACE}466"),
        (0.648, Unit.RATIO, "0.65"),
        (None, Unit.RATE, NO_VALUE),
        (math.nan, Unit.RATE, NO_VALUE),
        (math.inf, Unit.TIME, "none"),
    ],
)
def test_number(value: float | None, unit: Unit, text: str) -> None:
    assert number_text(value, unit) == text


def test_symbol_follows_the_number() -> None:
    assert quantity_text(9.21e9, Unit.RATE) == f"9.21{NARROW_SPACE}Gb/s"
    assert quantity_text(0.991, Unit.INDEX) == "0.991"
    assert quantity_text(None, Unit.RATE) == NO_VALUE


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [(2, "2 ns"), (999, "999 ns"), (71_000, "71 µs"), (3_405_000, "3.4 ms"), (20e9, "20 s")],
)
def test_duration_takes_the_unit_of_its_size(duration_ns: float, text: str) -> None:
    assert duration_text(duration_ns) == text.replace(" ", NARROW_SPACE)


@pytest.mark.parametrize(
    ("size_bytes", "text"), [(0, "0 B"), (64, "64 B"), (1000, "1 KB"), (4.2e6, "4.2 MB"), (3e9, "3 GB")]
)
def test_size_counts_powers_of_1000(size_bytes: float, text: str) -> None:
    assert size_text(size_bytes) == text.replace(" ", NARROW_SPACE)


def test_readable_scales_times_and_sizes_only() -> None:
    assert readable(3_400_000, Unit.TIME) == duration_text(3_400_000)
    assert readable(4_200_000, Unit.BYTES) == size_text(4_200_000)
    assert readable(0.5, Unit.PERCENT) == quantity_text(0.5, Unit.PERCENT)
    assert readable(math.nan, Unit.TIME) == NO_VALUE


def test_words() -> None:
    assert [counted(n, "run") for n in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]
    assert joined([]) == ""
    assert joined(["a"]) == "a"
    assert joined(["RoGUE (a=1, b=2)", "IRN", "TCP"]) == "RoGUE (a=1, b=2); IRN; and TCP"
    assert joined(["a", "b"]) == "a and b"
    assert joined(["a", "b", "c"]) == "a, b and c"


@pytest.mark.parametrize(
    ("rate_bps", "text"), [(45.83e6, "45.8 Mb/s"), (9.2e4, "0.092 Mb/s"), (1e8, "0.10 Gb/s"), (0.0, "0 Gb/s")]
)
def test_slow_rates_have_a_smaller_unit_in_sentences(rate_bps: float, text: str) -> None:
    assert quantity_text(rate_bps, Unit.RATE).replace(NARROW_SPACE, " ") == text


@pytest.mark.parametrize(
    ("values", "unit", "symbol"),
    [
        ((71_049, 7_204_000), Unit.TIME, "µs"),
        ((7_204_000, 20e9), Unit.TIME, "ms"),
        ((900, 2e9), Unit.TIME, "ms"),
        ((3.0, 5e12), Unit.TIME, "s"),
        ((45.8e6, 9.2e9), Unit.RATE, "Mb/s"),
        ((2e9, 9e9), Unit.RATE, "Gb/s"),
        ((1e3, 400e9), Unit.RATE, "Gb/s"),
        ((0, None, math.inf, 2e6), Unit.BYTES, "MB"),
        ((0, math.nan), Unit.BYTES, "KB"),
        ((0.1, 0.5), Unit.PERCENT, "%"),
    ],
)
def test_values_of_a_row_have_one_unit(values: tuple[float | None, ...], unit: Unit, symbol: str) -> None:
    scale = common_scale(values, unit)
    assert scale.symbol == symbol
    assert quantity_text(values[-1], unit, scale) in {
        NO_VALUE, f"{number_text(values[-1], unit, scale)}{NARROW_SPACE}{symbol}",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("100 % of a_b & c#1", r"100 \% of a\_b \& c\#1"),
        ("\\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("$x^2$ ~", r"\$x\textasciicircum{}2\$ \textasciitilde{}"),
        ("5\u202fµs ≤ 3 ×", r"5\,\ensuremath{\mu}s \ensuremath{\le} 3 \ensuremath{\times}"),
        ("“agent’s”", r"\textquotedblleft{}agent\textquoteright{}s\textquotedblright{}"),
        ("Müller, Åsa, Łukasz, 北", "M\\\"{u}ller, \\r{A}sa, ?ukasz, ?"),
        ("a\tb\x07", "a b "),
        ("½", "1/2"),
    ],
)  # fmt: skip
def test_latex_escapes(text: str, latex: str) -> None:
    assert latex_text(text) == latex
    assert latex.isascii()


def test_report_needs_a_run() -> None:
    with pytest.raises(ReportError, match=r"No run directory was given; give at least one, .*\.$"):
        build([])


def test_several_unreadable_runs_are_all_named(tmp_path: Path) -> None:
    with pytest.raises(ReportError) as caught:
        build([tmp_path / "a", tmp_path / "b"])
    assert str(tmp_path / "a" / "manifest.json") in str(caught.value)
    assert str(tmp_path / "b" / "manifest.json") in str(caught.value)
