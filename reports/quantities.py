"""Write numbers for people: with a unit, and with no more digits than are significant."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

NARROW_SPACE = "\u202f"
NO_VALUE = "\u2013"
NEVER = "none"
"""The text of an infinite value, such as the time of a lost probe."""
SLOW_BPS = 1e8
"""Below this rate sentences use Mb/s."""
DECIMALS_MAX = 3
DIGITS_MAX = 1e5
"""A number of this size has six digits, so the next larger unit is used."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit for display: its symbol, and the number of base units in one."""

    symbol: str
    base_units: float
    decimals: int | None = None


class Unit(Enum):
    """The units of the report. Tables are stored in base units (bit/s, ns, bytes, fractions)."""

    RATE = Scale("Gb/s", 1e9)
    TIME = Scale("µs", 1e3)
    BYTES = Scale("KB", 1e3)
    PERCENT = Scale("%", 0.01, decimals=1)
    INDEX = Scale("", 1.0, decimals=3)
    COUNT = Scale("", 1.0)
    RATIO = Scale("", 1.0, decimals=2)

    @property
    def symbol(self) -> str:
        """Return the symbol for a table's head, empty for pure numbers."""
        return self.value.symbol


MULTIPLES: dict[Unit, tuple[Scale, ...]] = {
    Unit.RATE: (Scale("Mb/s", 1e6), Unit.RATE.value),
    Unit.TIME: (Scale("ns", 1.0), Unit.TIME.value, Scale("ms", 1e6), Scale("s", 1e9)),
    Unit.BYTES: (Scale("B", 1.0), Unit.BYTES.value, Scale("MB", 1e6), Scale("GB", 1e9)),
}
"""Units of quantities that have several, from small to large."""


def number_text(value: float | None, unit: Unit, scale: Scale | None = None) -> str:
    """Write a quantity in base units without its symbol; a dash where nothing was measured.

    `scale` replaces the usual unit, such as in a column of numbers.
    """
    if value is None or not math.isfinite(value):
        return _not_a_number(value)
    scale = scale or unit.value
    scaled = value / scale.base_units
    decimals = scale.decimals
    if unit is Unit.COUNT:
        decimals = 0 if scaled.is_integer() or scaled >= 100 else 1
    elif decimals is None:
        decimals = _decimals_for_three_digits(scaled)
    text = f"{scaled:,.{decimals}f}"
    if float(text.replace(",", "")) == 0:
        return "0"
    return text.replace(",", NARROW_SPACE).replace("-", "\u2212")


def quantity_text(value: float | None, unit: Unit, scale: Scale | None = None) -> str:
    """Write a quantity in base units with its symbol: `9.21 Gb/s`, `45.8 Mb/s`."""
    scale = scale or usual_scale(value, unit)
    text = number_text(value, unit, scale)
    return f"{text}{NARROW_SPACE}{scale.symbol}" if scale.symbol and text not in {NO_VALUE, NEVER} else text


def usual_scale(value: float | None, unit: Unit) -> Scale:
    """Return the unit of a quantity in a sentence."""
    is_slow = unit is Unit.RATE and value is not None and 0 < abs(value) < SLOW_BPS
    return MULTIPLES[unit][0] if is_slow else unit.value


def common_scale(values: Iterable[float | None], unit: Unit) -> Scale:
    """Return the unit for the least of several values, or a larger one if the largest needs it."""
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    multiples = MULTIPLES.get(unit, ())
    if not sizes or not multiples:
        return unit.value
    fitting = [scale for scale in multiples if scale.base_units <= min(sizes)]
    short = [scale for scale in multiples if max(sizes) < DIGITS_MAX * scale.base_units]
    return max(fitting[-1:] + short[:1], key=lambda scale: scale.base_units, default=multiples[-1])


def readable(value: float | None, unit: Unit) -> str:
    """Write a quantity for a sentence, in the multiple of its unit that suits its size."""
    if value is None or not math.isfinite(value):
        return _not_a_number(value)
    if unit is Unit.TIME:
        return duration_text(value)
    return size_text(value) if unit is Unit.BYTES else quantity_text(value, unit)


def duration_text(duration_ns: float) -> str:
    """Write a time in the unit that suits its size: `71 µs`, `7.2 ms`, `20 s`."""
    for symbol, size_ns in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if duration_ns >= size_ns:
            return f"{duration_ns / size_ns:.3g}{NARROW_SPACE}{symbol}"
    return f"{duration_ns:.3g}{NARROW_SPACE}ns"


def size_text(size_bytes: float) -> str:
    """Write a number of bytes in the unit that suits its size (1 KB = 1000 B): `90 KB`, `4.5 MB`."""
    for symbol, unit_bytes in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size_bytes >= unit_bytes:
            return f"{size_bytes / unit_bytes:.3g}{NARROW_SPACE}{symbol}"
    return f"{size_bytes:.3g}{NARROW_SPACE}B"


def counted(count: int, noun: str) -> str:
    """Write a number of things: `1 run`, `3 runs`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def joined(words: list[str]) -> str:
    """Write a list as a sentence does: `a, b and c`; three with semicolons if a word has a comma."""
    if len(words) < 3:
        return " and ".join(words)
    comma, last = ("; ", "; and ") if any(", " in word for word in words) else (", ", " and ")
    return last.join([comma.join(words[:-1]), words[-1]])


SEEDS_MAX = 5
"""More seeds are counted instead of listed."""


def seeds_text(seeds: Iterable[int | None]) -> str:
    """Write seeds: `seed 7`, `seeds 1 to 5`, `seeds 1, 5 and 9`, `8 seeds`, `seeds not recorded`."""
    known = sorted({seed for seed in seeds if seed is not None})
    if len(known) < 2:
        return f"seed {known[0]}" if known else "seeds not recorded"
    if len(known) > 2 and known[-1] - known[0] + 1 == len(known):
        return f"seeds {known[0]} to {known[-1]}"
    return f"seeds {joined(list(map(str, known)))}" if len(known) <= SEEDS_MAX else f"{len(known)} seeds"


def _not_a_number(value: float | None) -> str:
    """Write a value that was not measured, or is infinite."""
    return NEVER if value == math.inf else NO_VALUE


def _decimals_for_three_digits(scaled: float) -> int:
    magnitude = abs(scaled)
    if magnitude >= 100 or magnitude == 0:
        return 0
    if magnitude >= 0.1:
        return 1 if magnitude >= 10 else 2
    return min(DECIMALS_MAX, 2 - math.floor(math.log10(magnitude)))
