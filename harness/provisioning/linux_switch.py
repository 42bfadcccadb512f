"""Ports of a Linux switch: tc lines for their queues, counters, link cuts."""

import json
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final, Self

from rogue.harness.provisioning.clocks import clock_offset
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.places import PROGRAMS
from rogue.remote.connection import Shell, connect
from rogue.remote.errors import NodeError

WIRE_OVERHEAD_BYTES: Final = 24
"""Ethernet preamble, checksum and gap: what a frame costs on a wire beyond what the kernel counts."""
MIN_WIRE_BYTES: Final = 84
BURST_BYTES_MIN: Final = 32_000
"""Less, and a class misses its rate when the switch's timer comes late."""
BURST_S: Final = 0.001
QUEUE_HANDLE: Final = 3
"""Major number of the qdisc that is a port's queue."""
_DEFAULT_QUEUE_BYTES: Final = 1_000_000
RED_RATE_BPS_MAX: Final = 34_000_000_000
"""tc reads the rate of RED in bytes per second, of 32 bits. From it follows only how fast the average of an
idle port decays. Source: iproute2, tc/q_red.c (get_rate); tc-red(8), bandwidth."""
_MEAN_PACKET_BYTES: Final = 1_000
PROMPT_RED_BYTES_MIN: Final = 2 * _MEAN_PACKET_BYTES
"""Below, `tc` takes no mean of so few packets."""
_SMALL_PACKET_BYTES: Final = 64
_ARRIVAL_RATE_BPS: Final = 1_000_000_000
"""A switch of a virtual testbed receives no faster than this."""
_DELAYED_PACKETS_MIN: Final = 1_000


@dataclass(frozen=True, slots=True)
class PortSettings:
    """What a port does to packets; the default is what the kernel does by itself."""

    rate_bps: int | None = None
    """None: as fast as it can."""
    queue_bytes: int = _DEFAULT_QUEUE_BYTES
    """What the queue holds; what comes beyond is dropped."""
    red_min_bytes: int | None = None
    """Queue at which ECN marking begins; None: nothing is marked."""
    red_max_bytes: int | None = None
    """Queue at which marking reaches its probability; beyond, every packet is marked."""
    red_probability: float = 1.0
    red_is_prompt: bool = False
    """Marks follow the queue of the last packets; otherwise its mean over some tens."""
    delay_ns: int = 0
    loss_probability: float = 0.0
    burst_bytes: int | None = None
    """What it may send at once; None: as much as a switch needs whose timers come late."""
    lost_ip_id_mask: int | None = None
    """RoCE packets are lost whose IP ID has all of these bits set."""
    loses_what_comes: bool = False
    """By IP ID they are lost in the other direction, too, as they come from the port's peer."""

    def mistake(self) -> str | None:
        """What is wrong with it, as `key: got ..., expected ...`; None if nothing is."""
        red = (self.red_min_bytes, self.red_max_bytes)
        checks = {
            f"rate_bps: got {self.rate_bps}, expected more than 0": self.rate_bps is None
            or self.rate_bps > 0,
            f"queue_bytes: got {self.queue_bytes}, expected more than 0": self.queue_bytes > 0,
            f"red_min_bytes and red_max_bytes: got {red[0]} and {red[1]}, expected both or neither": (
                (red[0] is None) == (red[1] is None)
            ),
            f"red_max_bytes: got {red[1]}, expected more than red_min_bytes and at most queue_bytes": (
                None in red or 0 < (red[0] or 0) < (red[1] or 0) <= self.queue_bytes
            ),
            f"red_min_bytes: got {red[0]}, expected {PROMPT_RED_BYTES_MIN} or more where marks are prompt": (
                not self.red_is_prompt or (red[0] or 0) >= PROMPT_RED_BYTES_MIN
            ),
            "red_min_bytes: got it without rate_bps, expected a rate": (
                red[0] is None or self.rate_bps is not None
            ),
            f"red_probability: got {self.red_probability}, expected above 0, at most 1": (
                0 < self.red_probability <= 1
            ),
            f"delay_ns: got {self.delay_ns}, expected 0 or more": self.delay_ns >= 0,
            f"loss_probability: got {self.loss_probability}, expected 0 to 1": (
                0 <= self.loss_probability <= 1
            ),
            f"lost_ip_id_mask: got {self.lost_ip_id_mask}, expected 1 to 65535": (
                self.lost_ip_id_mask is None or 0 < self.lost_ip_id_mask < 2**16
            ),
        }
        return next((text for text, is_right in checks.items() if not is_right), None)


def burst_bytes(rate_bps: int) -> int:
    """What a class of that rate may send at once."""
    return max(BURST_BYTES_MIN, round(rate_bps / 8 * BURST_S))


