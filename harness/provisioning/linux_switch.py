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
from rogue.remote.connection import Connection, connect
from rogue.remote.errors import NodeError

WIRE_OVERHEAD_BYTES: Final = 24
"""Ethernet preamble, checksum and gap, which the kernel does not count."""
MIN_WIRE_BYTES: Final = 84
BURST_BYTES_MIN: Final = 32_000
"""With less a class misses its rate when the switch's timer is late."""
BURST_S: Final = 0.001
QUEUE_HANDLE: Final = 3
"""Major number of the qdisc that is a port's queue."""
_DEFAULT_QUEUE_BYTES: Final = 1_000_000
RED_RATE_BPS_MAX: Final = 34_000_000_000
"""Limit of tc: 32 bits of bytes per second. The rate only sets how fast the average of an idle port decays.
Source: iproute2, tc/q_red.c (get_rate); tc-red(8), bandwidth."""
_MEAN_PACKET_BYTES: Final = 1_000
PROMPT_RED_BYTES_MIN: Final = 2 * _MEAN_PACKET_BYTES
"""`tc` needs at least two packets for a mean."""
_SMALL_PACKET_BYTES: Final = 64
_ARRIVAL_RATE_BPS: Final = 1_000_000_000
"""Largest rate at which a switch of a virtual testbed receives."""
_DELAYED_PACKETS_MIN: Final = 1_000


@dataclass(frozen=True, slots=True)
class PortSettings:
    """Queue, marking, delay and loss of a port; the defaults are the kernel's."""

    rate_bps: int | None = None
    """None for no limit."""
    queue_bytes: int = _DEFAULT_QUEUE_BYTES
    """Capacity of the queue."""
    red_min_bytes: int | None = None
    """Queue length at which ECN marking begins; None for no marking."""
    red_max_bytes: int | None = None
    """Queue length at which marking reaches its probability; beyond, every packet is marked."""
    red_probability: float = 1.0
    red_is_prompt: bool = False
    """True if marks follow the queue of the last packets; otherwise its mean over some tens."""
    delay_ns: int = 0
    loss_probability: float = 0.0
    burst_bytes: int | None = None
    """Largest burst; None for the burst that a switch with late timers needs."""
    lost_ip_id_mask: int | None = None
    """RoCE packets are lost whose IP ID has all of these bits set."""
    loses_arriving: bool = False
    """True if packets from the port's peer are also lost by IP ID."""

    def mistake(self) -> str | None:
        """Return the first wrong threshold, as `key: got ..., expected ...`; None if all are right."""
        low, high = self.red_min_bytes, self.red_max_bytes
        if low is None and high is None:
            return None
        if low is None or high is None:
            return f"red_min_bytes and red_max_bytes: got {low} and {high}, expected both or neither"
        if not low < high <= self.queue_bytes:
            expected = "more than red_min_bytes and at most queue_bytes"
            return f"red_max_bytes: got {high}, expected {expected}"
        if self.red_is_prompt and low < PROMPT_RED_BYTES_MIN:
            expected = f"{PROMPT_RED_BYTES_MIN} or more where marks are prompt"
            return f"red_min_bytes: got {low}, expected {expected}"
        return None if self.rate_bps else "red_min_bytes: got it without rate_bps, expected a rate"


def burst_bytes(rate_bps: int) -> int:
    """Return the largest burst of a class of that rate."""
    return max(BURST_BYTES_MIN, round(rate_bps / 8 * BURST_S))


def port_lines(interface: str, port: PortSettings) -> list[str]:
    """Return the tc lines of the port's tree, for an interface without one."""
    has_netem = port.delay_ns > 0 or port.loss_probability > 0
    return [
        *(_netem(interface, port) if has_netem else ()),
        *(_shaper(interface, port, "parent 1:1" if has_netem else "root") if port.rate_bps else ()),
        *(_ip_id_filters(interface, port) if port.lost_ip_id_mask else ()),
    ]


def port_trees(
    switch: str, interfaces: Mapping[str, str], ports: Mapping[str, PortSettings]
) -> dict[str, list[str]]:
    """Return the lines of each interface; a port without settings has none.

    interfaces: by the name of the port.
    NodeError if the switch lacks a port, or its settings are wrong.
    """
    for name, settings in ports.items():
        _interface_of(name, switch, interfaces)
        if (mistake := settings.mistake()) is not None:
            raise NodeError(f"{switch}: port {name}: {mistake}")
    return {
        interface: port_lines(interface, ports[name]) if name in ports else []
        for name, interface in interfaces.items()
    }


def _interface_of(port: str, switch: str, interfaces: Mapping[str, str]) -> str:
    if port not in interfaces:
        raise NodeError(f"{switch}: got port {port!r}, expected one of {', '.join(interfaces)}")
    return interfaces[port]


