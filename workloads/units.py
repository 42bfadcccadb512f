"""Convert written sizes, rates and times to exact integers and back.

1 KB = 1000 bytes, 1 KiB = 1024 bytes; ``bps`` are bits per second.  A number without a unit is an error.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

_NUMBER: Final = re.compile(r"([+-]?)([0-9]{1,30}(?:\.[0-9]{1,30})?)[ ]?([A-Za-zµ]*)")
_LARGEST: Final = 2**63 - 1


class UnitError(ValueError):
    """A quantity is invalid; the text has the accepted forms."""

    def __init__(self, expected: str, advice: str) -> None:
        super().__init__(f"expected {expected}; {advice}")
        self.expected = expected
        self.advice = advice


@dataclass(frozen=True, slots=True)
class Quantity:
    """One kind of quantity: its base unit counts 1, every other unit a whole multiple of it."""

    name: str
    units: Mapping[str, int]
    example: str

    @property
    def expected(self) -> str:
        """Return the expected form, for error messages."""
        return f"a {self.name} with a unit, such as {self.example}"

    def parse(self, value: object) -> int:
        """Return the value in the base unit; exact, never rounded."""
        if not isinstance(value, str):
            raise UnitError(self.expected, f"put one of the units {self._unit_list()} behind the number")
        match = _NUMBER.fullmatch(value.strip())
        if match is None:
            raise UnitError(self.expected, f"write one number and one of the units {self._unit_list()}")
        sign, number, unit = match.groups()
        scale = self._scale(unit)
        amount = Decimal(number) * scale
        if sign == "-" and amount != 0:
            raise UnitError(f"{self.expected}, not below zero", "remove the minus sign")
        if amount != amount.to_integral_value():
            raise UnitError(f"a whole number of {self._base_unit()}", "use a finer unit or round the number")
        if amount > _LARGEST:
            raise UnitError(f"a {self.name} below 2^63 {self._base_unit()}", "use a smaller number")
        return int(amount)

    def format(self, amount: int) -> str:
        """Return the shortest text of the amount that ``parse`` reads back."""
        written = [f"{amount // scale}{unit}" for unit, scale in self.units.items() if amount % scale == 0]
        return min(written, key=len)

    def _scale(self, unit: str) -> int:
        if unit in self.units:
            return self.units[unit]
        if not unit:
            raise UnitError(self.expected, f"put one of the units {self._unit_list()} behind the number")
        same = [known for known in self.units if known.lower() == unit.lower()]
        if same:
            raise UnitError(self.expected, f"write the unit as {same[0]}")
        raise UnitError(self.expected, f"the units are {self._unit_list()}")

    def _base_unit(self) -> str:
        return next(unit for unit, scale in self.units.items() if scale == 1)

    def _unit_list(self) -> str:
        *most, last = self.units
        return f"{', '.join(most)} and {last}"


SIZE: Final = Quantity(
    "size",
    {
        "B": 1,
        "KB": 10**3,
        "MB": 10**6,
        "GB": 10**9,
        "TB": 10**12,
        "KiB": 2**10,
        "MiB": 2**20,
        "GiB": 2**30,
        "TiB": 2**40,
    },
    "128MB",
)
RATE: Final = Quantity(
    "rate", {"bps": 1, "Kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}, "10Gbps"
)
TIME: Final = Quantity("time", {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}, "50us")

QUANTITY_OF_SUFFIX: Final[dict[str, Quantity]] = {"_bytes": SIZE, "_bps": RATE, "_ns": TIME}
