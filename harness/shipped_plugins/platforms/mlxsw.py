"""Linux on a switch's chip, with the driver mlxsw: qdiscs and DCB, carried out by NVIDIA Spectrum.

Units: thresholds in bytes, which the chip rounds up to its cells; the probability in whole percent, to which
the driver rounds; headroom in bytes. Queues are eight strict bands, of which priority p has band 7 - p, and
so traffic class p. Only with them the driver takes sizes of buffers, and then it sizes none by itself. A
priority that pauses gets the buffer of its own number.

What a port shows is put into lines of our own, such as `swp1 marks 3 from 150000 to 1500000 percent 10`.

Source: Linux v6.1, mlxsw/spectrum_qdisc.c (mlxsw_sp_qdisc_red_check_params and _replace: percent, cells, ECN;
MLXSW_SP_PRIO_BAND_TO_TCLASS), spectrum_dcb.c (mlxsw_sp_dcbnl_setbuffer: only below such queues), Mellanox
mlxsw wiki, Queues Management and Quality of Service; iproute2 6.1, dcb/ and tc/q_red.c, q_ets.c (JSON).

No such switch has run this.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from rogue.harness.provisioning.switches.change import Change, Configuration, Context, Line
from rogue.harness.provisioning.switches.platform import Command, Platform, percent_mistake, whole_percent
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
from rogue.remote.errors import NodeError

_READ: Final = (
    "tc -j -d qdisc show; for each in /sys/class/net/*; do each=${each##*/}; for kind in app pfc buffer; do "
    'printf "\\n%s %s " "$each" $kind; dcb -j $kind show dev "$each" 2>/dev/null; done; done; true'
)
_PRIORITIES: Final = 8
_STRICT: Final = "ets bands 8 strict 8 priomap 7 6 5 4 3 2 1 0"
_PRIOMAP: Final = [7, 6, 5, 4, 3, 2, 1, 0]
_OF_THE_KERNEL: Final = ("fq_codel", "mq", "noqueue", "pfifo_fast")
"""The queue of a port that was not configured."""
_NUMBERS: Final = re.compile(r"from (\d+) to (\d+) percent (\d+)")
_MEAN_PACKET_BYTES: Final = 1_000


class Mlxsw(Platform):
    """A shell as root, or one that may use sudo."""

    name = "mlxsw"
    read = f'export PATH="$PATH:/usr/sbin:/sbin"; {_READ}'

    def mistake(self, wanted: HardwareSwitchVariables) -> str | None:
        """Marks come in whole percent; what pauses needs headroom, and nothing else has any."""
        for number, settings in sorted(wanted.switch_priorities.items()):
            if settings.pauses != (settings.headroom_bytes is not None):
                got = "pauses without headroom_bytes" if settings.pauses else "headroom_bytes without pauses"
                return f"priority {number}: got {got}, expected both, as the driver sizes no buffer by itself"
            if settings.marks and (mistake := percent_mistake(settings.marks.probability)):
                return f"priority {number}: {mistake}"
        return None

    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        """Queues first, without which nothing else is taken; pauses and what leads to them last."""
        return [line for interface in wanted.interfaces for line in _of_port(interface, wanted)]

    def standing(self, found: Configuration, ports: str, wanted: HardwareSwitchVariables) -> SwitchState:
        """Marks, pauses and headroom; rates and MTUs are not read."""
        del ports
        return state_from_lines(found, wanted.interfaces, partial(_standing, found.get((), ())))

    def owns(self, context: Context, line: str, interfaces: Sequence[str]) -> bool:
        """What marks and what pauses on our ports."""
        words = line.split()
        return words[0] in interfaces and words[1] in ("marks", "pauses")

    def configuration(self, text: str) -> Configuration:
        """Of `tc`, then of `dcb` for each interface; what is no JSON comes of one that has no DCB.

        NodeError if `tc` shows nothing that can be read.
        """
        qdiscs, _, others = text.lstrip().partition("\n")
        if not qdiscs.startswith("["):
            raise NodeError(f"tc: got `{qdiscs[:60]}`, expected a list in JSON; install iproute2 there")
        rest = others.splitlines()
        found = [line for each in json.loads(qdiscs) for line in _of_qdisc(each)]
        for row in rest:
            words = row.split(maxsplit=2)
            if len(words) == 3 and words[2].startswith("{"):
                found += _of_dcb(words[0], words[1], json.loads(words[2]))
        return {(): tuple(found)}

    def changes(self, wanted: HardwareSwitchVariables, found: Configuration) -> list[Change]:
        """Raise NodeError if a port has foreign queues that could not be restored."""
        for line in found.get((), ()):
            interface, kind, *rest = line.split()
            if kind == "queues" and interface in wanted.interfaces and rest[0] == "other":
                raise NodeError(
                    f"{interface}: got foreign queues, {' '.join(rest[1:])}, expected none, or ours; "
                    f"take them away with `tc qdisc del dev {interface} root`"
                )
        return super().changes(wanted, found)

    def commands(self, changes: Iterable[Change], found: Configuration) -> list[Command]:
        """A call of `tc` or `dcb` for each."""
        del found
        return [Command(f"sudo -n {_call(change)}") for change in changes]


def _of_port(interface: str, wanted: HardwareSwitchVariables) -> Iterator[Line]:
    settings = sorted(wanted.switch_priorities.items())
    if any(each.marks or each.pauses for _, each in settings):
        yield _line(f"{interface} queues", "strict")
    for number, each in settings:
        if each.marks:
            yield _line(f"{interface} marks {number}", _marks(each.marks))
        yield from _pauses(interface, number, each)
        for dscp in each.dscp:
            yield _line(f"{interface} dscp {dscp}", str(number))


def _pauses(interface: str, number: int, settings: PrioritySettings) -> Iterator[Line]:
    if settings.pauses:
        yield _line(f"{interface} headroom {number}", str(settings.headroom_bytes))
        yield _line(f"{interface} buffer {number}", str(number))
        yield _line(f"{interface} pauses {number}", "on")


def _line(key: str, value: str) -> Line:
    return Line((), f"{key} {value}", key, "")


def _marks(marks: Marking) -> str:
    return f"from {marks.from_bytes} to {marks.to_bytes} percent {whole_percent(marks.probability)}"


def _of_qdisc(qdisc: Mapping[str, Any]) -> Iterator[str]:
    """Lines for one entry of `tc -j -d qdisc show`; what the chip does not carry out says so."""
    interface, options = qdisc["dev"], qdisc.get("options", {})
    where = "" if qdisc.get("offloaded") else " in software"
    if qdisc.get("root") and qdisc["kind"] not in _OF_THE_KERNEL:
        is_ours = (qdisc["kind"], qdisc["handle"]) == ("ets", "1:") and (
            (options.get("strict"), options.get("priomap", [])[:_PRIORITIES]) == (_PRIORITIES, _PRIOMAP)
        )
        what = f"strict{where}" if is_ours else f"other {qdisc['kind']} {qdisc['handle']}"
        yield f"{interface} queues {what}"
    band = re.fullmatch(r"1:([1-8])", qdisc.get("parent", ""))
    if band and qdisc["kind"] == "red":
        percent = f"{100 * options['probability']:.6g}"
        how = f"from {options['min']} to {options['max']} percent {percent}"
        how += "" if options.get("ecn") else " by drops"
        yield f"{interface} marks {_PRIORITIES - int(band[1])} {how}{where}"


def _of_dcb(interface: str, kind: str, shown: Mapping[str, Any]) -> Iterator[str]:
    """Lines for the JSON of `dcb app`, `dcb pfc` or `dcb buffer`."""
    for dscp, number in shown.get("dscp_prio", []) if kind == "app" else ():
        yield f"{interface} dscp {dscp} {number}"
    for number, is_on in enumerate(shown.get("prio_pfc", [])):
        if is_on in (True, "on"):
            yield f"{interface} pauses {number} on"
    for number, index in enumerate(shown.get("prio_buffer", [])):
        yield f"{interface} buffer {number} {index}"
    for index, size_bytes in enumerate(shown.get("buffer_size", [])):
        yield f"{interface} headroom {index} {size_bytes}"


def _standing(lines: Sequence[str], interface: str) -> dict[int, PrioritySettings]:
    """Return what a port marks and pauses; NotKnownError where a queue drops, or is not the chip's."""
    own = [line.split()[1:] for line in lines if line.split()[0] == interface]
    told = {(kind, int(words[0])): " ".join(words[1:]) for kind, *words in own if words[0].isdigit()}
    marks = {number: _NUMBERS.fullmatch(text) for (kind, number), text in told.items() if kind == "marks"}
    for number, each in marks.items():
        if each is None:
            raise NotKnownError(f"a queue of priority {number} that drops, or that software runs")
    of_bands = {
        number: marking_reported(int(each[1]), int(each[2]), int(each[3]))
        for number, each in marks.items()
        if each is not None
    }
    pausing = {number for (kind, number), text in told.items() if (kind, text) == ("pauses", "on")}
    return that_do_something(
        {
            number: priority_reported(
                marks=of_bands.get(number),
                pauses=number in pausing,
                headroom_bytes=_headroom(told, number) if number in pausing else None,
            )
            for number in range(_PRIORITIES)
        }
    )


