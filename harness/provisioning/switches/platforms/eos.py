"""Arista EOS, on switches with unicast queues (`uc-tx-queue`: Trident and Tomahawk).

Units: thresholds in bytes, kbytes or mbytes, which are powers of ten (their ranges end at 256000000, 256000
and 256). The size of a segment depends on the chip, so thresholds in segments are not known. The probability
is in whole percent from 1 to 100, the weight of the averaged queue an exponent from 0 to 15, where 0 takes
the queue as it is. A traffic class has the queue and the PFC priority of its number. By itself EOS puts DSCP
d into traffic class d / 8 from 16 on, and shows no line for that.

A configuration session holds all changes until `commit`, so a rejected command changes nothing.

A QoS profile (`service-profile`) counts where the port says nothing about the same queue or about PFC; where
both do, which one counts is not known. Lines of a LAG's member and of an interface profile are not read.

Source: Arista EOS User Manual, chapters Quality of Service (random-detect ecn minimum-threshold, qos map
dscp, qos trust), Data Center Bridging (priority-flow-control) and Configuration Sessions; units and ranges
also in Arista's AVD, schema eos_cli_config_gen, ethernet_interfaces.uc_tx_queues. `show interfaces | json`
has `bandwidth` in bits per second, 0 while a link is down, and `mtu` in bytes.

No Arista switch has run this. Arista's generator writes the same lines (pyavd 6.4.0; `test_eos_avd.py`).
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final

from rogue.harness.provisioning.switches.change import Change, Configuration, Context, Line
from rogue.harness.provisioning.switches.platform import Platform, percent_mistake, whole_percent
from rogue.harness.provisioning.switches.readback import (
    NotKnownError,
    SwitchState,
    json_object_in,
    marking_reported,
    priority_reported,
    read_port,
    that_do_something,
    whole_number,
)
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables, Marking, PrioritySettings
from rogue.remote.login import Dialect

_THRESHOLD_BYTES_MAX: Final = 256_000_000
_OWNED: Final = re.compile(r"priority-flow-control priority \d no-drop$|random-detect ecn minimum-threshold ")
_MARKS: Final = "random-detect ecn minimum-threshold"
_BYTES: Final = {"bytes": 1, "kbytes": 10**3, "mbytes": 10**6}
_UNIT: Final = "|".join(_BYTES)
_NUMBERS: Final = re.compile(
    rf"{_MARKS} (\d+) ({_UNIT}) maximum-threshold (\d+) ({_UNIT}) max-mark-probability (\d+)\b"
)
_NOT_READ: Final = re.compile(r"channel-group |profile ")
"""Lines of a port whose settings are elsewhere: in a LAG, or in an interface profile."""
_QUEUES: Final = ("uc-tx-queue", "tx-queue")
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

    def standing(self, found: Configuration, ports: str, wanted: HardwareSwitchVariables) -> SwitchState:
        """Marks and pauses from the configuration, rates and MTUs from the interfaces."""
        told = json_object_in(ports).get("interfaces", {})
        return SwitchState(
            {
                interface: read_port(
                    partial(_priorities, found, (f"interface {interface}",)),
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
    """Return what the port's own lines say, or those of its QoS profile; NotKnownError if neither says it."""
    lines = found.get(port, ())
    if elsewhere := next((line for line in lines if _NOT_READ.match(line)), None):
        raise NotKnownError(elsewhere)
    modes = [port, *_profile(found, lines)]
    pfc = _only_one(
        [
            [line for line in found.get(mode, ()) if line.startswith("priority-flow-control ")]
            for mode in modes
        ]
    )
    return that_do_something(
        {
            number: priority_reported(
                marks=_marks(_only_one([_random_detect(found, mode, number) for mode in modes])),
                pauses="priority-flow-control on" in pfc
                and f"priority-flow-control priority {number} no-drop" in pfc,
            )
            for number in range(8)
        }
    )


def _profile(found: Configuration, port: Sequence[str]) -> list[Context]:
    """Return the mode of the QoS profile that a port names, if it names one."""
    names = [line.removeprefix("service-profile ") for line in port if line.startswith("service-profile ")]
    for name in names:
        if (f"qos profile {name}",) not in found and not any(
            context[0] == f"qos profile {name}" for context in found if context
        ):
            raise NotKnownError(f"service-profile {name}, which is not in the configuration")
    return [(f"qos profile {name}",) for name in names]


def _random_detect(found: Configuration, mode: Context, number: int) -> list[str]:
    return [
        line
        for queue in _QUEUES
        for line in found.get((*mode, f"{queue} {number}"), ())
        if line.startswith("random-detect ecn ") and not line.startswith("random-detect ecn count")
    ]


def _only_one(places: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return the lines of the one place that has some; NotKnownError if port and profile differ."""
    found = [lines for lines in places if lines]
    if any(lines != found[0] for lines in found):
        raise NotKnownError(f"{' and '.join(lines[0] for lines in found)}, of the port and of its profile")
    return found[0] if found else ()


def _marks(lines: Sequence[str]) -> Marking | None:
    if not lines:
        return None
    found = _NUMBERS.match(lines[0])
    if found is None or len(lines) > 1:
        raise NotKnownError(" and ".join(lines))
    least, most = (int(found[place]) * _BYTES[found[place + 1]] for place in (1, 3))
    return marking_reported(least, most, int(found[5]))


def _thresholds(marks: Marking) -> str:
    return (
        f"{marks.from_bytes} bytes maximum-threshold {marks.to_bytes} bytes "
        f"max-mark-probability {whole_percent(marks.probability)} weight 0"
    )
