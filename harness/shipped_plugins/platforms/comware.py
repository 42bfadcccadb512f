"""HPE and H3C Comware 7, such as HPE's FlexFabric and Moonshot switches.

Units: limits in cells of the chip's buffer, whose size no command shows: the inventory says it
(`switch_cell_bytes`; 208 bytes in the example of the 5510HI's guide). The high limit must be above the low
one, up to 16000 on a 5130HI. Manuals contradict each other on whether a larger discard probability means more
marks (11900) or fewer (H3C's), so only a step is set: nothing below, every packet from one cell more. The
weighting constant is an exponent, where 0 takes the queue as it is. DSCP d has 802.1p priority d / 8 by
itself.

Each command counts at once. On a chassis PFC's priorities must be set in system view, too; that is not done.

Source: HPE FlexFabric 11900 ACL and QoS Configuration Guide and HPE 5130HI ACL and QoS Command Reference (qos
wred queue table, queue, qos wred apply, qos trust); FlexFabric Layer 2 LAN Switching guides
(priority-flow-control).

No Comware switch has run this.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final

from rogue.harness.provisioning.switches.change import Configuration, Context, Line
from rogue.harness.provisioning.switches.platform import Platform, kilobytes_mistake
from rogue.harness.provisioning.switches.plugins import register_switch_platform
from rogue.harness.provisioning.switches.readback import (
    NotKnownError,
    SwitchState,
    marking_reported,
    priority_reported,
    state_from_lines,
    that_do_something,
)
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables, Marking, PrioritySettings
from rogue.remote.login import Dialect

_LIMIT_CELLS_MAX: Final = 16_000
_DSCPS_PER_CLASS: Final = 8
_COLOURS: Final = range(3)
_TABLE: Final = "qos wred queue table rogue"
_PFC: Final = "priority-flow-control"
_APPLY: Final = "qos wred apply"
_QUEUE: Final = re.compile(r"queue (\d) (.*)")
_LEVEL: Final = re.compile(r"drop-level \d low-limit (\d+) high-limit (\d+) discard-probability (\d+)")
_OWNED: Final = re.compile(rf"{_APPLY} |{_PFC} no-drop dot1p ")


class Comware(Platform):
    """HPE, H3C."""

    name = "comware"
    dialect = Dialect("hp_comware", r"[>\]]\s*$", r"^\s*% ")
    read = "display current-configuration"
    leave: ClassVar = ("return", "system-view")
    up: ClassVar = "quit"

    def mistake(self, wanted: HardwareSwitchVariables) -> str | None:
        """Steps of whole cells, no headroom, and DSCPs that are there by themselves."""
        for number, settings in sorted(wanted.switch_priorities.items()):
            mistake = _mistake(number, settings, wanted.switch_cell_bytes)
            if mistake is not None:
                return f"priority {number}: {mistake}"
        return None

    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        """The table of all queues that mark, then each port."""
        lines = [Line((), _TABLE, _TABLE, f"undo {_TABLE}", opens=True)] if wanted.marking else []
        for number, marks in wanted.marking:
            assert wanted.switch_cell_bytes is not None, "checked as a mistake"
            low = marks.from_bytes // wanted.switch_cell_bytes
            limits = f"low-limit {low} high-limit {low + 1} discard-probability 100"
            lines.append(_line((_TABLE,), f"queue {number} weighting-constant", "0"))
            lines += [_line((_TABLE,), f"queue {number} drop-level {colour}", limits) for colour in _COLOURS]
            lines.append(_line((_TABLE,), f"queue {number} ecn"))
        for interface in wanted.interfaces:
            port = (f"interface {interface}",)
            if any(each.dscp for each in wanted.switch_priorities.values()):
                lines.append(_line(port, "qos trust", "dscp"))
            lines += [_line(port, _APPLY, "rogue")] if wanted.marking else []
            if wanted.pausing:
                lines.append(Line(port, f"{_PFC} enable", f"{_PFC} enable", f"undo {_PFC}"))
                lines.append(_line(port, f"{_PFC} no-drop dot1p", ",".join(map(str, wanted.pausing))))
        return lines

    def standing(self, found: Configuration, ports: str, wanted: HardwareSwitchVariables) -> SwitchState:
        """Marks and pauses, if the size of a cell is known; rates and MTUs are not read."""
        del ports
        cell_bytes = wanted.switch_cell_bytes
        return state_from_lines(found, wanted.interfaces, partial(_standing, found, cell_bytes))

    def owns(self, context: Context, line: str, interfaces: Sequence[str]) -> bool:
        """Tables of others, and PFC where nothing should pause, on our ports."""
        is_ours = len(context) == 1 and context[0].removeprefix("interface ") in interfaces
        return is_ours and _OWNED.match(line) is not None

    def off(self, line: str) -> str:
        """Without the name or the numbers."""
        return f"undo {line.rpartition(' ')[0]}"


def _mistake(number: int, settings: PrioritySettings, cell_bytes: int | None) -> str | None:
    if settings.headroom_bytes is not None:
        return "got headroom_bytes, expected none, as Comware sizes it by itself"
    for dscp in settings.dscp:
        if dscp // _DSCPS_PER_CLASS != number:
            expected = f"{_DSCPS_PER_CLASS * number} to {_DSCPS_PER_CLASS * number + 7}"
            return f"got dscp {dscp}, expected {expected}, which Comware puts there by itself"
    return None if settings.marks is None else _mistake_of_marks(settings.marks, cell_bytes)


def _mistake_of_marks(marks: Marking, cell_bytes: int | None) -> str | None:
    if cell_bytes is None:
        return "got marks without switch_cell_bytes, expected the size of the switch's cells"
    if (marks.to_bytes, marks.probability) != (marks.from_bytes, 1):
        return "got marks with a slope, expected a step, as manuals contradict each other on probabilities"
    if marks.from_bytes // cell_bytes >= _LIMIT_CELLS_MAX:
        return f"got {marks.from_bytes} bytes, expected fewer than {_LIMIT_CELLS_MAX} cells"
    return kilobytes_mistake(marks.from_bytes, cell_bytes)


def _standing(found: Configuration, cell_bytes: int | None, interface: str) -> dict[int, PrioritySettings]:
    """Return what a port marks and pauses.

    NotKnownError where a queue of its table has no step, the port negotiates pauses or is a member of a LAG.
    """
    port = found.get((f"interface {interface}",), ())
    if elsewhere := next((line for line in port if line.startswith("port link-aggregation group ")), None):
        raise NotKnownError(elsewhere)
    tables = [line.removeprefix(_APPLY).strip() for line in port if line.startswith(_APPLY)]
    marks: dict[int, Marking | None] = {}
    for name in tables:
        marks |= _marks(found.get((f"qos wred queue table {name}",), ()), cell_bytes)
    if (tables and not marks) or None in marks.values():
        size = "" if cell_bytes else ", and no switch_cell_bytes"
        raise NotKnownError(f"{_APPLY} {' '.join(tables)}{size}")
    if f"{_PFC} auto" in port:
        raise NotKnownError(f"{_PFC} auto")
    pausing = _pausing(port) if f"{_PFC} enable" in port else ()
    return that_do_something(
        {
            number: priority_reported(marks=marks.get(number), pauses=str(number) in pausing)
            for number in range(8)
        }
    )


def _marks(table: Sequence[str], cell_bytes: int | None) -> dict[int, Marking | None]:
    """What each queue of a table marks; None for one that this has no numbers for."""
    texts: dict[int, list[str]] = {}
    for line in table:
        if queue := _QUEUE.fullmatch(line):
            texts.setdefault(int(queue[1]), []).append(queue[2])
    return {number: _step(of_queue, cell_bytes) for number, of_queue in texts.items()}


def _step(texts: Sequence[str], cell_bytes: int | None) -> Marking | None:
    """A step, if all colours have the same one."""
    levels = [each for text in texts if (each := _LEVEL.fullmatch(text))]
    limits = {each.groups() for each in levels}
    if "ecn" not in texts or cell_bytes is None or len(levels) != len(_COLOURS) or len(limits) != 1:
        return None
    low, high, percent = map(int, limits.pop())
    is_step = (high, percent) == (low + 1, 100)
    return marking_reported(low * cell_bytes, low * cell_bytes, 100) if is_step else None


def _pausing(port: Sequence[str]) -> list[str]:
    listed = (line.rpartition(" ")[2] for line in port if line.startswith(f"{_PFC} no-drop dot1p "))
    return next(listed, "").split(",")


def _line(context: Context, key: str, value: str = "") -> Line:
    return Line(context, f"{key} {value}".rstrip(), key, f"undo {key}")


register_switch_platform(Comware)
