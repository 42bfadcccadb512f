"""Test the network and the orders that a kernel gets."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.agent.node.messages import Prepare
from rogue.agent.node.wire import REQUEST_TYPES, decode
from rogue.harness.cell.network import egress_ports
from rogue.harness.provisioning.linux_switch import PortSettings
from rogue.harness.testbeds.ends.roles import plan_roles
from rogue.harness.testbeds.kernel.network import (
    DISCIPLINES,
    burst_bytes,
    limiter_burst_bytes,
    network_commands,
    orders_of,
    port_settings,
)
from rogue.workloads.topologies import Topology

TEXT = """
name: small
topology: {kind: star, hosts: 2, rate: 10Gbps, delay: 2us, mtu: 1024}
workload: {kind: incast, senders: 1, size: 1MB}
transports: [roce]
"""
LINKS = """\
link set lo up
link add s0 type bridge
link set s0 mtu 1500 up
link add h0 address 02:00:0a:00:00:01 mtu 1500 type veth peer name p0b mtu 1500
link set h0 up
link set p0b master s0 up
link add h1 address 02:00:0a:00:00:02 mtu 1500 type veth peer name p1b mtu 1500
link set h1 up
link set p1b master s0 up
link set h0 gso_max_segs 1
address add 10.0.0.1/16 dev h0 noprefixroute
route append 10.0.0.0/16 dev h0 src 10.0.0.1 advmss 1460
neighbour add 10.0.0.2 lladdr 02:00:0a:00:00:02 dev h0 nud permanent
link set h1 gso_max_segs 1
address add 10.0.0.2/16 dev h1 noprefixroute
route append 10.0.0.0/16 dev h1 src 10.0.0.2 advmss 1460
neighbour add 10.0.0.1 lladdr 02:00:0a:00:00:01 dev h1 nud permanent
"""
BUFFER = 4_500_000
SHAPE = "htb rate 10000000000bit burst 1375 cburst 1375 quantum 10000 overhead 24 mpu 84"


def set_ports(topology: Topology) -> dict[str, PortSettings]:
    return port_settings(egress_ports(topology), topology.host_names())


def test_a_star(tmp_path) -> None:  # type: ignore[no-untyped-def]
    topology = cell_of(tmp_path, text=TEXT).topology
    commands = network_commands(topology, set_ports(topology), {"h0", "h1"})
    assert commands[-3].input == LINKS
    devices = "".join(f"link add rxe-{host} type rxe netdev {host}\n" for host in ("h0", "h1"))
    assert (commands[-2].run, commands[-2].input) == (["rdma", "--batch", "-"], devices)
    assert "net.ipv4.conf.default.accept_local=1" in commands[0].run
    assert "net.ipv4.tcp_timestamps=0" in commands[0].run, "segments of 1460 bytes, as the simulator's"
    trees = commands[-1].input.splitlines()
    assert trees[:3] == [
        "qdisc add dev h0 root handle 1: htb default 10",
        f"class add dev h0 parent 1: classid 1:10 {SHAPE}",
        "qdisc add dev h0 parent 1:10 handle 10: pfifo limit 100000",
    ]
    assert "filter add dev h0 parent 1: protocol ip prio 1 flower ip_tos 0xe0/0xe0 classid 1:17" in trees
    at_switch = [line for line in trees if "p1b" in line]
    assert at_switch[0].startswith("qdisc add dev p1b root handle 1: netem")
    assert at_switch[0].endswith("delay 4.000us loss 0.0000000%"), "the sender's cable, too"
    assert at_switch[-1] == f"qdisc add dev p1b parent 2:10 handle 3: bfifo limit {BUFFER}"


def test_several_limiters_of_a_host_send_no_more_than_its_link_carries(tmp_path: Path) -> None:
    topology = cell_of(tmp_path, text=TEXT).topology
    commands = network_commands(topology, set_ports(topology), {"h0", "h1"}, {"h0"})
    trees = commands[-1].input.splitlines()
    assert trees[:4] == [
        "qdisc add dev h0 root handle 2: htb default 1",
        f"class add dev h0 parent 2: classid 2:1 {SHAPE}",
        "qdisc add dev h0 parent 2:1 handle 1: htb default 10",
        f"class add dev h0 parent 1: classid 1:10 {SHAPE}",
    ]
    assert "qdisc add dev h1 root handle 1: htb default 10" in trees


def test_a_packet_at_a_port_is_never_the_cards(tmp_path) -> None:  # type: ignore[no-untyped-def]
    ports = set_ports(cell_of(tmp_path, "topology.delay=0s", text=TEXT).topology)
    assert {port.delay_ns for port in ports.values()} == {1}


def test_a_limiter_lets_a_packet_leave_at_once(tmp_path) -> None:  # type: ignore[no-untyped-def]
    small = cell_of(tmp_path, text=TEXT).topology
    large = cell_of(tmp_path, "topology.mtu=4096", text=TEXT).topology
    fast = cell_of(tmp_path, "topology.rate=100Gbps", text=TEXT).topology
    assert (limiter_burst_bytes(small), burst_bytes(10**10)) == (1_600, 1_375)
    assert 4096 + 58 + 24 <= limiter_burst_bytes(large) < 2 * 4096
    assert limiter_burst_bytes(fast) == 13_750, "more than a microsecond, for tc knows no part of one"


def test_each_flow_has_two_ends_that_know_each_other(tmp_path: Path) -> None:
    cell = cell_of(tmp_path)
    orders = orders_of(cell, plan_roles(cell))
    peers = {role.name: role.peer for role in orders.roles}
    assert len(peers) == 6  # two senders and the probe
    assert all(peers[peer] == name for name, peer in peers.items())


@pytest.mark.parametrize("transport", ["rogue", "rogue-uc"])
def test_who_sets_rates_has_a_limiter_of_the_kernel(tmp_path: Path, transport: str) -> None:
    cell = cell_of(tmp_path, f"transports=[{transport}]")
    prepares = [
        decode(role.prepare.encode(), REQUEST_TYPES) for role in orders_of(cell, plan_roles(cell)).roles
    ]
    limiters = {
        each.role: (each.limiter, each.limiter_burst_bytes) for each in prepares if isinstance(each, Prepare)
    }
    assert limiters["flow0-requester"] == ("htb", 1_600), "a packet, because a kernel's timers are exact"
    assert limiters["flow0-responder"] == limiters["probe-requester"] == ("none", None)


def test_queues_are_sampled_where_they_are_asked_for(tmp_path: Path) -> None:
    asked, spared = (cell_of(tmp_path, f"measure=[{measure}]") for measure in ("queues", "throughput"))
    assert orders_of(asked, plan_roles(asked)).ports["s0->h2"] == "p2b"
    assert orders_of(spared, plan_roles(spared)).ports == {}


def test_tcp_is_held_to_its_hosts_interface(tmp_path: Path) -> None:
    """Otherwise it would go through memory, past every queue; soft-RoCE chooses by its own device."""
    for transport, interface in (("dctcp", "h0"), ("roce", None)):
        cell = cell_of(tmp_path, f"transports=[{transport}]")
        prepare = decode(orders_of(cell, plan_roles(cell)).roles[0].prepare.encode(), REQUEST_TYPES)
        assert isinstance(prepare, Prepare)
        assert prepare.interface == interface


def test_a_cut_looks_at_the_port_and_takes_it_down_and_up(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "faults=[{kind: link_cut, target: h2, at: 5ms, duration: 2ms}]")
    timed = orders_of(cell, plan_roles(cell)).timed
    assert [(each.at_ns, " ".join(each.command.run), each.kept_as) for each in timed] == [
        (5_000_000, "tc -s -j qdisc show dev p2b", "p2b 0"),
        (5_000_000, "ip link set dev p2b down", ""),
        (7_000_000, "ip link set dev p2b up", ""),
    ]


def test_what_filters_have_dropped_is_asked_where_there_is_one(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "faults=[{kind: loss, target: h2, model: identification, one_in: 4096}]")
    counts = orders_of(cell, plan_roles(cell)).counts
    assert set(counts) == {DISCIPLINES, "p2b egress", "p2b ingress"}
    assert counts["p2b ingress"].run[-3:] == ["dev", "p2b", "ingress"]


def test_only_hosts_with_verbs_have_a_card(tmp_path: Path) -> None:
    for transport, hosts in (("dctcp", ()), ("roce", ("h0", "h1", "h3"))):
        cell = cell_of(tmp_path, f"transports=[{transport}]", "probe=null", "measure=[throughput]")
        commands = orders_of(cell, plan_roles(cell)).commands
        (devices,) = [each.input for each in commands if each.run[0] == "rdma"]
        cards = [line.split()[-1] for line in devices.splitlines()]
        assert cards == list(hosts)


def test_secrets_are_the_same_in_each_run_of_a_cell_and_differ_between_roles(tmp_path: Path) -> None:
    cell = cell_of(tmp_path)
    seeds = []
    for _ in range(2):
        roles = orders_of(cell, plan_roles(cell)).roles
        prepares = [decode(role.prepare.encode(), REQUEST_TYPES) for role in roles]
        seeds.append([each.secret_seed for each in prepares if isinstance(each, Prepare)])
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 6 and None not in seeds[0]
