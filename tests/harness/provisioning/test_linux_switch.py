"""Tests: ports of a Linux switch."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from rogue.harness.provisioning import linux_switch as module
from rogue.harness.provisioning.clocks import ClockOffset
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.linux_switch import (
    PortCounters,
    PortSettings,
    SwitchConnection,
    clear_lines,
    port_counters,
    port_lines,
    waiting_packets,
)
from rogue.remote.errors import NodeError
from rogue.remote.login import Login

HUNDRED_MBPS = PortSettings(rate_bps=100_000_000, queue_bytes=1_500_000)


def test_rate_and_queue() -> None:
    assert port_lines("eth2", HUNDRED_MBPS) == [
        "qdisc add dev eth2 root handle 2: htb default 10",
        "class add dev eth2 parent 2: classid 2:10 htb rate 100000000bit burst 32000 cburst 32000 "
        "quantum 10000 overhead 24 mpu 84",
        "qdisc add dev eth2 parent 2:10 handle 3: bfifo limit 1500000",
    ]


def test_marking_queue_replaces_the_fifo() -> None:
    red = replace(HUNDRED_MBPS, red_min_bytes=30_000, red_max_bytes=90_000)
    # burst: (2 * 30 000 + 90 000) / (3 * 1 000) = 50, and one more than tc asks for
    assert port_lines("eth2", red)[-1] == (
        "qdisc add dev eth2 parent 2:10 handle 3: red limit 1500000 min 30000 max 90000 avpkt 1000 burst 51 "
        "bandwidth 100000000bit probability 1 ecn nodrop"
    )


def test_prompt_marks() -> None:
    prompt = replace(HUNDRED_MBPS, red_min_bytes=60_719, red_max_bytes=60_720, red_is_prompt=True)
    # as many packets of 1 000 bytes as the least queue holds: tc takes a half as the weight of each
    assert " avpkt 1000 burst 61 " in port_lines("eth2", prompt)[-1]
    assert "expected 2000 or more" in (replace(prompt, red_min_bytes=1_999).mistake() or "")


def test_netem_is_the_root() -> None:
    port = replace(HUNDRED_MBPS, delay_ns=2_000_000, loss_probability=0.001)
    # 2 ms at the 1 Gb/s at which packets may come, in packets of 64 bytes: 3906, beside 1000
    assert port_lines("eth2", port)[:2] == [
        "qdisc add dev eth2 root handle 1: netem limit 28343 delay 2000.000us loss 0.1000000%",
        "qdisc add dev eth2 parent 1:1 handle 2: htb default 10",
    ]


def test_loss_by_ip_id_is_a_filter() -> None:
    assert port_lines("eth2", PortSettings(lost_ip_id_mask=0x0FFF)) == [
        "qdisc add dev eth2 clsact",
        "filter add dev eth2 egress protocol ip prio 1 u32 match ip protocol 17 0xff "
        "match ip dport 4791 0xffff match u16 0x0fff 0x0fff at 4 action drop",
    ]


def test_loss_by_ip_id_of_arriving_packets() -> None:
    lines = port_lines("eth2", PortSettings(lost_ip_id_mask=0x0FFF, loses_arriving=True))
    assert lines[1].replace("egress", "ingress").replace("prio 1", "prio 2") == lines[2]


def test_clear_adds_before_it_deletes() -> None:
    lines = clear_lines("eth2")
    for made, deleted in zip(lines[::2], lines[1::2], strict=True):
        assert made.startswith("qdisc replace dev eth2 ")
        assert deleted == f"qdisc del dev eth2 {made.split()[4]}"


@pytest.mark.parametrize(
    ("port", "mistake"),
    [
        (replace(HUNDRED_MBPS, red_min_bytes=1), "expected both or neither"),
        (replace(HUNDRED_MBPS, red_min_bytes=9, red_max_bytes=9), "red_max_bytes: got 9"),
        (replace(HUNDRED_MBPS, red_min_bytes=9, red_max_bytes=1_500_001), "red_max_bytes: got 1500001"),
        (PortSettings(red_min_bytes=1, red_max_bytes=2), "expected a rate"),
    ],
)
def test_port_mistakes(port: PortSettings, mistake: str) -> None:
    assert mistake in (port.mistake() or "")


def test_red_rate_is_capped() -> None:
    """tc refuses RED a rate of more than 32 bits of bytes per second."""
    port = PortSettings(rate_bps=40 * 10**9, red_min_bytes=60_000, red_max_bytes=60_001)
    assert port_lines("eth2", port)[-1].endswith("bandwidth 34000000000bit probability 1 ecn nodrop")
    assert 34 * 10**9 // 8 < 2**32 <= 40 * 10**9 // 8


def discipline(kind: str, handle: str, **counted: object) -> dict[str, Any]:
    """Return one element of the output of `tc -s -j qdisc show`."""
    empty = {"dev": "eth1", "bytes": 0, "packets": 0, "drops": 0, "backlog": 0}
    return {**empty, "kind": kind, "handle": handle, **counted}


def test_netem_losses_exclude_queue_drops() -> None:
    counted = [
        discipline("netem", "1:", root=True, bytes=900, packets=9, drops=10),
        discipline("htb", "2:", parent="1:1", drops=7),
        discipline("red", "3:", parent="2:10", drops=7, marked=20, backlog=30),
    ]
    assert port_counters(counted, 0) == PortCounters(900, 9, 7, 3, 20, 30)


def test_counters_without_a_rate() -> None:
    alone = [discipline("fq_codel", "0:", root=True, drops=2)]
    assert port_counters(alone, 0) == PortCounters(dropped_packets=2)
    lossy = [discipline("netem", "1:", root=True, drops=2)]
    assert port_counters(lossy, 0) == PortCounters(lost_packets=2)


def test_waiting_packets_are_those_of_the_root() -> None:
    tree = [discipline("htb", "2:", qlen=3), discipline("netem", "1:", root=True, qlen=5)]
    assert waiting_packets(tree) == 5
    assert waiting_packets([]) == 0


PLAIN_HUNDRED_MBPS = PortSettings(rate_bps=100_000_000)


class FakeConnection:
    """A switch with prepared replies."""

    def __init__(self, login: Login) -> None:
        self.login = login
        self.commands: list[tuple[str, str]] = []
        self.disciplines: list[dict[str, Any]] = []

    def run(self, command: str, text: str = "") -> str:
        self.commands.append((command, text))
        if "qdisc show" in command:
            return json.dumps(self.disciplines)
        if "filter show" in command:
            return json.dumps([{}, {"options": {"actions": [{"stats": {"packets": 5, "drops": 5}}]}}])
        return ""


@pytest.fixture
def shells(monkeypatch: pytest.MonkeyPatch) -> list[FakeConnection]:
    opened: list[FakeConnection] = []

    @contextmanager
    def connect(login: Login) -> Iterator[FakeConnection]:
        opened.append(FakeConnection(login))
        yield opened[-1]

    monkeypatch.setattr(module, "connect", connect)
    monkeypatch.setattr(module, "clock_offset", lambda shell: ClockOffset(1000.0, 0.01))
    monkeypatch.setattr(module.time, "time", lambda: 50.0)
    return opened


def test_apply_clears_every_port_and_sets_named_ones(
    inventory: Inventory, shells: list[FakeConnection]
) -> None:
    with SwitchConnection(inventory) as switch:
        switch.apply({"s0->h1": PLAIN_HUNDRED_MBPS})
    (command, lines) = shells[0].commands[0]
    assert shells[0].login.node == "fabric"
    assert command.endswith("ip link set dev eth1 up; ip link set dev eth2 up; tc -batch -")
    assert lines.splitlines() == [
        *clear_lines("eth1"),
        *clear_lines("eth2"),
        *port_lines("eth2", PLAIN_HUNDRED_MBPS),
    ]


def test_unknown_port_or_wrong_setting_changes_nothing(
    inventory: Inventory, shells: list[FakeConnection]
) -> None:
    with SwitchConnection(inventory) as switch:
        with pytest.raises(NodeError, match="fabric: got port 's0->h7', expected one of s0->h0, s0->h1"):
            switch.cut("s0->h7", after_s=0, duration_s=1)
        with pytest.raises(NodeError, match="fabric: got port 's0->h7', expected one of s0->h0, s0->h1"):
            switch.apply({"s0->h7": PLAIN_HUNDRED_MBPS})
        with pytest.raises(NodeError, match="fabric: port s0->h1: red_max_bytes: got 9"):
            switch.apply({"s0->h1": replace(PLAIN_HUNDRED_MBPS, red_min_bytes=9, red_max_bytes=9)})
    assert shells[0].commands == []


def test_an_inventory_without_a_switch_is_refused(inventory: Inventory) -> None:
    with pytest.raises(NodeError, match="it has no switch"):
        SwitchConnection(replace(inventory, switch=None))


def test_cut_uses_the_clock_of_the_switch(inventory: Inventory, shells: list[FakeConnection]) -> None:
    with SwitchConnection(inventory) as switch:
        switch.cut("s0->h1", after_s=1.5, duration_s=2)
    command = shells[0].commands[0][0]
    assert "setsid sh -c " in command
    assert str(1_051_500_000_000) in command  # 50 s here is 1050 s there
    assert "ip link set dev eth2 down\nsleep 2.000\nip link set dev eth2 up" in command
    assert subprocess.run(["sh", "-n", "-c", command], check=False).returncode == 0


def test_other_users_use_sudo(inventory: Inventory, shells: list[FakeConnection]) -> None:
    assert inventory.switch is not None
    login = replace(inventory.switch.login, user="alice")
    with SwitchConnection(replace(inventory, switch=replace(inventory.switch, login=login))) as switch:
        switch.apply({})
    assert shells[0].commands[0][0].startswith("sudo -n sh -c ")


def test_counters_of_every_port(inventory: Inventory, shells: list[FakeConnection]) -> None:
    with SwitchConnection(inventory) as switch:
        shells[0].disciplines = [
            discipline("htb", "2:", root=True, bytes=900, packets=9, drops=4),
            discipline("bfifo", "3:", parent="2:10", drops=4, backlog=70),
            discipline("clsact", "ffff:", parent="ffff:fff1"),
        ]
        counters = switch.counters()
    assert counters["s0->h0"] == PortCounters(900, 9, dropped_packets=4, lost_packets=5, backlog_bytes=70)
    assert counters["s0->h1"] == PortCounters()


@pytest.mark.parametrize("gbps", [0.1, 1, 2.5, 4, 10, 25, 40, 100])
@pytest.mark.parametrize("ms", [0.5, 2.4, 3, 9])
def test_average_of_a_long_queue_fits_the_kernels_32_bits(gbps: float, ms: float) -> None:
    """Linux takes thresholds and weights of 32 bits together; tc chooses the weight for a burst."""
    high_bytes = round(gbps * ms * 125_000)
    port = PortSettings(
        rate_bps=round(gbps * 10**9),
        queue_bytes=high_bytes,
        red_min_bytes=high_bytes // 3,
        red_max_bytes=high_bytes,
    )
    (line,) = (each for each in port_lines("eth1", port) if " red " in each)
    burst = int(line.split(" burst ")[1].split()[0])
    packets = burst + 1 - port.red_min_bytes / 1000 if port.red_min_bytes else 0
    assert packets >= 1
    bits = next(n for n in range(1, 32) if packets <= (1 - (1 - 2.0**-n) ** burst) * 2**n)
    assert bits + high_bytes.bit_length() < 32
