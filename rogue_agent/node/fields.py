"""Rules for message fields, and dataclasses read from decoded JSON."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, TypeVar

from rogue.agent.node.errors import MessageError

_SHOWN_CHARACTERS = 60


class Rule(ABC):
    """Decides whether a decoded JSON value may stand in a field."""

    @property
    @abstractmethod
    def expected(self) -> str:
        """What the field takes, for error messages."""

    @abstractmethod
    def allows(self, value: object) -> bool:
        """Whether this value may stand there."""

    def check(self, value: object, place: str) -> None:
        """Raise MessageError unless the value may stand at `place`."""
        if not self.allows(value):
            raise MessageError(f"{place}: got {shown(value)}, expected {self.expected}")

    def read(self, value: object, place: str) -> object:
        """Return what the field holds; raises MessageError unless the value may stand at `place`."""
        self.check(value, place)
        return value


def shown(value: object) -> str:
    """Write a value for an error message, cut short."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


@dataclass(frozen=True)
class Integer(Rule):
    """A whole number within limits; JSON's true and false are none."""

    minimum: int
    maximum: int

    @property
    def expected(self) -> str:
        """The range."""
        return f"an integer from {self.minimum} to {self.maximum}"

    def allows(self, value: object) -> bool:
        """Whether it is an integer in the range."""
        return (
            isinstance(value, int) and not isinstance(value, bool) and self.minimum <= value <= self.maximum
        )


@dataclass(frozen=True)
class Flag(Rule):
    """True or false."""

    @property
    def expected(self) -> str:
        """The two values."""
        return "true or false"

    def allows(self, value: object) -> bool:
        """Whether it is one of them."""
        return isinstance(value, bool)


@dataclass(frozen=True)
class Text(Rule):
    """Text that matches a pattern as a whole."""

    pattern: str
    length_max: int

    @property
    def expected(self) -> str:
        """The pattern and the length."""
        return f"text like {self.pattern} of at most {self.length_max} characters"

    def allows(self, value: object) -> bool:
        """Whether it is such a text."""
        return (
            isinstance(value, str)
            and len(value) <= self.length_max
            and re.fullmatch(self.pattern, value, re.DOTALL) is not None
        )


@dataclass(frozen=True)
class Optional(Rule):
    """Another rule, or null."""

    rule: Rule

    @property
    def expected(self) -> str:
        """What the other rule takes, or null."""
        return f"{self.rule.expected}, or null"

    def allows(self, value: object) -> bool:
        """Whether it is null or allowed."""
        return value is None or self.rule.allows(value)


@dataclass(frozen=True)
class Parameters(Rule):
    """An object of named plain values: numbers, text, true, false, null."""

    entries_max: int
    name: Text = Text("[a-z][a-z0-9_]*", 64)
    length_max: int = 200

    @property
    def expected(self) -> str:
        """The kind of object."""
        return f"an object of at most {self.entries_max} names with plain values"

    def allows(self, value: object) -> bool:
        """Whether it is such an object."""
        return (
            isinstance(value, dict)
            and len(value) <= self.entries_max
            and all(self.name.allows(key) and self._is_plain(each) for key, each in value.items())
        )

    def _is_plain(self, value: object) -> bool:
        if isinstance(value, str):
            return len(value) <= self.length_max
        return value is None or isinstance(value, bool | int | float)


@dataclass(frozen=True)
class Many(Rule):
    """A list of values that another rule allows."""

    rule: Rule
    count_max: int
    count_min: int = 0
    are_distinct: bool = False

    @property
    def expected(self) -> str:
        """The kind of list."""
        distinct = ", all different" if self.are_distinct else ""
        return f"a list of {self.count_min} to {self.count_max} times {self.rule.expected}{distinct}"

    def allows(self, value: object) -> bool:
        """Whether it is such a list."""
        return (
            isinstance(value, list)
            and self.count_min <= len(value) <= self.count_max
            and all(map(self.rule.allows, value))
            and not (self.are_distinct and any(each in value[:place] for place, each in enumerate(value)))
        )


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
