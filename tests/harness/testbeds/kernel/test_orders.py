"""What the conductor inside is told."""

from pathlib import Path

from helpers.experiments import cell_of

from rogue.agent.node.messages import Prepare
from rogue.agent.node.wire import REQUEST_TYPES, decode
from rogue.harness.testbeds.ends.roles import plan_roles
from rogue.harness.testbeds.kernel.network import DISCIPLINES, orders_of


def test_each_flow_has_two_ends_that_know_each_other(tmp_path: Path) -> None:
    cell = cell_of(tmp_path)
    orders = orders_of(cell, plan_roles(cell))
    peers = {role.name: role.peer for role in orders.roles}
    assert len(peers) == 6  # two senders and the probe
    assert all(peers[peer] == name for name, peer in peers.items())


def test_who_sets_rates_has_a_limiter_of_the_kernel(tmp_path: Path) -> None:
    cell = cell_of(tmp_path)
    prepares = [
        decode(role.prepare.encode(), REQUEST_TYPES) for role in orders_of(cell, plan_roles(cell)).roles
    ]
    limiters = {
        each.role: (each.limiter, each.limiter_burst_bytes) for each in prepares if isinstance(each, Prepare)
    }
    assert limiters["flow0-requester"] == ("htb", 1_600), "a packet, for no timer is late"
    assert limiters["flow0-responder"] == limiters["probe-requester"] == ("none", None)


def test_packets_over_uc_are_held_back_like_all_others(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[rogue-uc]")
    prepare = decode(orders_of(cell, plan_roles(cell)).roles[0].prepare.encode(), REQUEST_TYPES)
    assert isinstance(prepare, Prepare)
    assert (prepare.limiter, prepare.limiter_burst_bytes) == ("htb", 1_600)


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
