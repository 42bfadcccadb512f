"""NVIDIA Cumulus Linux with NVUE, from 5.4 on.

Units: thresholds in bytes, the probability in percent from 0 to 100. A traffic class has the number of its
switch priority by itself. Profiles of our own are bound to ports, so no other port changes. Where nothing of
ours is bound, Cumulus marks traffic class 0 by its profile `default-global`.

Changes wait until `nv config apply`; a rejected command forgets them (`nv config detach`).

Source: NVIDIA Cumulus Linux User Guide, chapter Quality of Service; NVUE reference, Set and Unset Commands,
QoS (mapping, pfc, congestion-control, interface qos), and `nv show interface`, whose `link` has `speed`, such
as `100G`, and `mtu`.

No Cumulus switch has run this.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import ClassVar, Final

from rogue.harness.provisioning.switches.change import Configuration, Context, Line
from rogue.harness.provisioning.switches.platform import Platform, percent_mistake, whole_percent
from rogue.harness.provisioning.switches.readback import (
    NotKnownError,
    PortState,
    SwitchState,
    json_object_in,
    marking_reported,
    priority_reported,
    read_port,
    that_do_something,
    whole_number,
)
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables, Marking, PrioritySettings

_LISTED: Final = ("interface", "switch-priority", "traffic-class", "dscp")
"""Words before a word that may be a list or a range."""
_RANGE: Final = re.compile(r"(.*?)(\d+)-(\d+)")
_BOUND: Final = re.compile(r"nv set interface (\S+) qos (?:pfc|congestion-control) profile \S+$")
_DEFAULT: Final = "default-global"
"""The profile of ports without one of their own."""
_SPEED: Final = re.compile(r"(\d+(?:\.\d+)?)([MG])")


class Cumulus(Platform):
    """NVIDIA, with a shell."""

    name = "cumulus"
    read = "nv config show -o commands"
    read_ports = "nv show interface -o json"
    end: ClassVar = ("nv config apply -y",)
    abort: ClassVar = ("nv config detach",)

    def mistake(self, wanted: HardwareSwitchVariables) -> str | None:
        """Headroom is not set here; marks come in whole percent."""
        for number, settings in sorted(wanted.switch_priorities.items()):
            if settings.headroom_bytes is not None:
                return f"priority {number}: got headroom_bytes, expected none, as Cumulus sizes it by itself"
            if settings.marks and (mistake := percent_mistake(settings.marks.probability)):
                return f"priority {number}: {mistake}"
        return None

    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        """Profiles first, then the ports that have them."""
        profiles = {
            "mapping": list(_mapping(wanted)),
            "pfc": list(_pfc(wanted)),
            "congestion-control": [
                text for number, marks in wanted.marking for text in _marks(number, marks)
            ],
        }
        lines = []
        for kind, texts in profiles.items():
            lines += [_profile_line(kind, text, is_first=text == texts[0]) for text in texts]
        for interface in wanted.interfaces:
            for kind in (kind for kind, texts in profiles.items() if texts):
                key = f"interface {interface} qos {kind} profile"
                lines.append(Line((), f"nv set {key} rogue", f"nv set {key}", f"nv unset {key}"))
        return lines

    def standing(self, found: Configuration, ports: str, wanted: HardwareSwitchVariables) -> SwitchState:
        """Marks and pauses by the profiles of the ports, rates and MTUs from the interfaces."""
        told = json_object_in(ports)
        return SwitchState(
            {
                interface: _standing_port(
                    found.get((), ()), interface, told.get(interface, {}).get("link", {})
                )
                for interface in wanted.interfaces
            },
            configuration=found,
        )

    def owns(self, context: Context, line: str, interfaces: Sequence[str]) -> bool:
        """Profiles that pause or mark on our ports, and what else stands in ours."""
        bound = _BOUND.match(line)
        is_ours = re.match(r"nv set qos (?:pfc|congestion-control) rogue ", line) is not None
        return is_ours or (bound is not None and bound[1] in interfaces)

    def off(self, line: str) -> str:
        """Without the value, but for those of which there are several."""
        words = line.replace("nv set ", "nv unset ", 1)
        return words if " switch-priority " in words else words.rpartition(" ")[0]

    def configuration(self, text: str) -> Configuration:
        """Every line is at the top level; lists and ranges in it are expanded."""
        lines = (line.strip() for line in text.splitlines())
        return {(): tuple(each for line in lines if line.startswith("nv set ") for each in _each(line))}


def _mapping(wanted: HardwareSwitchVariables) -> Iterator[str]:
    pairs = [
        (dscp, number) for number, each in sorted(wanted.switch_priorities.items()) for dscp in each.dscp
    ]
    if pairs:
        yield "trust l3"
    for dscp, number in pairs:
        yield f"dscp {dscp} switch-priority {number}"


def _pfc(wanted: HardwareSwitchVariables) -> Iterator[str]:
    if wanted.pausing:
        yield "tx enable"
        yield "rx enable"
    for number in wanted.pausing:
        yield f"switch-priority {number}"


def _marks(number: int, marks: Marking) -> Iterator[str]:
    settings = {
        "ecn": "enable",
        "red": "disable",
        "min-threshold": marks.from_bytes,
        "max-threshold": marks.to_bytes,
        "probability": whole_percent(marks.probability),
    }
    for key, value in settings.items():
        yield f"traffic-class {number} {key} {value}"


def _standing_port(lines: Sequence[str], interface: str, link: Mapping[str, object]) -> PortState:
    """Return the port; no line has the numbers by which the profile `default-global` marks class 0."""
    rate_bps, mtu_bytes = _rate_bps(link.get("speed")), whole_number(link.get("mtu"))
    port = read_port(partial(_standing_priorities, lines, interface), rate_bps, mtu_bytes)
    bound = f"nv set interface {interface} qos congestion-control profile "
    if port.not_known or any(line.startswith(bound) for line in lines):
        return port
    return replace(port, not_known={0: "no profile of congestion-control, so that default-global counts"})


def _standing_priorities(lines: Sequence[str], interface: str) -> dict[int, PrioritySettings]:
    """Return what the port's profiles say; NotKnownError where `roce` sets everything up by itself."""
    if roce := next((line for line in lines if line.startswith("nv set qos roce")), None):
        raise NotKnownError(f"{roce}, which sets up marks and pauses by itself")
    bound = {
        kind: line.rpartition(" ")[2]
        for kind in ("pfc", "congestion-control")
        for line in lines
        if line.startswith(f"nv set interface {interface} qos {kind} profile ")
    }
    marks = bound.get("congestion-control", _DEFAULT)
    pauses = f"nv set qos pfc {bound.get('pfc', _DEFAULT)} switch-priority "
    found = {}
    for number in range(8):
        own = f"nv set qos congestion-control {marks} traffic-class {number} "
        values = dict(line.removeprefix(own).split(" ", 1) for line in lines if line.startswith(own))
        found[number] = priority_reported(marks=_standing_marks(values), pauses=f"{pauses}{number}" in lines)
    return that_do_something(found)


