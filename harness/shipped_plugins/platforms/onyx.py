"""NVIDIA Onyx, formerly Mellanox MLNX-OS, on Spectrum switches such as the SN2410.

Units: thresholds in KB. The manual does not say whether that is 1000 or 1024 bytes; 1000 are taken here, so a
threshold may be 2.4 % higher than asked for. No probability can be said: marks rise to every packet at the
maximum. By itself Onyx puts DSCP d into switch priority, and traffic class, d / 8. PFC's priorities count for
the whole switch; a port only says whether it takes part.

Each command counts at once. `advanced buffer management` is left as it is, so headroom is Onyx's own.

Source: NVIDIA Onyx User Manual, chapters Quality of Service (traffic-class congestion-control, qos trust) and
Priority Flow Control; commands also in the Ansible collection mellanox.onyx (onyx_traffic_class, whose
thresholds are `in KBs`) and in Mellanox's RoCE recipes DOC-2884 and DOC-3017.

No Onyx switch has run this.
"""

import re
from collections.abc import Iterator, Sequence
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
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables, PrioritySettings
from rogue.remote.login import Dialect

KB_BYTES: Final = 1_000
_DSCPS_PER_CLASS: Final = 8
_PFC: Final = "dcb priority-flow-control"
_PORTS: Final = re.compile(r"interface ethernet (\S+)-(\S+) (.*)")
_MARKS: Final = re.compile(r"interface ethernet (\S+) (traffic-class \d congestion-control)\b")
_NUMBERS: Final = re.compile(
    r"traffic-class (\d) congestion-control ecn minimum-absolute (\d+) maximum-absolute (\d+)"
)
_PRIORITY: Final = re.compile(rf"{_PFC} priority \d enable$")


class Onyx(Platform):
    """NVIDIA, Mellanox."""

    name = "onyx"
    dialect = Dialect("mellanox_mlnxos", r"[>#]\s*$", r"^% ")
    read = "show running-config"
    begin: ClassVar = ("configure terminal",)
    end: ClassVar = ("exit",)
    leave: ClassVar = ("exit",)

    def mistake(self, wanted: HardwareSwitchVariables) -> str | None:
        """Whole KB, no probability, no headroom, and DSCPs that are there by themselves."""
        for number, settings in sorted(wanted.switch_priorities.items()):
            place = f"priority {number}"
            if settings.headroom_bytes is not None:
                return f"{place}: got headroom_bytes, expected none, as Onyx sizes it by itself"
            for dscp in settings.dscp:
                if dscp // _DSCPS_PER_CLASS != number:
                    expected = f"{_DSCPS_PER_CLASS * number} to {_DSCPS_PER_CLASS * number + 7}"
                    return f"{place}: got dscp {dscp}, expected {expected}, which Onyx puts there by itself"
            if settings.marks is None:
                continue
            if settings.marks.probability != 1:
                return f"{place}: got probability {settings.marks.probability:g}, expected 1, Onyx's own"
            for count_bytes in (settings.marks.from_bytes, settings.marks.to_bytes):
                if mistake := kilobytes_mistake(count_bytes, KB_BYTES):
                    return f"{place}: {mistake}"
        return None

    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        """PFC of the whole switch, then each port."""
        texts = [f"{_PFC} enable force"] if wanted.pausing else []
        texts += [f"{_PFC} priority {number} enable" for number in wanted.pausing]
        lines = [Line((), text, text.removesuffix(" force"), f"no {text}") for text in texts]
        for interface in wanted.interfaces:
            lines += _port(f"interface ethernet {interface}", wanted)
        return lines

    def standing(self, found: Configuration, ports: str, wanted: HardwareSwitchVariables) -> SwitchState:
        """Marks and pauses; rates and MTUs are not read."""
        del ports
        return state_from_lines(found, wanted.interfaces, partial(_standing, found.get((), ())))

    def owns(self, context: Context, line: str, interfaces: Sequence[str]) -> bool:
        """Other priorities that pause anywhere, and other classes that mark on our ports."""
        marks = _MARKS.match(line)
        return _PRIORITY.match(line) is not None or (marks is not None and marks[1] in interfaces)

    def off(self, line: str) -> str:
        """A port says `no` behind its name."""
        marks = _MARKS.match(line)
        return f"no {line}" if marks is None else f"interface ethernet {marks[1]} no {marks[2]}"

    def configuration(self, text: str) -> Configuration:
        """Every line is at the top level; ranges of ports are expanded."""
        words = (line.strip() for line in text.splitlines())
        return {(): tuple(each for line in words if line and line[0] != "#" for each in _each_port(line))}


def _port(port: str, wanted: HardwareSwitchVariables) -> Iterator[Line]:
    if any(each.dscp for each in wanted.switch_priorities.values()):
        yield Line((), f"{port} qos trust L3", f"{port} qos trust", f"{port} no qos trust")
    if wanted.pausing:
        key = f"{port} {_PFC} mode"
        yield Line((), f"{key} on force", key, f"{port} no {_PFC} mode force")
    for number, marks in wanted.marking:
        key = f"traffic-class {number} congestion-control"
        least, most = marks.from_bytes // KB_BYTES, marks.to_bytes // KB_BYTES
        text = f"{port} {key} ecn minimum-absolute {least} maximum-absolute {most}"
        yield Line((), text, f"{port} {key}", f"{port} no {key}")


def _standing(lines: Sequence[str], interface: str) -> dict[int, PrioritySettings]:
    """Return what a port marks and pauses.

    NotKnownError where a class drops or marks by percent of a buffer, `roce` sets everything up by itself, or
    the port is a member of a LAG.
    """
    port = f"interface ethernet {interface} "
    own = [line.removeprefix(port) for line in lines if line.startswith(port)]
    elsewhere = [line for line in lines if re.match(r"roce\b", line)]
    elsewhere += [line for line in own if re.match(r"(?:mlag-)?channel-group ", line)]
    if elsewhere:
        raise NotKnownError(elsewhere[0])
    marks = [each for each in own if each.startswith("traffic-class ") and " congestion-control" in each]
    found = [_NUMBERS.fullmatch(each) for each in marks]
    if not all(found):
        raise NotKnownError(marks[found.index(None)])
    of_queues = {
        int(each[1]): marking_reported(int(each[2]) * KB_BYTES, int(each[3]) * KB_BYTES, 100)
        for each in found
        if each is not None
    }
    pauses = f"{_PFC} mode on force" in own and any(line.startswith(f"{_PFC} enable") for line in lines)
    return that_do_something(
        {
            number: priority_reported(
                marks=of_queues.get(number), pauses=pauses and f"{_PFC} priority {number} enable" in lines
            )
            for number in range(8)
        }
    )


def _each_port(line: str) -> Iterator[str]:
    """`interface ethernet 1/1-1/4 ...` expands to four lines."""
    found = _PORTS.match(line)
    if found is None:
        yield line
        return
    first, last, rest = found.groups()
    module, _, start = first.rpartition("/")
    for number in range(int(start), int(last.rpartition("/")[2]) + 1):
        yield f"interface ethernet {module}/{number} {rest}"


register_switch_platform(Onyx)
