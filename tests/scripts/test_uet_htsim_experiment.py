"""What a command line of uet-htsim becomes: network, traffic and numbers."""

from pathlib import Path

import pytest
import yaml
from uet_htsim_cases import DATACENTER, Case
from uet_htsim_experiment import default_tree, document, failed_links, network_text, write_case

from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import plan_cells

PLAIN = "-load_balancing_algo mixed -paths 64"
SPINES = """\
Nodes 4
Tiers 2
Podsize 4
Tier 0
Downlink_speed_Gbps 400
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 400
Radix_Down 2
Downlink_Latency_ns 1000
"""


def case(options: str = PLAIN, topology: str = "", file: str = "validate_outputs/a.out") -> Case:
    return Case(file, "two.cm", topology, options, 1.0, 0)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    place = tmp_path / DATACENTER
    for folder in ("connection_matrices", "topologies"):
        (place / folder).mkdir(parents=True)
    (place / "connection_matrices/two.cm").write_text(
        "Nodes 4\nConnections 2\n0->3 start 0 size 4096\n1->2 id 2 start 40 size 4096\n"
    )
    (place / "topologies/spines.topo").write_text(SPINES)
    return tmp_path


@pytest.mark.parametrize(("nodes", "hosts", "links"), [(16, 16, 48), (128, 128, 384), (2, 2, 6)])
def test_without_a_topology_it_is_a_fat_tree_for_the_nodes(nodes: int, hosts: int, links: int) -> None:
    ends = [each["link"] for each in yaml.safe_load(network_text(default_tree(nodes), 0))["links"]]
    assert len(ends) == links
    assert sum(each.startswith("h") for each in ends) == hosts


def test_a_failed_link_of_three_tiers_is_one_of_the_first_switch_above_the_racks() -> None:
    tree = default_tree(16)
    assert failed_links(tree, 1) == {"s8-s16"}
    rates = {each["link"]: each["rate"] for each in yaml.safe_load(network_text(tree, 1))["links"]}
    assert {ends for ends, rate in rates.items() if rate == "25Gbps"} == {"s8-s16"}


def test_numbers_that_no_option_states(checkout: Path) -> None:
    """43 packets of 4150 bytes fill the round trip of six links, and are a queue; marks from 9 to 35."""
    made = document(case(), default_tree(16), {})
    topology, [transport] = made["topology"], made["transports"]
    assert isinstance(topology, dict)
    assert topology["trim_above"] == "178450B"
    assert (transport["kmin"], transport["kmax"]) == ("37350B", "145250B")
    assert "window_packets" not in transport
    assert "target_delay" not in transport


def test_numbers_that_options_state(checkout: Path, tmp_path: Path) -> None:
    options = "-cwnd 75 -ecn 12 37 -failed 1 -load_balancing_algo reps -paths 128 -q 50 -sack_threshold 4000"
    (tmp_path / "out").mkdir()
    named = case(options, "spines.topo", "results/a_2.txt")
    path = write_case(named, checkout, tmp_path / "out", {"thresholds": "rate"}, 7)
    [cell] = plan_cells(load_experiment(str(path), []))
    assert (cell.seed, cell.topology.trim_above_bytes, cell.topology.thresholds) == (7, 50 * 4150, "rate")
    rates = {f"{link.a}-{link.b}": link.rate_bps // 10**9 for link in cell.topology.links()}
    slow = {"s0-s2", "s1-s2"}
    assert rates == {
        ends: 100 if ends in slow else 400
        for ends in ("h0-s0", "h1-s0", "h2-s1", "h3-s1", *slow, "s0-s3", "s1-s3")
    }
    [group] = cell.groups
    assert [(flow.source, flow.destination, flow.start_ns) for flow in group.flows] == [
        ("h0", "h3", 0),
        ("h1", "h2", 0),
    ]
    assert group.parameters == {
        "load_balancing": "reps",
        "paths": 128,
        "kmin": "49800B",
        "kmax": "153550B",
        "pmax": 1,
        "sack_every": "4000B",
        "window_packets": 75,
        "target_delay": "6us",
    }


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param("", ("uet", None), id="senders"),
        pytest.param(" -receiver_cc -sender_cc", ("uet+rccc", None), id="both"),
        pytest.param(" -receiver_cc_only", ("uet+rccc", 0), id="receivers"),
    ],
)
def test_who_controls_congestion(options: str, expected: tuple[str, int | None]) -> None:
    found = document(case(f"{PLAIN}{options}"), default_tree(4), {})["transports"]
    assert isinstance(found, list)
    assert (found[0]["name"], found[0].get("nscc")) == expected