def clear_lines(interface: str) -> list[str]:
    """Return lines that remove any tree; each first adds what it then deletes, so that none fails."""
    return [
        f"qdisc replace dev {interface} root handle ffe0: pfifo",
        f"qdisc del dev {interface} root",
        f"qdisc replace dev {interface} clsact",
        f"qdisc del dev {interface} clsact",
    ]


def _netem(interface: str, port: PortSettings) -> Iterator[str]:
    """Yield netem with a limit that never drops, because it also counts packets of the inner queue."""
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


def _red_weight_bits(burst: int, min_packets: float) -> int:
    """Return -log2 of the weight that tc gives each packet.

    Source: iproute2, tc/tc_red.c (tc_red_eval_ewma).
    """
    packets = burst + 1 - min_packets
    return next((n for n in range(1, 32) if packets <= (1 - (1 - 2.0**-n) ** burst) * 2**n), 32)


def _queue(port: PortSettings) -> str:
    if port.red_min_bytes is None or port.red_max_bytes is None:
        return f"bfifo limit {port.queue_bytes}"
    average = _MEAN_PACKET_BYTES
    burst = -(-(2 * port.red_min_bytes + port.red_max_bytes) // (3 * average)) + 1
    least = -(-port.red_min_bytes // average)  # that tc accepts; each packet has half of the weight
    if port.red_is_prompt:
        burst = least
    # Linux takes thresholds and weights of 32 bits together (net/sched/red.h, red_check_params).
    while _red_weight_bits(burst, port.red_min_bytes / average) + port.red_max_bytes.bit_length() > 31:
        burst -= max(1, (burst - least) // 64)
    rate_bps = min(port.rate_bps or 0, RED_RATE_BPS_MAX)
    return (
        f"red limit {port.queue_bytes} min {port.red_min_bytes} max {port.red_max_bytes} avpkt {average} "
        f"burst {burst} bandwidth {rate_bps}bit probability {port.red_probability:g} ecn nodrop"
    )


def _ip_id_filters(interface: str, port: PortSettings) -> Iterator[str]:
    """Match UDP to RoCE's port, and the IP ID: bytes 4 and 5 of an IPv4 header without options.

    With equal priorities u32 would list the filters of both directions for each of them.
    Source: Linux, net/sched/cls_u32.c (u32_walk).
    """
    mask = port.lost_ip_id_mask
    yield f"qdisc add dev {interface} clsact"
    directions = ("egress", "ingress") if port.loses_arriving else ("egress",)
    for priority, direction in enumerate(directions, start=1):
        yield (
            f"filter add dev {interface} {direction} protocol ip prio {priority} u32 match ip protocol 17 "
            f"0xff match ip dport 4791 0xffff match u16 {mask:#06x} {mask:#06x} at 4 action drop"
        )


@dataclass(frozen=True, slots=True)
class PortCounters:
    """Counters of a port since its settings were applied."""

    sent_bytes: int = 0
    sent_packets: int = 0
    dropped_packets: int = 0
    """Dropped by a full queue."""
    lost_packets: int = 0
    """Lost by netem or by a filter."""
    marked_packets: int = 0
    backlog_bytes: int = 0
    """Bytes in the queue."""


def port_counters(disciplines: list[dict[str, Any]], filtered_packets: int) -> PortCounters:
    """Return the counters of one interface, from its disciplines.

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
    """Return the packets in the queue of one interface and on its cable, which netem emulates."""
    return next((int(each["qlen"]) for each in disciplines if each.get("root")), 0)


def filter_drops(filters: list[dict[str, Any]]) -> int:
    """Return the packets that actions of filters have dropped."""
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
        self._connection: Connection = self._stack.enter_context(connect(self._login))
        self._offset_s = clock_offset(self._connection).offset_s
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
        interface = _interface_of(port, self._login.node, self._interfaces)
        script = _CUT.format(at_ns=at_ns, interface=interface, duration_s=duration_s)
        self._run(f"setsid sh -c {shlex.quote(script)} </dev/null >/dev/null 2>&1 &")

    def _filtered(self, interface: str, disciplines: Mapping[str, list[dict[str, Any]]]) -> int:
        """Return the packets that the port's filter for IP IDs has dropped."""
        kinds = {discipline["kind"] for discipline in disciplines.get(interface, [])}
        if "clsact" not in kinds:
            return 0
        return filter_drops(json.loads(self._run(f"tc -s -j filter show dev {interface} egress") or "[]"))

    def _run(self, script: str, text: str = "") -> str:
        command = f"export {PROGRAMS}; {script}"
        if self._login.user != "root":
            command = f"sudo -n sh -c {shlex.quote(command)}"
        return self._connection.run(command, text)
