"""The base of everything that can be written in an experiment file, and the types of its values.

A field is named with its unit (``rate_bps``); in the file it is written without (``rate: 10Gbps``).
"""

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from rogue.workloads.mistakes import mistake, mistakes_at
from rogue.workloads.spelling import meant
from rogue.workloads.units import QUANTITY_OF_SUFFIX, RATE, SIZE, TIME, Quantity, UnitError


def _name_in_file(field_name: str) -> str:
    """Name of a field in the experiment file: without the unit."""
    for suffix in QUANTITY_OF_SUFFIX:
        if field_name.endswith(suffix):
            return field_name.removesuffix(suffix)
    return field_name


class Specification(BaseModel):
    """Part of an experiment: immutable, complete, and nothing in it that it does not know."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        allow_inf_nan=False,
        alias_generator=_name_in_file,
        validate_by_name=False,
        defer_build=True,  # most kinds of a registry are never asked for
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, value: object) -> object:
        """Say which keys there are, and which one may have been meant."""
        if not isinstance(value, dict):
            return value
        known = [field.alias or name for name, field in cls.model_fields.items()]
        unknown = [key for key in value if key not in known]
        if unknown:
            expected = f"one of the keys {', '.join(known)}"
            raise mistakes_at(
                {key: mistake(expected, meant(key, known, "remove it"), "an unknown key") for key in unknown}
            )
        return value


@dataclass(frozen=True, eq=False, slots=True)
class _Between:
    """Reads a quantity and holds it within what any testbed could mean."""

    quantity: Quantity
    minimum: int
    maximum: int

    def __call__(self, value: object) -> int:
        amount = self.quantity.parse(value)
        if not self.minimum <= amount <= self.maximum:
            ends = f"from {self.quantity.format(self.minimum)} to {self.quantity.format(self.maximum)}"
            raise UnitError(f"{self.quantity.expected}, {ends}", "choose one in between")
        return amount


def _json_schema(quantity: Quantity) -> WithJsonSchema:
    units = "|".join(quantity.units)
    return WithJsonSchema(
        {
            "type": "string",
            "pattern": rf"^[0-9]+(\.[0-9]+)? ?({units})$",
            "examples": [quantity.example],
        }
    )


_SIZES: Final = _Between(SIZE, 1, 10 * 10**12)
_RATES: Final = _Between(RATE, 1, 10 * 10**12)
_TIMES: Final = _Between(TIME, 1, 10**6 * 10**9)
_DELAYS: Final = _Between(TIME, 0, 10 * 10**9)

Size = Annotated[int, BeforeValidator(_SIZES), _json_schema(SIZE)]
Rate = Annotated[int, BeforeValidator(_RATES), _json_schema(RATE)]
Time = Annotated[int, BeforeValidator(_TIMES), _json_schema(TIME)]
Delay = Annotated[int, BeforeValidator(_DELAYS), _json_schema(TIME)]

UNBOUNDED: Final = "unbounded"


def _size_or_unbounded(value: object) -> int | None:
    return None if value == UNBOUNDED else _SIZES(value)


SizeOrUnbounded = Annotated[
    int | None,
    BeforeValidator(_size_or_unbounded),
    WithJsonSchema({"type": "string", "examples": ["9MB", UNBOUNDED]}),
]


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


FromList: Final = BeforeValidator(_as_tuple)
"""Of a field that is a tuple, because experiments are hashed, and a list in the file."""

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
