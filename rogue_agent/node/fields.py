"""Errors of the control protocol, rules for message fields, and dataclasses read from decoded JSON."""

import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, dataclass, fields
from enum import Enum, unique
from typing import Any, TypeVar

_SHOWN_CHARACTERS = 60
_NAMES_SHOWN = 4
_PARAMETER_LENGTH_MAX = 200


@unique
class ErrorKind(Enum):
    """Cause of an error reply."""

    PROTOCOL = "protocol"  # the other side sent no valid message, or sent it at the wrong time
    CONFIGURATION = "configuration"  # the experiment requests something that does not exist
    VERBS = "verbs"  # the node or its NIC cannot do it
    OUT_OF_SPACE = "out_of_space"  # the node's disk, or its memory for files, is full
    TIMEOUT = "timeout"  # a data process did not reply in time
    BUG = "bug"  # the agent failed unexpectedly


class MessageError(ValueError):
    """Bytes that are not a message; the text says what is wrong and what was expected."""


class AgentError(RuntimeError):
    """The agent replied with an error, or stopped replying."""

    def __init__(self, kind: ErrorKind, message: str, role: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.role = role


@dataclass(frozen=True)
class Rule:
    """Values that a field accepts: a phrase for error messages, a predicate, a reader of nested records."""

    expected: str
    allows: Callable[[Any], bool]
    convert: Callable[[Any, str], object] = lambda value, _place: value

    def read(self, value: object, place: str) -> object:
        """Return the field's value; raise MessageError if the rule does not allow it at `place`."""
        if not self.allows(value):
            raise MessageError(f"{place}: got {shown(value)}, expected {self.expected}")
        return self.convert(value, place)


def shown(value: object) -> str:
    """Format a value for an error message, truncated."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def integer(minimum: int, maximum: int) -> Rule:
    """Accept a whole number within limits; JSON's true and false are not numbers."""
    return Rule(
        f"an integer from {minimum} to {maximum}",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= maximum,
    )


FLAG = Rule("true or false", lambda value: isinstance(value, bool))


def matching(pattern: str, length_max: int) -> Rule:
    """Accept text that matches a pattern as a whole."""
    return Rule(
        f"text like {pattern} of at most {length_max} characters",
        lambda value: (
            isinstance(value, str)
            and len(value) <= length_max
            and re.fullmatch(pattern, value, re.DOTALL) is not None
        ),
    )


def optional(rule: Rule) -> Rule:
    """Accept null, or what another rule accepts."""
    return Rule(f"{rule.expected}, or null", lambda value: value is None or rule.allows(value))


def parameters(entries_max: int) -> Rule:
    """Accept an object of named plain values: numbers, text, true, false, null."""
    name = matching("[a-z][a-z0-9_]*", 64)

    def is_plain(value: object) -> bool:
        if isinstance(value, str):
            return len(value) <= _PARAMETER_LENGTH_MAX
        return value is None or isinstance(value, bool | int | float)

    return Rule(
        f"an object of at most {entries_max} names with plain values",
        lambda value: (
            isinstance(value, dict)
            and len(value) <= entries_max
            and all(name.allows(key) and is_plain(each) for key, each in value.items())
        ),
    )


def many(rule: Rule, count_max: int, count_min: int = 0, *, are_distinct: bool = False) -> Rule:
    """Accept a list of values that another rule accepts."""
    distinct = ", all different" if are_distinct else ""
    return Rule(
        f"a list of {count_min} to {count_max} times {rule.expected}{distinct}",
        lambda value: (
            isinstance(value, list)
            and count_min <= len(value) <= count_max
            and all(map(rule.allows, value))
            and not (are_distinct and any(each in value[:place] for place, each in enumerate(value)))
        ),
    )


def nested(record_class: type[Any]) -> Rule:
    """Accept an object with the fields of another record, and read it as that record."""
    return Rule(
        f"an object with the fields of {record_class.__name__}",
        lambda value: isinstance(value, dict),
        lambda value, place: from_values(record_class, value, place),
    )


def nested_by_name(record_class: type[Any]) -> Rule:
    """Accept an object of objects, and read each as a record."""
    return Rule(
        f"an object with a {record_class.__name__} under each name",
        lambda value: isinstance(value, dict) and all(isinstance(each, dict) for each in value.values()),
        lambda value, place: {
            name: from_values(record_class, each, f"{place}.{name}") for name, each in value.items()
        },
    )


RecordT = TypeVar("RecordT")


def rules_of(record_class: type[Any]) -> dict[str, tuple[Rule, Field[object]]]:
    """Return the rule and the dataclass field of each field."""
    return {each.name: (each.metadata["rule"], each) for each in fields(record_class)}


def from_values(record_class: type[RecordT], values: dict[str, object], place: str) -> RecordT:
    """Build a record from named values, and check each against its field's rule."""
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
