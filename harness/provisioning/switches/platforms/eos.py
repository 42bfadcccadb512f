"""Arista EOS, on switches with unicast queues (`uc-tx-queue`: Trident and Tomahawk).

Units: thresholds in bytes (the keyword says so; `segments` would be 208 bytes), the probability in whole
percent from 1 to 100, the weight of the averaged queue as an exponent from 0 to 15, where 0 takes the
queue as it is. A traffic class has the queue and the PFC priority of its number. By itself EOS puts DSCP d
into traffic class d / 8 from 16 on, and shows no line for that.

A configuration session holds all changes until `commit`, so a rejected command changes nothing.

Source: Arista EOS User Manual, chapters Quality of Service (random-detect ecn minimum-threshold, qos map
dscp, qos trust), Data Center Bridging (priority-flow-control) and Configuration Sessions; units and ranges
also in Arista's AVD, schema eos_cli_config_gen, ethernet_interfaces.uc_tx_queues. `show interfaces | json`
has `bandwidth` in bits per second, 0 while a link is down, and `mtu` in bytes.

No Arista switch has run this. Arista's generator writes the same lines (pyavd 6.4.0; `test_eos_avd.py`).
"""

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from rogue.harness.provisioning.switches.change import Change, Configuration, Context, Line
from rogue.harness.provisioning.switches.platform import Platform
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables, Marking, PrioritySettings
from rogue.harness.provisioning.switches.standing import (
    Standing,
    StandingPort,
    that_do_something,
    told_as_json,
    told_marks,
    told_priority,
    whole_number,
)
from rogue.harness.provisioning.switches.units import percent_mistake, whole_percent
from rogue.remote.login import Dialect

_THRESHOLD_BYTES_MAX: Final = 256_000_000
_OWNED: Final = re.compile(r"priority-flow-control priority \d no-drop$|random-detect ecn minimum-threshold ")
_MARKS: Final = "random-detect ecn minimum-threshold"
_NUMBERS: Final = re.compile(
    rf"{_MARKS} (\d+) bytes maximum-threshold (\d+) bytes max-mark-probability (\d+)"
)
_OWN_MAP_FROM: Final = 16
_DSCPS_PER_CLASS: Final = 8


class Eos(Platform):
    """Arista."""

    name = "eos"
    dialect = Dialect("arista_eos", r"[>#]\s*$", r"^% ")
    read = "show running-config"
    read_ports = "show interfaces | json"
    begin: ClassVar = ("configure session rogue", "abort", "configure session rogue")
    """What an interrupted call may have left in the session is dropped first."""
    end: ClassVar = ("commit",)
    abort: ClassVar = ("abort",)

    def mistake(self, wanted: HardwareSwitchVariables) -> str | None:
        """Headroom is not set here; marks come in whole percent."""
        for number, settings in sorted(wanted.switch_priorities.items()):
            if settings.headroom_bytes is not None:
                return f"priority {number}: got headroom_bytes, expected none, as EOS sizes it by itself"
            if settings.marks is None:
                continue
            if settings.marks.to_bytes > _THRESHOLD_BYTES_MAX:
                return f"priority {number}: got {settings.marks.to_bytes} bytes, expected 256000000 at most"
            if mistake := percent_mistake(settings.marks.probability):
                return f"priority {number}: {mistake}"
        return None

    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        """The map of DSCPs, then each port: trust, pauses, marks."""
        lines = [
            Line((), f"{_map(dscp)} {number}", key, f"no {key}")
            for number, settings in sorted(wanted.switch_priorities.items())
            for dscp in settings.dscp
            if not _is_of_itself(dscp, number)
            for key in [f"qos map dscp {dscp}"]
        ]
        for interface in wanted.interfaces:
            lines += _port(interface, wanted)
        return lines

    def changes(self, wanted: HardwareSwitchVariables, found: Configuration) -> list[Change]:
        """Where EOS's own map is wanted, another one goes first."""
        other = [
            Change((), None, line, f"no qos map dscp {dscp}")
            for number, settings in sorted(wanted.switch_priorities.items())
            for dscp in settings.dscp
            if _is_of_itself(dscp, number)
            for line in found.get((), ())
            if line.startswith(f"qos map dscp {dscp} to ") and line != f"{_map(dscp)} {number}"
        ]
        return [*other, *super().changes(wanted, found)]

    def standing(self, found: Configuration, ports: str, wanted: HardwareSwitchVariables) -> Standing:
        """Marks and pauses from the configuration, rates and MTUs from the interfaces."""
        told = told_as_json(ports).get("interfaces", {})
        return Standing(
            {
                interface: StandingPort(
                    priorities=_priorities(found, (f"interface {interface}",)),
                    rate_bps=whole_number(told.get(interface, {}).get("bandwidth")) or None,
                    mtu_bytes=whole_number(told.get(interface, {}).get("mtu")),
                )
                for interface in wanted.interfaces
            },
            configuration=found,
        )

    def owns(self, context: Context, line: str, interfaces: Sequence[str]) -> bool:
        """Other priorities that pause, and other queues that mark."""
        ours = {f"interface {interface}" for interface in interfaces}
        return bool(context) and context[0] in ours and _OWNED.match(line) is not None

    def off(self, line: str) -> str:
        """Marks go without their numbers."""
        return f"no {_MARKS}" if line.startswith(_MARKS) else super().off(line)


def _map(dscp: int) -> str:
    return f"qos map dscp {dscp} to traffic-class"


def _is_of_itself(dscp: int, number: int) -> bool:
    """Whether EOS puts a DSCP there without being told."""
    return dscp >= _OWN_MAP_FROM and dscp // _DSCPS_PER_CLASS == number


def _port(interface: str, wanted: HardwareSwitchVariables) -> list[Line]:
    port = (f"interface {interface}",)
    texts = ["qos trust dscp"] if any(each.dscp for each in wanted.switch_priorities.values()) else []
    texts += ["priority-flow-control on"] if wanted.pausing else []
    texts += [f"priority-flow-control priority {number} no-drop" for number in wanted.pausing]
    lines = [Line(port, text, text.replace("trust dscp", "trust"), f"no {text}") for text in texts]
    for number, marks in wanted.marking:
        queue = (*port, f"uc-tx-queue {number}")
        lines.append(Line(queue, f"{_MARKS} {_thresholds(marks)}", _MARKS, f"no {_MARKS}"))
    return lines


def _priorities(found: Configuration, port: Context) -> dict[int, PrioritySettings]:
    lines = found.get(port, ())
    is_on = "priority-flow-control on" in lines
    return that_do_something(
        {
            number: told_priority(
                marks=_marks(found.get((*port, f"uc-tx-queue {number}"), ())),
                pauses=is_on and f"priority-flow-control priority {number} no-drop" in lines,
            )
            for number in range(8)
        }
    )


def _marks(lines: Iterable[str]) -> Marking | None:
    found = next((found for line in lines if (found := _NUMBERS.match(line))), None)
    return None if found is None else told_marks(int(found[1]), int(found[2]), int(found[3]))


def _thresholds(marks: Marking) -> str:
    return (
        f"{marks.from_bytes} bytes maximum-threshold {marks.to_bytes} bytes "
        f"max-mark-probability {whole_percent(marks.probability)} weight 0"
    )