def _standing_marks(values: Mapping[str, str]) -> Marking | None:
    numbers = [whole_number(values.get(key)) for key in ("min-threshold", "max-threshold", "probability")]
    from_bytes, to_bytes, percent = numbers
    if values.get("ecn") != "enable":
        return None
    if from_bytes is None or to_bytes is None or percent is None:
        raise NotKnownError("a profile of congestion-control with ecn and without all thresholds")
    return marking_reported(from_bytes, to_bytes, percent)


def _rate_bps(speed: object) -> int | None:
    """From `100G`."""
    found = _SPEED.fullmatch(str(speed))
    return None if found is None else round(float(found[1]) * {"M": 10**6, "G": 10**9}[found[2]])


def _profile_line(kind: str, text: str, *, is_first: bool) -> Line:
    """A line of our own profile; the first that was made is the last to go, and takes the profile with it."""
    key = text if text.startswith("switch-priority") else text.rpartition(" ")[0]
    off = "" if is_first else f" {key}"
    return Line(
        (),
        f"nv set qos {kind} rogue {text}",
        f"nv set qos {kind} rogue {key}",
        f"nv unset qos {kind} rogue{off}",
    )


def _each(line: str) -> Iterator[str]:
    """`interface swp1-3,swp7 ...` expands to four lines."""
    words = line.split()
    choices = [
        list(_expanded(word)) if before in _LISTED else [word]
        for before, word in zip(["", *words], words, strict=False)
    ]
    yield from (" ".join(chosen) for chosen in product(*choices))


def _expanded(word: str) -> Iterator[str]:
    for part in word.split(","):
        found = _RANGE.fullmatch(part)
        if found is None:
            yield part
        else:
            for number in range(int(found[2]), int(found[3]) + 1):
                yield f"{found[1]}{number}"