def port_lines(interface: str, port: PortSettings) -> list[str]:
    """The port's tree, for an interface without one."""
    has_netem = port.delay_ns > 0 or port.loss_probability > 0
    return [
        *(_netem(interface, port) if has_netem else ()),
        *(_shaper(interface, port, "parent 1:1" if has_netem else "root") if port.rate_bps else ()),
        *(_ip_id_filters(interface, port) if port.lost_ip_id_mask else ()),
    ]


def port_trees(
    switch: str, interfaces: Mapping[str, str], ports: Mapping[str, PortSettings]
) -> dict[str, list[str]]:
    """Per interface the lines of its port; a port without settings has none.

    interfaces: of every port of the switch, by the port's name.
    NodeError if the switch lacks a port, or its settings are wrong.
    """
    for name, settings in ports.items():
        if name not in interfaces:
            raise NodeError(f"{switch}: got port {name!r}, expected one of {', '.join(interfaces)}")
        if (mistake := settings.mistake()) is not None:
            raise NodeError(f"{switch}: port {name}: {mistake}")
    return {
        interface: port_lines(interface, ports[name]) if name in ports else []
        for name, interface in interfaces.items()
    }


def clear_lines(interface: str) -> list[str]:
    """Take away whatever tree there is; each deletion is preceded by what it deletes, so that none fails."""
    return [
        f"qdisc replace dev {interface} root handle ffe0: pfifo",
        f"qdisc del dev {interface} root",
        f"qdisc replace dev {interface} clsact",
        f"qdisc del dev {interface} clsact",
    ]


def _netem(interface: str, port: PortSettings) -> Iterator[str]:
    """Its limit is never what drops a packet: it counts what waits in the queue inside it, too."""
    rate_bps = max(port.rate_bps or 0, _ARRIVAL_RATE_BPS)
    on_cable_bytes = port.delay_ns * rate_bps // (8 * 10**9)
    packets = _DELAYED_PACKETS_MIN + (on_cable_bytes + port.queue_bytes) // _SMALL_PACKET_BYTES
    what = f"delay {port.delay_ns / 1000:.3f}us loss {100 * port.loss_probability:.7f}%"
    yield f"qdisc add dev {interface} root handle 1: netem limit {packets} {what}"


def _shaper(interface: str, port: PortSettings, parent: str) -> Iterator[str]:
    assert port.rate_bps
    burst = port.burst_bytes or burst_bytes(port.rate_bps)
    yield f"qdisc add dev {interface} {parent} handle 2: htb default 10"
    yield (
        f"class add dev {interface} parent 2: classid 2:10 htb rate {port.rate_bps}bit burst {burst} "
        f"cburst {burst} quantum 10000 overhead {WIRE_OVERHEAD_BYTES} mpu {MIN_WIRE_BYTES}"
    )
    yield f"qdisc add dev {interface} parent 2:10 handle {QUEUE_HANDLE}: {_queue(port)}"


