"""Experiments made from command lines of uet-htsim, their runs, and the shares of its tables."""

from pathlib import Path

import pytest
import yaml
from uet_htsim_cases import (
    DATACENTER,
    Case,
    default_tree,
    document,
    failed_links,
    network_text,
    write_case,
)
from uet_htsim_report import Row, credit_cases, draw, rows, shares
from uet_htsim_run import Measured, measure, pending

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
    (place / "connection_matrices/pair.cm").write_text(
        "Nodes 2\nConnections 1\nTriggers 0\n0->1 id 1 start 0 size 40860\n"
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
    made = document(case(), default_tree(16), {}, 1)
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
    found = document(case(f"{PLAIN}{options}"), default_tree(4), {}, 1)["transports"]
    assert isinstance(found, list)
    assert (found[0]["name"], found[0].get("nscc")) == expected


SMALL = case()._replace(matrix="pair.cm")
SLOW = SMALL._replace(options=f"-failed 1 {PLAIN}")
LARGE = SMALL._replace(matrix="perm_8192n_8192c_1MB.cm")


def test_pending_runs_are_those_that_the_file_lacks() -> None:
    assert list(pending([SMALL, LARGE], [])) == [(1, 1), (2, 1), (1, 2), (1, 3)]
    done = [Measured(1, 1, 17.0, 0), Measured(2, 1, 17.0, 0)]
    assert list(pending([SMALL, LARGE], done)) == [(1, 2), (1, 3)]
    assert list(pending([SMALL, SLOW], [], only_slow=True)) == [(2, 1), (2, 2), (2, 3)]
    assert list(pending([SMALL, LARGE], [], only_first=True)) == [(1, 1), (2, 1)]


def test_a_run_takes_as_long_as_in_htsim(checkout: Path) -> None:
    """Ten packets of 4086 bytes over six links: uet-htsim prints 17.01 us."""
    found = measure(SMALL, checkout, {}, 1)
    assert found["tail_us"] == pytest.approx(17.01, abs=0.1)
    assert found["again"] == 0


CASE = Case("validate_outputs/a.out", "one.cm", "", "-paths 64", 100.0, 0)
INCAST = Case("results/b_2.txt", "incast/eight.cm", "flat.topo", "-paths 64", 100.0, 2, 108.0)
FIRST = [Measured(1, 1, 103.0, 0), Measured(1, 2, 105.0, 2), Measured(2, 1, 120.0, 4)]


def sample_rows() -> list[Row]:
    by_rate = [Measured(2, 1, 107.0, 3), Measured(3, 1, 100.0, 0)]
    return rows([CASE, INCAST, CASE], FIRST, by_rate, [Measured(1, 1, 101.0, 1), Measured(2, 1, 111.0, 2)])


def test_a_deviation_is_the_mean_of_the_seeds() -> None:
    own, incast, _ = sample_rows()
    assert round(own.deviation(own.best), 9) == 0.04
    assert round(incast.deviation(incast.first), 9) == 0.2
    assert round(incast.deviation(incast.best), 9) == 0.07


def test_shares_count_what_was_run() -> None:
    """Of two cases that were run one is within 5 %; by rate the other is within 10 %, by coin it is not."""
    last = shares(sample_rows()).splitlines()[-1]
    shown_shares = "1 (50%) | 1 (50%) | 1 (50%) | 2 (100%) | 1 (50%) | 1 (50%) | 0 (0%) | 1 (100%)"
    assert last == f"| **all** | 2 of 3 | {shown_shares} |"


def test_cases_of_credits_are_a_table_of_their_own() -> None:
    _, told, lines = credit_cases(rows([CASE, INCAST], [Measured(1, 1, 104.0, 0)]))
    assert told == "1 of 2 cases have been run. Within 5 % are 1 (100%), within 10 % 1 (100%)."
    assert lines.splitlines()[2] == "| 1 | `one`, `-paths 64` | 100 | 104.0 | +4.0% | 1 | 0 | 0 |"


def test_a_figure_has_a_point_for_each_case(tmp_path: Path) -> None:
    draw(sample_rows(), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text.count("<use ") > 3
    draw(sample_rows(), tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text() == text
