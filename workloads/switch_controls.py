"""Parts of switches from plug-ins, and their keys in an experiment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_serializer, model_validator
from pydantic.config import JsonDict

from rogue.workloads.printable import did_you_mean
from rogue.workloads.specification import Specification, mistake, mistakes_at
from rogue.workloads.units import QUANTITY_OF_SUFFIX, UnitError

Scalar = str | int | float | bool
NONE: Final = "none"
CONTROLS_MAX: Final = 2
ADVICE: Final = "name the plug-in that brings it under plugins, or with --plugin"


@dataclass(frozen=True, slots=True)
class SwitchControlParameter:
    """A number that an experiment may set; the unit is the end of its name."""

    name: str
    value: float
    minimum: float
    maximum: float
    meaning: str

    @property
    def key(self) -> str:
        """Return its key in experiments: without the unit, which is part of the value."""
        return self.name.removesuffix(self._suffix)

    @property
    def unit(self) -> str:
        """Return the unit as written behind a number; empty if there is none."""
        return self._suffix.replace("_", "").replace("bytes", "B")

    def read(self, value: Scalar) -> float:
        """Return the number that is written; UnitError if it cannot be."""
        if self._suffix:
            number = float(QUANTITY_OF_SUFFIX[self._suffix].parse(value))
        elif isinstance(value, bool | str):
            raise UnitError("a number", "write it without quotes and without a unit")
        else:
            number = float(value)
        if not self.minimum <= number <= self.maximum:
            ends = f"from {self.minimum:.15g}{self.unit} to {self.maximum:.15g}{self.unit}"
            raise UnitError(ends, "correct the value")
        return number

    @property
    def _suffix(self) -> str:
        return next((suffix for suffix in QUANTITY_OF_SUFFIX if self.name.endswith(suffix)), "")


@dataclass(frozen=True, slots=True)
class SwitchControlEntry:
    """The properties of a part that an experiment file depends on."""

    meaning: str
    is_aqm: bool
    """It marks, drops or trims packets at ports, instead of the marking of a transport."""
    selects_ports: bool
    """It selects one of several equal ports for each packet."""
    trims: bool
    """It may cut payloads off."""
    parameters: tuple[SwitchControlParameter, ...] = ()


SWITCH_CONTROLS: Final[dict[str, SwitchControlEntry]] = {}
"""Parts by name; plug-ins add to it."""


def _schema(schema: JsonDict) -> None:
    """Replace the JSON Schema by that of the written form: a name, or a mapping with parameters."""
    mapping: JsonDict = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": True,
    }
    schema.clear()
    schema["anyOf"] = [{"type": "string"}, mapping]


class SwitchControlChoice(Specification):
    """A part of switches, with its parameters that differ from the defaults."""

    model_config = ConfigDict(json_schema_extra=_schema)

    name: str
    """Name of the part."""
    parameters: tuple[tuple[str, Scalar], ...] = ()
    """Its parameters, as written."""

    @model_validator(mode="before")
    @classmethod
    def _fold(cls, value: object) -> object:
        """Accept a bare name, and a mapping with parameters beside the name."""
        if isinstance(value, str):
            return {"name": value}
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            raise mistake("the name of a switch control, or a mapping with its name", "write {name: codel}")
        rest = tuple((str(key), item) for key, item in value.items() if key != "name")
        wrong = {key: mistake("one word or number", "write a single value") for key, item in rest
                 if not isinstance(item, Scalar)}  # fmt: skip
        if wrong:
            raise mistakes_at(wrong)
        return {"name": value["name"], "parameters": rest}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.name not in SWITCH_CONTROLS:
            known = f"one of {', '.join(SWITCH_CONTROLS)}" if SWITCH_CONTROLS else "one of a plug-in's"
            advice = did_you_mean(self.name, SWITCH_CONTROLS, ADVICE)
            raise mistakes_at({"name": mistake(known, advice, f"the switch control {self.name}")})
        self.values  # noqa: B018 - each of them is read
        return self

    @model_serializer
    def _as_written(self) -> dict[str, Scalar]:
        return {"name": self.name, **dict(self.parameters)}

    @property
    def entry(self) -> SwitchControlEntry:
        """Return its registry entry."""
        return SWITCH_CONTROLS[self.name]

    @property
    def values(self) -> dict[str, float]:
        """Return the parameters by their full names, in base units."""
        known = {each.key: each for each in self.entry.parameters}
        for key, _ in self.parameters:
            if key not in known:
                expected = f"one of the parameters {', '.join(known)}" if known else "no parameter"
                found = mistake(
                    f"{expected} of {self.name}", did_you_mean(key, known, "remove it"), "another key"
                )
                raise mistakes_at({key: found})
        return {known[key].name: _read(known[key], value) for key, value in self.parameters}


def _read(parameter: SwitchControlParameter, value: Scalar) -> float:
    try:
        return parameter.read(value)
    except UnitError as error:
        found = mistake(error.expected, error.advice, repr(value))
        raise mistakes_at({parameter.key: found}) from error


def _listed(value: object) -> object:
    """Accept a single part without a list, so that it can be a factor, and `none`."""
    if value == NONE:
        return ()
    if isinstance(value, str | dict):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


SwitchControls = Annotated[
    tuple[SwitchControlChoice, ...], BeforeValidator(_listed), Field(max_length=CONTROLS_MAX)
]


def contradiction_of(choices: Sequence[SwitchControlChoice]) -> str | None:
    """Return why these cannot be in one switch; None if they can."""
    for what, does in (("mark or drop packets", "is_aqm"), ("choose among ports", "selects_ports")):
        names = [choice.name for choice in choices if getattr(choice.entry, does)]
        if len(names) > 1:
            return f"at most one of those that {what}: {' or '.join(names)}"
    return None
