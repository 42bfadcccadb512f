"""Tests: measure whether packets arrive marked, as the inventory declares."""

import json
from dataclasses import replace
from typing import Any

import pytest
from helpers.fake_agents import fake_inventory
from helpers.fake_switch import hardware, wanted

from rogue.harness.provisioning.findings import Finding
from rogue.harness.provisioning.inventory import Host, Inventory
from rogue.harness.provisioning.measured_marks import (
    LIMIT_S,
    Arrived,
    FloodCounts,
    arrived_until_now,
    flood_command,
    judge,
    measure_marks,
)
from rogue.remote.errors import NodeError

NETSTAT = """\
TcpExt: SyncookiesSent SyncookiesRecv
TcpExt: 0 0
IpExt: InNoRoutes InOctets InNoECTPkts InECT1Pkts InECT0Pkts InCEPkts ReasmOverlaps
IpExt: 0 123456 {not_capable} 1 {capable} {marked} 0
"""
HEARD = FloodCounts(20_000, 20_000 * 1500, 1.0, Arrived(40, 9_000, 1_000), 0)
"""Half of what two hosts sent arrived, a tenth of that marked."""


def host(name: str = "h0") -> Host:
    own = fake_inventory().hosts[0]
    return replace(own, login=replace(own.login, node=name))


def said(heard: FloodCounts, *rates_bps: float) -> str:
    return str(judge(host(), heard, *rates_bps))


def test_one_mark_is_enough() -> None:
    assert judge(host(), HEARD) is None
    assert judge(host(), replace(HEARD, arrived=Arrived(40, 9_999, 1))) is None


def test_full_port_without_marks_is_refused() -> None:
    unmarked = replace(HEARD, arrived=Arrived(40, 9_960, 0))
    assert said(unmarked) == (
        "refused: h0: marks by the switch: got 10000 packets, 0 of them marked and 9960 that could be, "
        "expected marked ones among them, as its port was full; set the switch up to mark packets with this "
        "DSCP, or correct switch_priorities."
    )


def test_rate_shows_a_full_port_without_loss() -> None:
    """A pausing priority has no loss: 20 000 packets of 1500 bytes in a second are 240 Mb/s."""
    paused = replace(HEARD, arrived=Arrived(0, 20_000, 0))
    assert said(paused, 250e6).startswith("refused: h0: marks by the switch: got 20000 packets, 0 of them")
    assert said(paused, 300e6).startswith("warning: h0: marks by the switch: got 20000 packets, 0 of them")
    assert "expected a full port, which two hosts could not fill" in said(paused)


def test_loss_below_the_line_rate_is_not_of_the_port() -> None:
    """240 Mb/s were offered: a port of 1 Gb/s was not full, whatever the receiver dropped."""
    dropped = replace(HEARD, arrived=Arrived(0, 14_000, 0))
    assert said(dropped, 1e9).startswith("warning: h0")
    assert said(dropped, 200e6).startswith("refused: h0")


def test_rewritten_bits_and_dropped_packets() -> None:
    assert "expected packets that are ECN-capable" in said(replace(HEARD, arrived=Arrived(9_000, 10, 0)))
    assert "expected most of 20000 packets" in said(replace(HEARD, arrived=Arrived(10, 900, 5)))


def test_marks_without_a_full_port_are_refused() -> None:
    alone = replace(HEARD, marked_alone=3)
    assert "got 3 marked packets while one host alone sent" in said(alone, 10e9, 10e9)
    assert judge(host(), alone, 10e9, 25e9) is None, "a faster host fills the port alone"
    assert judge(host(), alone) is None, "perhaps each of them is faster"


def test_kernel_counters() -> None:
    assert arrived_until_now(NETSTAT.format(not_capable=5, capable=7, marked=3)) == Arrived(5, 8, 3)
    ipv6 = "Ip6InNoECTPkts \t2\nIp6InECT1Pkts \t1\nIp6InECT0Pkts \t10\nIp6InCEPkts \t20\nIp6OutRequests \t9\n"
    both = NETSTAT.format(not_capable=5, capable=7, marked=3) + ipv6
    assert arrived_until_now(both) == Arrived(7, 19, 23)
    with pytest.raises(NodeError, match="got 0 lines IpExt"):
        arrived_until_now("TcpExt: a\n")


class FakeConnection:
    """A host on a switch that marks packets when two hosts send, or a host without an agent."""

    def __init__(self, node: str, network: "FakeNetwork") -> None:
        self._node, self._network = node, network

    def run(self, command: str, text: str = "", *, limit_s: float = 0.0) -> str:
        assert limit_s > LIMIT_S or not command.startswith("timeout")
        return self._network.run(self._node, command)


class FakeNetwork:
    def __init__(self, marked: int, broken: str = "") -> None:
        self.marked, self.broken = marked, broken
        self.floods: list[str] = []
        self.capable = 0
        self.prefix = ""

    def run(self, node: str, command: str) -> str:
        if command.startswith("timeout"):
            if node == self.broken:
                raise NodeError(f"{node}: `flood` failed: no agent")
            self.floods.append(f"{node}: {command}")
            self.capable += 500
            return self.prefix + json.dumps({"packets": 1_000, "bytes": 1_500_000, "seconds": 1.0})
        marked = self.marked * (len(self.floods) // 3)
        return NETSTAT.format(not_capable=0, capable=self.capable, marked=marked)


def rack_of_marks(hosts: int, **variables: Any) -> Inventory:
    switch = hardware(wanted("declared", **variables), None)
    named = tuple(host(f"h{number}") for number in range(hosts))
    return replace(fake_inventory(), switch=None, hosts=named, hardware_switches=(switch,))


def measured(network: FakeNetwork, inventory: Inventory) -> list[Finding]:
    shells: Any = {host.name: FakeConnection(host.name, network) for host in inventory.hosts}
    return measure_marks(inventory, {}, shells)


def test_one_then_two_hosts_send_to_each_host() -> None:
    network = FakeNetwork(marked=9)
    assert measured(network, rack_of_marks(3)) == []
    assert len(network.floods) == 9
    assert network.floods[0] == f"h1: {flood_command(host('h1'), host('h0'))}"
    assert sorted(each[:2] for each in network.floods[1:3]) == ["h1", "h2"]


def test_each_unmarked_port_is_a_finding() -> None:
    findings = measured(FakeNetwork(marked=0), rack_of_marks(3))
    assert [finding.node for finding in findings] == ["h0", "h1", "h2"]
    assert all(finding.refuses for finding in findings)


def test_failing_host_is_a_finding() -> None:
    finding = measured(FakeNetwork(marked=9, broken="h2"), rack_of_marks(3))[0]
    assert (finding.got, finding.expected) == ("h2: `flood` failed: no agent", "packets that arrive")


def test_without_declared_marks_nothing_is_sent() -> None:
    network = FakeNetwork(marked=0)
    assert measured(network, rack_of_marks(3, switch_priorities={"3": {"pauses": True}})) == []
    assert measured(network, fake_inventory()) == []
    assert network.floods == []


def test_two_hosts_are_too_few() -> None:
    (finding,) = measured(FakeNetwork(marked=0), rack_of_marks(2))
    assert str(finding) == (
        "warning: tor: marks by the switch: got 2 hosts, expected three, as one alone cannot fill the "
        "port to another; what the inventory declares is believed."
    )
