"""Dataclasses whose fields carry rules, read out of decoded JSON."""

from collections.abc import Iterable
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, TypeVar

from rogue.agent.node.errors import MessageError
from rogue.agent.node.fields import Rule, shown

_NAMES_SHOWN = 4
RecordT = TypeVar("RecordT")


def rules_of(record_class: type[Any]) -> dict[str, tuple[Rule, Field[object]]]:
    """Rule and dataclass field of each field."""
    return {each.name: (each.metadata["rule"], each) for each in fields(record_class)}


def from_values(record_class: type[RecordT], values: dict[str, object], place: str) -> RecordT:
    """Make a record of named values; every one is checked against its field's rule."""
    rules = rules_of(record_class)
    _refuse("unknown", place, set(values) - set(rules))
    required = {name for name, (_, each) in rules.items() if each.default is each.default_factory is MISSING}
    _refuse("missing", place, required - set(values))
    return record_class(
        **{name: rules[name][0].read(value, f"{place}.{name}") for name, value in values.items()}
    )


def _refuse(what: str, place: str, names: Iterable[str]) -> None:
    if names:
        listing = ", ".join(shown(name) for name in sorted(names)[:_NAMES_SHOWN])
        raise MessageError(f"{place}: {what} fields {listing}")


@dataclass(frozen=True)
class NestedByName(Rule):
    """Records of one kind by their names."""

    record_class: type[Any]

    @property
    def expected(self) -> str:
        """What kind of object."""
        return f"an object with a {self.record_class.__name__} under each name"

    def allows(self, value: object) -> bool:
        """Whether it is an object of objects; `read` looks at their fields."""
        return isinstance(value, dict) and all(isinstance(each, dict) for each in value.values())

    def read(self, value: object, place: str) -> object:
        """Return the records."""
        self.check(value, place)
        assert isinstance(value, dict), value
        return {name: from_values(self.record_class, each, f"{place}.{name}") for name, each in value.items()}


@dataclass(frozen=True)
class Nested(Rule):
    """Another record, as an object of its fields."""

    record_class: type[Any]

    @property
    def expected(self) -> str:
        """What kind of object."""
        return f"an object with the fields of {self.record_class.__name__}"

    def allows(self, value: object) -> bool:
        """Whether it is an object; `read` looks at its fields."""
        return isinstance(value, dict)

    def read(self, value: object, place: str) -> object:
        """Return the record."""
        self.check(value, place)
        assert isinstance(value, dict), value
        return from_values(self.record_class, value, place)