def _queue(port: PortSettings) -> str:
    if port.red_min_bytes is None or port.red_max_bytes is None:
        return f"bfifo limit {port.queue_bytes}"
    average = _MEAN_PACKET_BYTES
    burst = -(-(2 * port.red_min_bytes + port.red_max_bytes) // (3 * average)) + 1
    if port.red_is_prompt:
        burst = -(-port.red_min_bytes // average)  # tc refuses less; each packet weighs a half in the mean
    rate_bps = min(port.rate_bps or 0, RED_RATE_BPS_MAX)
    return (
        f"red limit {port.queue_bytes} min {port.red_min_bytes} max {port.red_max_bytes} avpkt {average} "
        f"burst {burst} bandwidth {rate_bps}bit probability {port.red_probability:g} ecn nodrop"
    )


def _ip_id_filters(interface: str, port: PortSettings) -> Iterator[str]:
    """Match UDP to RoCE's port, and the IP ID: bytes 4 and 5 of an IPv4 header without options.

    Of one priority u32 would show the filters of both ways as those of each.
    Source: Linux, net/sched/cls_u32.c (u32_walk).
    """
    mask = port.lost_ip_id_mask
    yield f"qdisc add dev {interface} clsact"
    ways = ("egress", "ingress") if port.loses_what_comes else ("egress",)
    for priority, way in enumerate(ways, start=1):
        yield (
            f"filter add dev {interface} {way} protocol ip prio {priority} u32 match ip protocol 17 0xff "
            f"match ip dport 4791 0xffff match u16 {mask:#06x} {mask:#06x} at 4 action drop"
        )


@dataclass(frozen=True, slots=True)
class PortCounters:
    """What a port has counted since its settings were applied."""

    sent_bytes: int = 0
    sent_packets: int = 0
    dropped_packets: int = 0
    """The queue was full."""
    lost_packets: int = 0
    """Lost on purpose."""
    marked_packets: int = 0
    backlog_bytes: int = 0
    """In the queue now."""


def port_counters(disciplines: list[dict[str, Any]], filtered_packets: int) -> PortCounters:
    """Sum up what the disciplines of one interface have counted.

    netem counts what its inner disciplines drop among its own drops.
    """
    root = next((each for each in disciplines if each.get("root")), None)
    if root is None:
        return PortCounters()
    queue = next((each for each in disciplines if each["handle"] == f"{QUEUE_HANDLE}:"), None)
    is_netem = root["kind"] == "netem"
    dropped = queue["drops"] if queue else (0 if is_netem else root["drops"])
    return PortCounters(
        sent_bytes=root["bytes"],
        sent_packets=root["packets"],
        dropped_packets=dropped,
        lost_packets=filtered_packets + (root["drops"] - dropped if is_netem else 0),
        marked_packets=(queue or root).get("marked", 0),
        backlog_bytes=(queue or root)["backlog"],
    )


def waiting_packets(disciplines: list[dict[str, Any]]) -> int:
    """Packets in the queue of one interface and on the cable behind it, which netem emulates."""
    return next((int(each["qlen"]) for each in disciplines if each.get("root")), 0)


def filter_drops(filters: list[dict[str, Any]]) -> int:
    """Packets that actions of filters have dropped."""
    actions = [action for each in filters for action in each.get("options", {}).get("actions", [])]
    return sum(int(action.get("stats", {}).get("drops", 0)) for action in actions)


_CANCEL_CUTS: Final = (
    "for cut in /run/rogue-cut-*; do "
    '[ -e "$cut" ] || continue; kill -- "-${cut##*-}" 2>/dev/null; rm -f "$cut"; done; '
)
# A cut ends by itself: the link comes back even if the connection is lost.
_CUT: Final = """\
touch /run/rogue-cut-$$
left=$(( ({at_ns} - $(date +%s%N)) / 1000000 ))
if [ $left -gt 0 ]; then sleep $((left / 1000)).$(printf %03d $((left % 1000))); fi
ip link set dev {interface} down
sleep {duration_s:.3f}
ip link set dev {interface} up
rm -f /run/rogue-cut-$$
"""


class SwitchConnection:
    """One verified SSH connection to the switch machine; a context manager.

    Every failure is a NodeError that names the switch and the command.
    """

    def __init__(self, inventory: Inventory) -> None:
        if inventory.switch is None:
            raise NodeError(f"inventory {inventory.path}: it has no switch, so no port can be set")
        self._login = inventory.switch.login
        self._interfaces = inventory.switch.interfaces
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._shell: Shell = self._stack.enter_context(connect(self._login))
        self._offset_s = clock_offset(self._shell).offset_s
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def apply(self, ports: Mapping[str, PortSettings]) -> None:
        """Set every port anew, by name; ports that are left out get the kernel's own queues.

        Queues, counters and pending cuts of an earlier cell are removed.
        """
        up, lines = [], []
        for interface, tree in port_trees(self._login.node, self._interfaces, ports).items():
            up.append(f"ip link set dev {interface} up; ")
            lines += [*clear_lines(interface), *tree]
        self._run("".join([_CANCEL_CUTS, *up, "tc -batch -"]), "".join(f"{line}\n" for line in lines))

    def counters(self) -> dict[str, PortCounters]:
        """Return the counters of every port."""
        disciplines: dict[str, list[dict[str, Any]]] = {}
        for discipline in json.loads(self._run("tc -s -j qdisc show")):
            disciplines.setdefault(discipline["dev"], []).append(discipline)
        return {
            name: port_counters(disciplines.get(interface, []), self._filtered(interface, disciplines))
            for name, interface in self._interfaces.items()
        }

    def cut(self, port: str, *, after_s: float, duration_s: float) -> None:
        """Take a link down in both directions, after a delay and for a duration; do not wait.

        Queued packets are lost, arriving packets are dropped, and the port's settings stay.
        """
        at_ns = round((time.time() + self._offset_s + after_s) * 1e9)
        script = _CUT.format(at_ns=at_ns, interface=self._interface(port), duration_s=duration_s)
        self._run(f"setsid sh -c {shlex.quote(script)} </dev/null >/dev/null 2>&1 &")

    def _filtered(self, interface: str, disciplines: Mapping[str, list[dict[str, Any]]]) -> int:
        """Return the packets that the port's filter for IP IDs has dropped."""
        kinds = {discipline["kind"] for discipline in disciplines.get(interface, [])}
        if "clsact" not in kinds:
            return 0
        return filter_drops(json.loads(self._run(f"tc -s -j filter show dev {interface} egress") or "[]"))

    def _interface(self, port: str) -> str:
        if port not in self._interfaces:
            known = ", ".join(self._interfaces)
            raise NodeError(f"{self._login.node}: got port {port!r}, expected one of {known}")
        return self._interfaces[port]

    def _run(self, script: str, text: str = "") -> str:
        command = f"export {PROGRAMS}; {script}"
        if self._login.user != "root":
            command = f"sudo -n sh -c {shlex.quote(command)}"
        return self._shell.run(command, text)
