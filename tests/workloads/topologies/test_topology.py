"""Every topology: connected, named by the rule, deterministic."""

import pickle

import pytest
from helpers.experiments import NETWORK, link_list
from pydantic import ValidationError

from rogue.workloads.topologies import TOPOLOGIES, Placement, Topology

SMALLEST: dict[str, dict[str, object]] = {
    "star": {"hosts": 2, "rate": "10Gbps"},
    "dumbbell": {"hosts_per_side": 1, "rate": "10Gbps", "bottleneck_rate": "1Gbps"},
    "parking_lot": {"rate": "10Gbps"},
    "paper_testbed": {},
    "two_tier": {"racks": 2, "hosts_per_rack": 2, "leaves": 2},
    "clos": {"racks_per_podset": 2, "hosts_per_rack": 1, "leaves_per_podset": 2, "spines": 4},
    "fat_tree": {"k": 4, "rate": "10Gbps"},
    "rail_optimised": {"pods": 2, "servers_per_pod": 2, "rails": 2, "spines": 2, "rate": "10Gbps"},
    "multi_plane": {"planes": 2, "leaves": 2, "hosts_per_leaf": 2, "spines": 2, "rate": "10Gbps"},
    "multi_bottleneck": {},
    "asymmetric_fan_in": {},
    "ring": {"switch_count": 5, "rate": "10Gbps"},
    "links": {"file": link_list(NETWORK.read_text())},
}


@pytest.fixture(params=TOPOLOGIES)
def topology(request: pytest.FixtureRequest) -> Topology:
    return TOPOLOGIES[request.param].model_validate(SMALLEST[request.param])


def test_links_join_known_nodes(topology: Topology) -> None:
    nodes = {*topology.host_names(), *(switch.name for switch in topology.switches())}
    assert {node for link in topology.links() for node in (link.a, link.b)} == nodes


def test_hosts_have_one_link(topology: Topology) -> None:
    assert all(len(topology.links_of[host]) == 1 for host in topology.host_names())


def test_names_are_numbered(topology: Topology) -> None:
    assert topology.host_names() == tuple(f"h{index}" for index in range(len(topology.host_names())))
    switches = [switch.name for switch in topology.switches()]
    assert switches == [f"s{index}" for index in range(len(switches))]


def test_every_pair_is_joined(topology: Topology) -> None:
    hosts = topology.host_names()
    for source in hosts:
        for destination in set(hosts) - {source}:
            path = topology.path(source, destination)
            assert source in (path[0].a, path[0].b)
            assert destination in (path[-1].a, path[-1].b)
            back = topology.path(destination, source)
            assert list(path) == list(reversed(back))


@pytest.mark.parametrize("has_probe", [False, True])
def test_everyone_has_one_role(topology: Topology, has_probe: bool) -> None:
    placement = topology.placement(has_probe=has_probe)
    assert sorted((*placement.senders, placement.receiver)) == sorted(placement.hosts)
    assert placement.rates_bps == {topology.host_rate_bps(host) for host in placement.hosts}
    kept_out = set(topology.host_names()) - set(placement.hosts)
    assert kept_out == ({topology.probe_host()} if has_probe else set())


def test_the_receiver_does_not_depend_on_the_probe(topology: Topology) -> None:
    assert topology.placement(has_probe=True).receiver == topology.placement(has_probe=False).receiver


@pytest.mark.parametrize(("rate", "nic"), [("1Gbps", "cx3pro"), ("10Gbps", "cx3pro"), ("25Gbps", "cx4")])
def test_nic_follows_the_rate(rate: str, nic: str) -> None:
    topology = TOPOLOGIES["star"].model_validate({"hosts": 2, "rate": rate})
    assert topology.nic_of("h0") == nic
    named = TOPOLOGIES["star"].model_validate({"hosts": 2, "rate": rate, "nic": "ideal"})
    assert named.nic_of("h0") == "ideal"


def test_another_process_gets_the_topology_and_nothing_that_was_worked_out(topology: Topology) -> None:
    before = len(pickle.dumps(topology))
    assert topology.path(*topology.host_names()[:2])
    sent = pickle.dumps(topology)
    assert len(sent) == before
    assert pickle.loads(sent) == topology


def test_it_is_described_in_a_line(topology: Topology) -> None:
    hosts, links = len(topology.host_names()), len(topology.links())
    assert f"{hosts} hosts" in topology.described() and f"{links} links" in topology.described()


def test_what_is_certain_lies_on_the_path_and_ends_at_the_hosts(topology: Topology) -> None:
    first, *_, last = topology.host_names()
    certain = topology.shortest_paths.certain(first, last)
    path = topology.path(first, last)
    assert (certain[0], certain[-1]) == (path[0], path[-1])
    assert [link for link in path if link in certain] == list(certain)
    is_alone = topology.shortest_paths.count(first, last) == 1
    assert is_alone == (certain == path)


def test_inputs_that_take_turns_have_no_weights() -> None:
    star = {"hosts": 2, "rate": "10Gbps", "switch": "voq", "weights": [1, 2]}
    with pytest.raises(ValidationError, match=r"expected none with switch: voq.*remove them") as caught:
        TOPOLOGIES["star"].model_validate(star)
    assert [error["loc"] for error in caught.value.errors()] == [("weights",)]


@pytest.mark.parametrize("weights", [[1001], [-1], [0.5], "1", [1] * 9])
def test_weights_are_whole_numbers_of_eight_priorities(weights: object) -> None:
    with pytest.raises(ValidationError):
        TOPOLOGIES["star"].model_validate({"hosts": 2, "rate": "10Gbps", "weights": weights})


@pytest.mark.parametrize("key", ["alpha", "pause_alpha"])
def test_shares_of_a_buffer_that_nobody_shares(key: str) -> None:
    star = {"hosts": 2, "rate": "10Gbps", "switch": "voq"}
    with pytest.raises(ValidationError, match=r"expected nothing with switch: voq.*remove it") as caught:
        TOPOLOGIES["star"].model_validate({**star, key: 0.5})
    assert [error["loc"] for error in caught.value.errors()] == [(key,)]
    assert TOPOLOGIES["star"].model_validate(star).switch == "voq"


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        (("h0", "h1", "h2"), "h0 to h2"),
        (("h0", "h1", "h3"), "h0 to h3 without h2"),
        (("h0", "h2", "h9"), "3 from h0 to h9"),
        (("h0", "h1", "h900000000"), "3 from h0 to h900000000"),
        (("a", "b", "gpu7"), "3 from a to gpu7"),
    ],
)
def test_hosts_of_a_placement_in_words(hosts: tuple[str, ...], words: str) -> None:
    """Whatever their names are: a file's may leave out millions of numbers, a plug-in's need none."""
    assert Placement(hosts, hosts[-1], 9e9, 10**10).described == words
