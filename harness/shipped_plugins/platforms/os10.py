"""Dell SmartFabric OS10.

Units: thresholds in KB of 1000 bytes, from 1 to 12480 (enterprise SONiC on the same chips has 1000 to
12480000 bytes), the probability in whole percent. A queue and a PFC priority (`pfc-cos`) have the number of
their QoS group. Policies are our own, and a port has one of each kind: ours takes the place of another. A
port that pauses takes no link-level pauses, so `flowcontrol receive` goes off.

Each command counts at once.

Source: Dell SmartFabric OS10 User Guide, chapter Quality of Service (wred, random-detect, class-map and
policy-map of type queuing and network-qos, trust dscp-map, priority-flow-control mode, pfc-cos); the range in
bytes in the Ansible collection dellemc.enterprise_sonic, sonic_qos_wred.

No OS10 switch has run this.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar, Final

from rogue.harness.provisioning.switches.change import Configuration, Context, Line
from rogue.harness.provisioning.switches.platform import (
    Platform,
    kilobytes_mistake,
    percent_mistake,
    whole_percent,
)
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

KB_BYTES: Final = 1_000
THRESHOLD_KB_MAX: Final = 12_480
_OWNED: Final = re.compile(
    r"service-policy (?:input type network-qos|output type queuing) |priority-flow-control mode on$"
)
_NUMBERS: Final = re.compile(
    r"random-detect color green minimum-threshold (\d+) maximum-threshold (\d+) drop-probability (\d+)"
)
_INPUT: Final = "service-policy input type network-qos"
_OUTPUT: Final = "service-policy output type queuing"


class Os10(Platform):
    """Dell."""

    name = "os10"
    dialect = Dialect("dell_os10", r"[>#]\s*$", r"^%")
    read = "show running-configuration"
    begin: ClassVar = ("configure terminal",)
    end: ClassVar = ("end",)
    leave: ClassVar = ("end",)

    def mistake(self, wanted: HardwareSwitchVariables) -> str | None:
        """Whole KB up to what the chip takes, whole percent, no headroom."""
        for number, settings in sorted(wanted.switch_priorities.items()):
            place = f"priority {number}"
            if settings.headroom_bytes is not None:
                return f"{place}: got headroom_bytes, expected none, as OS10 sizes it by itself"
            if settings.marks is None:
                continue
            if mistake := percent_mistake(settings.marks.probability):
                return f"{place}: {mistake}"
            for count_bytes in (settings.marks.from_bytes, settings.marks.to_bytes):
                if mistake := kilobytes_mistake(count_bytes, KB_BYTES):
                    return f"{place}: {mistake}"
                if count_bytes > THRESHOLD_KB_MAX * KB_BYTES:
                    return f"{place}: got {count_bytes} bytes, expected {THRESHOLD_KB_MAX} KB at most"
        return None

    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        """What is referred to comes before what refers to it."""
        has_map = any(each.dscp for each in wanted.switch_priorities.values())
        lines = [*_map(wanted), *_queues(wanted), *_pauses(wanted)]
        for interface in wanted.interfaces:
            port = (f"interface {interface}",)
            lines += [_line(port, "trust-map dscp", "rogue-dscp")] if has_map else []
            lines += [_line(port, _OUTPUT, "rogue-queues")] if wanted.marking else []
            if wanted.pausing:
                lines += [
                    _line(port, "flowcontrol receive", "off"),
                    _line(port, "priority-flow-control mode", "on"),
                    _line(port, _INPUT, "rogue-pauses"),
                ]
        return lines

    def standing(self, found: Configuration, ports: str, wanted: HardwareSwitchVariables) -> SwitchState:
        """Marks and pauses by the policies of the ports; rates and MTUs are not read."""
        del ports
        return state_from_lines(found, wanted.interfaces, partial(_standing, found))

    def owns(self, context: Context, line: str, interfaces: Sequence[str]) -> bool:
        """Policies of others on our ports, and PFC where nothing should pause."""
        is_ours = len(context) == 1 and context[0].removeprefix("interface ") in interfaces
        return is_ours and _OWNED.match(line) is not None


def _map(wanted: HardwareSwitchVariables) -> Iterator[Line]:
    pairs = [(number, each.dscp) for number, each in sorted(wanted.switch_priorities.items()) if each.dscp]
    if pairs:
        yield _mode((), "trust dscp-map rogue-dscp")
    for number, dscps in pairs:
        values = ",".join(map(str, sorted(dscps)))
        yield _line(("trust dscp-map rogue-dscp",), f"qos-group {number} dscp", values)


def _queues(wanted: HardwareSwitchVariables) -> Iterator[Line]:
    policy = "policy-map type queuing rogue-queues"
    for number, marks in wanted.marking:
        profile, queue = f"wred rogue-{number}", f"class-map type queuing rogue-queue-{number}"
        yield _mode((), profile)
        least, most = marks.from_bytes // KB_BYTES, marks.to_bytes // KB_BYTES
        chance = whole_percent(marks.probability)
        thresholds = f"minimum-threshold {least} maximum-threshold {most} drop-probability {chance}"
        yield _line((profile,), "random-detect color green", thresholds)
        yield _line((profile,), "random-detect ecn")
        yield _mode((), queue)
        yield _line((queue,), "match queue", str(number))
    if wanted.marking:
        yield _mode((), policy)
    for number, _ in wanted.marking:
        inner = f"class rogue-queue-{number}"
        yield _mode((policy,), inner)
        yield _line((policy, inner), "random-detect", f"rogue-{number}")


def _pauses(wanted: HardwareSwitchVariables) -> Iterator[Line]:
    policy = "policy-map type network-qos rogue-pauses"
    for number in wanted.pausing:
        group = f"class-map type network-qos rogue-pause-{number}"
        yield _mode((), group)
        yield _line((group,), "match qos-group", str(number))
    if wanted.pausing:
        yield _mode((), policy)
    for number in wanted.pausing:
        inner = f"class rogue-pause-{number}"
        yield _mode((policy,), inner)
        yield _line((policy, inner), "pause")
        yield _line((policy, inner), "pfc-cos", str(number))


def _standing(found: Configuration, interface: str) -> dict[int, PrioritySettings]:
    """Return what a port marks and pauses; NotKnownError in a LAG, or where a class has no number."""
    port = found.get((f"interface {interface}",), ())
    if (group := _value(port, "channel-group")) is not None:
        raise NotKnownError(f"channel-group {group}")
    queues = _classes(found, "queuing", _value(port, _OUTPUT), "match queue")
    groups = _classes(found, "network-qos", _value(port, _INPUT), "match qos-group")
    marks = {number: _profile(found, lines) for number, lines in queues.items()}
    pausing = {number for number, lines in groups.items() if "pause" in lines}
    does_pause = "priority-flow-control mode on" in port
    return that_do_something(
        {
            number: priority_reported(marks=marks.get(number), pauses=does_pause and number in pausing)
            for number in range(8)
        }
    )


def _classes(found: Configuration, kind: str, policy: str | None, match: str) -> dict[int, tuple[str, ...]]:
    """Return the lines of each class of a policy, by the number that its class map matches."""
    if policy is None:
        return {}
    mode = f"policy-map type {kind} {policy}"
    classes = {}
    for context, lines in found.items():
        if len(context) == 2 and context[0] == mode:
            name = context[1].removeprefix("class ")
            number = _value(found.get((f"class-map type {kind} {name}",), ()), match)
            if number is None or not number.isdigit():
                raise NotKnownError(f"class {name} of {mode}")
            classes[int(number)] = lines
    if not classes:
        raise NotKnownError(f"{mode}, which has no class in the configuration")
    return classes


def _profile(found: Configuration, queue: Sequence[str]) -> Marking | None:
    """Return the marks of the profile that a queue names; NotKnownError if it drops packets."""
    name = _value(queue, "random-detect")
    if name is None:
        return None
    lines = found.get((f"wred {name}",), ())
    numbers = next((each for line in lines if (each := _NUMBERS.fullmatch(line))), None)
    if numbers is None or "random-detect ecn" not in lines:
        raise NotKnownError(f"wred {name}, which is no profile of marks in numbers")
    least, most, percent = (int(each) for each in numbers.groups())
    return marking_reported(least * KB_BYTES, most * KB_BYTES, percent)


def _value(lines: Sequence[str], key: str) -> str | None:
    """What stands behind a key; None without such a line."""
    found = (line for line in lines if line.startswith(f"{key} "))
    return next((line.removeprefix(f"{key} ") for line in found), None)


def _mode(context: Context, text: str) -> Line:
    return Line(context, text, text, f"no {text}", opens=True)


def _line(context: Context, key: str, value: str = "") -> Line:
    return Line(context, f"{key} {value}".rstrip(), key, f"no {key}")


register_switch_platform(Os10)
