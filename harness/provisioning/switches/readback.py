"""Read marks, pauses, rates and MTUs of a hardware switch from its configuration.

Each answer is a number, nothing (the queue does not mark or pause), or that it could not be read. A row of a
platform's TextFSM template sets columns of a port (`PORT`; without it, of all ports) or of a named profile
(`IN_<kind>`), which ports and queues refer to with `USES_<kind>`. Expressions over the columns give the
numbers.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import textfsm

from rogue.harness.provisioning.switches.change import Configuration
from rogue.harness.provisioning.switches.platform_data import Expression, NumbersData
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables, Marking, PrioritySettings

_PRIORITIES: Final = range(8)
_NAMES: Final = ("PORT", "QUEUE", "USES_", "IN_")
_RANGE: Final = re.compile(r"([0-7])(?:-([0-7]))?")
_NUMBER: Final = re.compile(r"-?\d+")


class NotKnownError(Exception):
    """Marks and pauses of a port have no numbers in the configuration; the message names the lines."""


class Row(NamedTuple):
    """The columns filled from a line of the configuration."""

    line: str
    columns: Mapping[str, Any]
    profile: tuple[str, str] | None
    """Kind and name of the profile that the line belongs to."""

    @property
    def ports(self) -> tuple[str, ...]:
        """Return the interfaces of the line; empty for all."""
        return tuple(self.columns["PORT"].split(",")) if "PORT" in self.columns else ()

    def queues(self) -> range:
        """Return the queues of the line; NotKnownError if they are no number or range."""
        if "QUEUE" not in self.columns:
            return range(0)
        if (found := _RANGE.fullmatch(self.columns["QUEUE"])) is None:
            raise NotKnownError(self.line)
        return range(int(found[1]), int(found[2] or found[1]) + 1)


@dataclass(frozen=True, slots=True)
class PortState:
    """An egress port."""

    priorities: Mapping[int, PrioritySettings] | None = None
    """Marks and pauses without DSCPs; a priority that is left out does nothing."""
    rate_bps: int | None = None
    mtu_bytes: int | None = None
    """Largest IP packet."""
    not_known: Mapping[int, str] = field(default_factory=dict)
    """Lines without readable numbers, by priority; cells that use the priority are refused."""

    def of_priority(self, number: int) -> PrioritySettings | None:
        """Return marks and pauses of a priority; None if they are not known."""
        if self.priorities is None or number in self.not_known:
            return None
        return self.priorities.get(number, PrioritySettings())


@dataclass(frozen=True, slots=True)
class SwitchState:
    """What was read from one switch."""

    ports: Mapping[str, PortState] = field(default_factory=dict)
    """By interface."""
    buffer_bytes: int | None = None
    configuration: Configuration = field(default_factory=dict)
    """All lines that the numbers were read from."""

    def port(self, interface: str) -> PortState:
        """Return a port; one without numbers if it was not read."""
        return self.ports.get(interface, PortState())


def read_state(
    numbers: NumbersData,
    table: textfsm.TextFSM,
    found: Configuration,
    ports: str,
    wanted: HardwareSwitchVariables,
) -> SwitchState:
    """Return the numbers of the ports and of the buffer.

    ports: a reply in JSON, the variable `ports` of expressions; another text is ignored.
    """
    rows = list(_rows(table, found))
    given = {"cell_bytes": wanted.switch_cell_bytes, "ports": _json_object_in(ports)}
    read = {each: _Port(numbers, rows, {**given, "interface": each}).state() for each in wanted.interfaces}
    everywhere = _columns(row for row in rows if not row.ports and row.profile is None)
    return SwitchState(read, _whole(_value(numbers.buffer_bytes, everywhere)), found)


def _rows(table: textfsm.TextFSM, found: Configuration) -> Iterator[Row]:
    """Yield a row for each line that the template matches, with its filled columns."""
    for context, lines in found.items():
        for line in lines:
            table.Reset()
            for values in table.ParseText(" / ".join((*context, line))):
                named = zip(table.header, values, strict=True)
                columns = {name: value for name, value in named if value not in ("", [])}
                profiles = ((name[3:], str(each)) for name, each in columns.items() if name.startswith("IN_"))
                yield Row(line, columns, next(profiles, None))


class _Port:
    """The rows that apply to one port."""

    def __init__(self, numbers: NumbersData, rows: list[Row], given: Mapping[str, Any]) -> None:
        self._numbers = numbers
        self._given = given
        applicable = [row for row in rows if not row.ports or given["interface"] in row.ports]
        self._own = [row for row in applicable if row.profile is None]
        self._profiles = [row for row in applicable if row.profile is not None]

    def state(self) -> PortState:
        """Return marks and pauses in numbers, or the lines without readable numbers."""
        values = {**self._given, **_columns(self._own)}
        rate_bps = _whole(_value(self._numbers.rate_bps, values))
        mtu_bytes = _whole(_value(self._numbers.mtu_bytes, values))
        try:
            priorities = self._priorities()
        except NotKnownError as error:
            return PortState(None, rate_bps, mtu_bytes, dict.fromkeys(_PRIORITIES, str(error)))
        used = {name.removeprefix("USES_") for row in self._own for name in row.columns}
        unread = [each for kind, each in self._numbers.not_known_by_default.items() if kind not in used]
        return PortState(priorities, rate_bps, mtu_bytes, unread[0] if unread else {})

    def _priorities(self) -> dict[int, PrioritySettings]:
        """Return the priorities that mark or pause; NotKnownError for lines without numbers."""
        queues: dict[int, list[Row]] = {number: [] for number in _PRIORITIES}
        port_wide_rows: dict[object, list[Row]] = {}
        for row in [*self._own, *self._referenced()]:
            if "NOT_KNOWN" in row.columns:
                raise NotKnownError(row.line)
            for number in row.queues():
                queues[number].append(row)
            if not row.queues() and any(not name.startswith(_NAMES) for name in row.columns):
                port_wide_rows.setdefault(row.profile, []).append(row)
        port_wide_columns = [_merged(rows) for rows in port_wide_rows.values()]
        if any(each != port_wide_columns[0] for each in port_wide_columns):
            raise NotKnownError(" and ".join(rows[0].line for rows in port_wide_rows.values()))
        found = {}
        for number, rows in queues.items():
            values = {
                **self._given,
                **(port_wide_columns[0] if port_wide_columns else {}),
                **_merged(rows),
                "number": number,
            }
            found[number] = self._priority(rows, values)
        return {number: each for number, each in found.items() if each.marks is not None or each.pauses}

    def _referenced(self) -> Iterator[Row]:
        """Yield the rows of the profiles that the port or its queues name."""
        names = {f"USES_{kind}": name for kind, name in self._numbers.default_profiles.items()}
        used = {name for row in self._own for name in row.columns}
        defaults = [Row("", {kind: name}, None) for kind, name in names.items() if kind not in used]
        for row in [*self._own, *defaults]:
            queue = {name: value for name, value in row.columns.items() if name == "QUEUE"}
            for kind, name in row.columns.items():
                if not kind.startswith("USES_"):
                    continue
                own = [each for each in self._profiles if each.profile == (kind[5:], str(name))]
                if not own and not self._numbers.undefined_profiles:
                    raise NotKnownError(f"{row.line}, which is not in the configuration")
                yield from (each._replace(columns={**queue, **each.columns}) for each in own)

    def _priority(self, rows: list[Row], values: Mapping[str, Any]) -> PrioritySettings:
        """Return marks and pauses of a queue; NotKnownError if an expression lacks a column."""
        numbers, lines = self._numbers, " and ".join(dict.fromkeys(row.line for row in rows))
        try:
            does_mark, pauses = bool(rows and numbers.marks(values)), bool(numbers.pauses(values))
        except ValueError as error:
            raise NotKnownError(lines or str(error)) from error
        marks = None
        if does_mark:
            formulas = (numbers.from_bytes, numbers.to_bytes, numbers.percent)
            from_bytes, to_bytes, percent = (_value(each, values) for each in formulas)
            if not (isinstance(from_bytes, int) and isinstance(to_bytes, int) and isinstance(percent, int)):
                raise NotKnownError(lines)
            weight = _value(numbers.average_weight, values)
            if not isinstance(weight, int | float):
                raise NotKnownError(lines)
            drops = bool(_value(numbers.drops_above, values))
            marks = marking_reported(from_bytes, to_bytes, percent, weight, drops_above=drops)
        if not pauses:
            return priority_reported(marks=marks)
        headroom_bytes = _whole(_value(numbers.headroom_bytes, values))
        alpha = _value(numbers.pause_alpha, values)
        return priority_reported(marks=marks, pauses=True, headroom_bytes=headroom_bytes, pause_alpha=alpha)


def _columns(rows: Iterable[Row]) -> dict[str, Any]:
    """Return the columns of several rows, digits as numbers, without lists; the last row has precedence."""
    named = (each for row in rows for each in row.columns.items())
    return {name: _number(value) for name, value in named if isinstance(value, str)}


def _merged(rows: Iterable[Row]) -> dict[str, Any]:
    """Return the columns of several rows, digits as numbers, lists joined.

    NotKnownError if two rows contradict each other.
    """
    found: dict[str, Any] = {}
    for row in rows:
        for name, value in row.columns.items():
            if isinstance(value, list):
                words = ",".join(value).split(",")
                found[name] = sorted({*found.get(name, ()), *map(_number, words)}, key=str)
            elif not name.startswith(_NAMES) and found.setdefault(name, _number(value)) != _number(value):
                raise NotKnownError(f"{row.line}, beside {name} {found[name]}")
    return found


def _number(text: str) -> int | str:
    return int(text) if _NUMBER.fullmatch(text) else text


def _value(formula: Expression, values: Mapping[str, Any]) -> object:
    """Return the value of an expression; None if a column is missing."""
    try:
        return formula(values)
    except ValueError:
        return None


def _whole(value: object) -> int | None:
    """Return a number above 0, given as such or in digits; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value) or None
    return (int(value) or None) if isinstance(value, str) and value.isdecimal() else None


def _json_object_in(text: str) -> object:
    """Return the object in a reply; None if there is none."""
    try:
        return json.loads(text[text.find("{") : text.rfind("}") + 1])
    except ValueError:
        return None


def marking_reported(
    from_bytes: int, to_bytes: int, percent: int, average_weight: float = 1.0, *, drops_above: bool = False
) -> Marking:
    """Return marks of a switch without the checks of an inventory."""
    return Marking.model_construct(
        from_bytes=from_bytes,
        to_bytes=to_bytes,
        probability=percent / 100,
        average_weight=average_weight,
        drops_above=drops_above,
    )


def priority_reported(**reported: object) -> PrioritySettings:
    """Return marks and pauses of a switch without the checks of an inventory."""
    return PrioritySettings().model_copy(update=reported)