def _headroom(told: Mapping[tuple[str, int], str], number: int) -> int | None:
    """Of the buffer that a priority has."""
    index = told.get(("buffer", number))
    size = None if index is None else told.get(("headroom", int(index)))
    return None if size is None else int(size)


def _call(change: Change) -> str:
    """What makes one line stand instead of another."""
    interface, kind, *words = (change.after or change.before or "").split()
    is_off = change.after is None
    if kind == "queues":
        return f"tc qdisc del dev {interface} root" if is_off else (
            f"tc qdisc replace dev {interface} root handle 1: {_STRICT}"
        )  # fmt: skip
    if kind == "marks":
        return _red(interface, words, is_off=is_off)
    if kind == "pauses":
        return f"dcb pfc set dev {interface} prio-pfc {words[0]}:{'off' if is_off else 'on'}"
    if kind == "dscp":
        verb = "del" if is_off else "replace"
        return f"dcb app {verb} dev {interface} dscp-prio {words[0]}:{words[1]}"
    key = "prio-buffer" if kind == "buffer" else "buffer-size"
    return f"dcb buffer set dev {interface} {key} {words[0]}:{0 if is_off else words[1]}"


def _red(interface: str, words: Sequence[str], *, is_off: bool) -> str:
    """`limit`, `avpkt` and `burst` are not the chip's, but `tc` wants them, and a burst for its mean."""
    band = _PRIORITIES - int(words[0])
    if is_off:
        return f"tc qdisc del dev {interface} parent 1:{band}"
    least, most, percent = int(words[2]), int(words[4]), float(words[6])
    burst = -(-(2 * least + most) // (3 * _MEAN_PACKET_BYTES)) + 1
    how = "" if "drops" in words else " ecn nodrop"
    return (
        f"tc qdisc replace dev {interface} parent 1:{band} handle 1{band}: red limit {2 * most} min {least} "
        f"max {most} avpkt {_MEAN_PACKET_BYTES} burst {burst} probability {percent / 100:g}{how}"
    )


register_switch_platform(Mlxsw)
