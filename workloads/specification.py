"""The base class of all parts of an experiment file, and the types of its values."""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Annotated, Final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from rogue.workloads.printable import did_you_mean
from rogue.workloads.units import QUANTITY_OF_SUFFIX, RATE, SIZE, TIME, Quantity, UnitError


def meanings(kind: type[BaseModel]) -> dict[str, str]:
    """Return the docstring below each field of a model and of its bases, by the field's name.

    Pydantic would read them when it makes each model (`use_attribute_docstrings`): a third of a command's
    start-up time.
    """
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if issubclass(each, BaseModel) and each is not BaseModel:
            found |= _below_fields(each)
    return found


@cache
def _below_fields(kind: type[BaseModel]) -> Mapping[str, str]:
    """Return those of this class only; many classes share a base."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(definition, ast.ClassDef)
    return {
        field.target.id: inspect.cleandoc(below.value.value)
        for field, below in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(below.value.value, str)
    }


MISTAKE: Final = "mistake"


def mistake(expected: str, advice: str, got: str | None = None) -> PydanticCustomError:
    """Return a mistake: what was expected and what to do; `got` replaces the value in the message."""
    context = {"expected": expected, "advice": advice, "got": got}
    return PydanticCustomError(MISTAKE, "expected {expected}; {advice}", context)


def mistakes_at(found: Mapping[str, PydanticCustomError]) -> ValidationError:
    """Return mistakes at keys of the mapping under validation."""
    details = [InitErrorDetails(type=each, loc=(key,), input=None) for key, each in found.items()]
    return ValidationError.from_exception_data("mistakes", details)


def _name_in_file(field_name: str) -> str:
    """Return the name of a field in the experiment file: without the unit."""
    for suffix in QUANTITY_OF_SUFFIX:
        if field_name.endswith(suffix):
            return field_name.removesuffix(suffix)
    return field_name


class Specification(BaseModel):
    """Part of an experiment: immutable, and without unknown keys."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        allow_inf_nan=False,
        alias_generator=_name_in_file,
        validate_by_name=False,
        defer_build=True,  # most kinds of a registry are never used
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, value: object) -> object:
        """List the known keys, and suggest the closest one."""
        if not isinstance(value, dict):
            return value
        known = [field.alias or name for name, field in cls.model_fields.items()]
        unknown = [key for key in value if key not in known]
        if unknown:
            expected = f"one of the keys {', '.join(known)}"
            raise mistakes_at(
                {
                    key: mistake(expected, did_you_mean(key, known, "remove it"), "an unknown key")
                    for key in unknown
                }
            )
        return value


@dataclass(frozen=True, eq=False, slots=True)
class _Between:
    """Reads a quantity, and refuses values outside a plausible range."""

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
"""Annotation of a tuple that is a list in the file; experiments are hashed."""

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
