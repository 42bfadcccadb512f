"""Test the network and the orders that a kernel gets."""

from pathlib import Path

import pytest
from helpers.experiments import SMALL, cell_of

from rogue.agent.node.messages import Prepare
from rogue.agent.node.orders import Orders
from rogue.agent.node.wire import REQUEST_TYPES, decode
from rogue.harness.testbeds.ends.roles import plan_roles
from rogue.harness.testbeds.kernel.network import (
    DISCIPLINES,
    burst_bytes,
    cell_ports,
    limiter_burst_bytes,
    orders_of,
)

TWO_HOSTS = """
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


def planned(tmp_path: Path, *settings: str, text: str = SMALL) -> Orders:
    cell = cell_of(tmp_path, *settings, text=text)
    return orders_of(cell, plan_roles(cell))


def prepares(orders: Orders) -> dict[str, Prepare]:
    found = (decode(role.prepare.encode(), REQUEST_TYPES) for role in orders.roles)
    return {each.role: each for each in found if isinstance(each, Prepare)}


def test_commands_that_build_a_star(tmp_path: Path) -> None:
    commands = planned(tmp_path, text=TWO_HOSTS).commands
    assert commands[1].input == LINKS
    places = [f"fdb add 02:00:0a:00:00:0{n + 1} dev p{n}b master static" for n in range(2)]
    assert commands[2].input.splitlines() == places
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


def test_limiters_of_one_host_share_its_line_rate(tmp_path: Path) -> None:
    """h0 sends two flows with rates."""
    incast = "workload: {kind: incast, senders: 1, size: 1MB}"
    two = f"traffic=[{{name: a, {incast}}}, {{name: b, {incast}}}]"
    orders = planned(tmp_path, "transports=[rogue]", "workload=null", two, text=TWO_HOSTS)
    trees = orders.commands[-1].input.splitlines()
    assert trees[:4] == [
        "qdisc add dev h0 root handle 2: htb default 1",
        f"class add dev h0 parent 2: classid 2:1 {SHAPE}",
        "qdisc add dev h0 parent 2:1 handle 1: htb default 10",
        f"class add dev h0 parent 1: classid 1:10 {SHAPE}",
    ]
    assert "qdisc add dev h1 root handle 1: htb default 10" in trees


def test_ports_delay_by_a_nanosecond_at_least(tmp_path: Path) -> None:
    ports = cell_ports(cell_of(tmp_path, "topology.delay=0s", text=TWO_HOSTS))
    assert {port.delay_ns for port in ports.values()} == {1}


def test_burst_of_a_limiter_is_a_packet(tmp_path: Path) -> None:
    small, large, fast = (
        cell_of(tmp_path, *setting, text=TWO_HOSTS).topology
        for setting in ((), ("topology.mtu=4096",), ("topology.rate=100Gbps",))
    )
    assert (limiter_burst_bytes(small), burst_bytes(10**10)) == (1_600, 1_375)
    assert 4096 + 58 + 24 <= limiter_burst_bytes(large) < 2 * 4096
    assert limiter_burst_bytes(fast) == 13_750, "more than a microsecond, for tc knows no part of one"


def test_both_ends_of_each_flow_are_peers(tmp_path: Path) -> None:
    peers = {role.name: role.peer for role in planned(tmp_path).roles}
    assert len(peers) == 6  # two senders and the probe
    assert all(peers[peer] == name for name, peer in peers.items())


@pytest.mark.parametrize("transport", ["rogue", "rogue-uc"])
def test_requester_with_rates_uses_a_limiter_of_the_kernel(tmp_path: Path, transport: str) -> None:
    asked = prepares(planned(tmp_path, f"transports=[{transport}]"))
    limiters = {role: (each.limiter, each.limiter_burst_bytes) for role, each in asked.items()}
    assert limiters["flow0-requester"] == ("htb", 1_600), "a packet, because a kernel's timers are exact"
    assert limiters["flow0-responder"] == limiters["probe-requester"] == ("none", None)


def test_queues_are_sampled_only_if_measured(tmp_path: Path) -> None:
    assert planned(tmp_path, "measure=[queues]").ports["s0->h2"] == "p2b"
    assert planned(tmp_path, "measure=[throughput]").ports == {}


@pytest.mark.parametrize(("transport", "interface"), [("dctcp", "h0"), ("roce", None)])
def test_tcp_is_bound_to_its_hosts_interface(tmp_path: Path, transport: str, interface: str | None) -> None:
    """Otherwise it would go through memory, past every queue; soft-RoCE chooses by its own device."""
    asked = prepares(planned(tmp_path, f"transports=[{transport}]"))
    assert asked["flow0-requester"].interface == interface


def test_link_cut_reads_the_port_and_takes_it_down_and_up(tmp_path: Path) -> None:
    timed = planned(tmp_path, "faults=[{kind: link_cut, target: h2, at: 5ms, duration: 2ms}]").timed
    assert [(each.at_ns, " ".join(each.command.run), each.kept_as) for each in timed] == [
        (5_000_000, "tc -s -j qdisc show dev p2b", "p2b 0"),
        (5_000_000, "ip link set dev p2b down", ""),
        (7_000_000, "ip link set dev p2b up", ""),
    ]


def test_drops_of_filters_are_read_where_there_is_one(tmp_path: Path) -> None:
    loss = "faults=[{kind: loss, target: h2, model: identification, one_in: 4096}]"
    counts = planned(tmp_path, loss).counts
    assert set(counts) == {DISCIPLINES, "p2b egress", "p2b ingress"}
    assert counts["p2b ingress"].run[-3:] == ["dev", "p2b", "ingress"]


@pytest.mark.parametrize(("transport", "hosts"), [("dctcp", []), ("roce", ["h0", "h1", "h3"])])
def test_only_hosts_with_verbs_have_a_card(tmp_path: Path, transport: str, hosts: list[str]) -> None:
    orders = planned(tmp_path, f"transports=[{transport}]", "probe=null", "measure=[throughput]")
    (devices,) = [each.input for each in orders.commands if each.run[0] == "rdma"]
    assert [line.split()[-1] for line in devices.splitlines()] == hosts


def test_secret_seeds_repeat_in_each_run_and_differ_between_roles(tmp_path: Path) -> None:
    first, again = ([each.secret_seed for each in prepares(planned(tmp_path)).values()] for _ in range(2))
    assert first == again
    assert len(set(first)) == 6 and None not in first
