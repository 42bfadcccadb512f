"""Test conversion from and to the files of other simulators."""

import pytest
from helpers.experiments import link_list, refusal
from pydantic_core import PydanticCustomError

from rogue.harness.data.formats import FORMATS
from rogue.harness.data.formats.format import class_group, class_of, notes_on_groups, trace_text
from rogue.harness.data.source import data_source
from rogue.workloads.traffic.trace import TraceRow


def test_rows_are_sorted_stably_by_start() -> None:
    rows = [
        TraceRow(5, "h0", "h1", 1, None),
        TraceRow(0, "h1", "h0", 2, None),
        TraceRow(5, "h2", "h1", 3, None),
    ]
    assert trace_text(rows) == "start_ns,src,dst,size_bytes\n0,h1,h0,2\n5,h0,h1,1\n5,h2,h1,3\n"


def test_class_becomes_a_group_if_there_are_several() -> None:
    assert class_group("pg", 3, {3}) is None
    assert class_group("pg", 3, {3, 4}) == "pg3"
    assert [class_of(group, "pg", 9) for group in ("pg3", "pg", "storage", None, "3")] == [3, 9, 9, 9, 9]


def test_note_names_some_groups_without_a_class() -> None:
    assert notes_on_groups(["pg3", "pg0"], "pg", 3) == []
    notes = notes_on_groups([f"g{number}" for number in range(7)], "pg", 3)
    assert notes == ["groups that are no pgN become pg3: g0, g1, g2, g3, g4 and 2 more"]


HPCC_FLOWS = FORMATS["hpcc-flows"]
read_flows, write_flows = HPCC_FLOWS.read, HPCC_FLOWS.write

FLOWS = "2 \n2 1 3 100 200000000 2\n7 4 3 100 1 2.000000001\n"


def test_nodes_keep_their_numbers_and_starts_are_exact() -> None:
    made = read_flows(data_source("flow.txt", FLOWS.encode()))
    assert made.text == (
        "start_ns,src,dst,size_bytes\n2000000000,h2,h1,200000000\n2000000001,h7,h4,1\n"
    )  # fmt: skip
    assert made.notes == ["ports are left out"]


def test_lines_below_the_announced_flows_are_left_out() -> None:
    """The shipped flow.txt announces two of its flows, and ns-3 reads two."""
    made = read_flows(data_source("flow.txt", (FLOWS + "1 2 3 100 5 3\n").encode()))
    assert len(made.text.splitlines()) == 3
    assert made.notes[1].startswith("1 lines below the 2 flows")


def test_priority_groups_are_groups_where_they_differ() -> None:
    made = read_flows(data_source("flow.txt", b"2\n2 1 3 100 5 0\n1 2 4 100 6 0.5\n"))
    assert made.text.splitlines()[1:] == ["0,h2,h1,5,pg3", "500000000,h1,h2,6,pg4"]
    back = write_flows(data_source("flows.csv", made.text.encode()))
    assert back.notes == []
    assert back.text == "2\n2 1 3 100 5 0.000000000\n1 2 4 100 6 0.500000000\n"


def test_flow_is_written_as_by_the_hpcc_generator() -> None:
    made = write_flows(data_source("f.csv", b"start_us,src,dst,size_bytes,group\n1.5,h3,h20,77,web\n"))
    assert made.text == "1\n3 20 3 100 77 0.000001500\n"
    assert made.notes == ["groups that are no pgN become pg3: web"]


BAD_FLOWS = {
    "": "nothing in line 1 of flow.txt, expected the number of flows alone",
    "3\n2 1 3 100 5 2\n": "1 flows in flow.txt, expected the 3 that line 1 announces",
    "0\n": "0 flows in line 1 of flow.txt, expected at least one flow",
    "1\n2 1 3 100 5\n": "2 1 3 100 5 in line 2 of flow.txt, expected source, destination, priority group",
    "1\n2 1 3 100 -5 2\n": "-5 in line 2 of flow.txt, expected a number of bytes",
    "1\n2 2 3 100 5 2\n": "2 2 3 100 5 2 in line 2 of flow.txt, expected two different nodes",
    "1\n2 x 3 100 5 2\n": "x in line 2 of flow.txt, expected a destination",
    "1\n2 1 3 100 5 1e9\n": "1e9 in line 2 of flow.txt, expected a start from 0 to 1000000 seconds",
}


@pytest.mark.parametrize("text", BAD_FLOWS)
def test_wrong_line_of_flows_is_an_error(text: str) -> None:
    assert refusal(read_flows, "flow.txt", text).startswith(BAD_FLOWS[text])


HPCC_TOPOLOGY = FORMATS["hpcc-topology"]
read_topology, write_topology = HPCC_TOPOLOGY.read, HPCC_TOPOLOGY.write

TOPOLOGY = (
    "5 2 4\n3 4\n0 3 100Gbps 1000ns 0.000000\n1 3 10Mb/s 0.001ms 0\n2 4 1.5Gbps 0s 0\n3 4 400Gbps 2us 0\n"
)


def test_other_nodes_are_hosts_and_keep_their_numbers() -> None:
    network = link_list(read_topology(data_source("t", TOPOLOGY.encode())).text)
    assert (network.hosts, network.switches) == (("h0", "h1", "h2"), ("s3", "s4"))
    assert network.links == (
        ("h0", "s3", 10**11, 1000), ("h1", "s3", 10**7, 1000), ("h2", "s4", 1_500_000_000, 0),
        ("s3", "s4", 4 * 10**11, 2000),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("first", "is_longer"),
    [
        ("5 2 4", False),
        ("5 2 1 4 100000000000 25000000000.0", True),
        ("5 8 0 2 4 H100", True),
        ("5 8 1 1 4 X000 8", True),
    ],
)
def test_first_line_of_each_simulator_family(first: str, is_longer: bool) -> None:
    """HPCC; ns3-datacenter with racks and with rates; SimAI with NVSwitches, which are switches."""
    made = read_topology(data_source("t", TOPOLOGY.replace("5 2 4", first).encode()))
    assert made.text == read_topology(data_source("t", TOPOLOGY.encode())).text
    note = "line 1 is read for the numbers of nodes, switches and links only"
    assert made.notes == ([note] if is_longer else [])


@pytest.mark.parametrize(
    ("written", "rate_bps"),
    [
        ("25000000000.0", 25 * 10**9),
        ("1600000000000", 1_600 * 10**9),
        ("25Gbps", 25 * 10**9),
        ("125MB/s", 10**9),
        ("0.5Gib/s", 2**29),
        ("8kbps", 8_000),
    ],
)
def test_rates_are_those_of_ns3(written: str, rate_bps: int) -> None:
    text = f"3 1 2\n2\n0 2 {written} 1ns 0\n1 2 {written} 1ns 0\n"
    network = link_list(read_topology(data_source("t", text.encode())).text)
    assert {rate for _, _, rate, _ in network.links} == {rate_bps}


def test_switches_may_come_first_and_over_several_lines() -> None:
    text = "5 3 4\n0\n1 4\n2 0 1Gbps 1ns 0\n3 1 1Gbps 1ns 0\n0 1 1Gbps 1ns 0\n1 4 1Gbps 1ns 0\n"
    made = read_topology(data_source("t", text.encode()))
    assert link_list(made.text).switches == ("s0", "s1", "s4")


def test_nodes_without_links_are_noted() -> None:
    text = "4 1 2\n0\n0 1 1Gbps 1ns 0\n0 2 1Gbps 1ns 0\n"
    assert read_topology(data_source("t", text.encode())).notes == ["1 nodes without a link are left out"]


def test_written_topology_reads_back_equal() -> None:
    ours = read_topology(data_source("t", TOPOLOGY.encode())).text
    theirs = write_topology(data_source("net.yaml", ours.encode())).text
    assert theirs.splitlines()[:3] == ["5 2 4", "3 4", "0 3 100000000000bps 1000ns 0"]
    assert read_topology(data_source("t", theirs.encode())).text == ours


def test_switches_of_ours_get_numbers_after_the_hosts() -> None:
    made = write_topology(
        data_source("n", b"links: [{link: h0-s0, rate: 1Gbps}, {link: s0-h1, rate: 1Gbps, delay: 3us}]")
    )
    assert made.text == "3 1 2\n2\n0 2 1000000000bps 1000ns 0\n2 1 1000000000bps 3000ns 0\n"
    assert made.notes == ["links without a delay get 1000 ns"]
    with pytest.raises(PydanticCustomError, match="without gaps"):
        write_topology(data_source("n", b"links: [{link: h1-s5, rate: 1Gbps}, {link: s5-h2, rate: 1Gbps}]"))


LINK = "3 1 2\n2\n0 2 1Gbps 1ns 0\n"
BAD_TOPOLOGY = {
    "": "nothing in line 1 of topology.txt, expected the numbers of nodes, switches and links",
    "3 1 0\n2\n": "3 1 0 in line 1 of topology.txt, expected up to 100000 nodes with the switches",
    "3 1 1 2 5\n": "3 1 1 2 5 in line 1 of topology.txt, expected the numbers of nodes, switches and links",
    "3 1 1 x\n": "x in line 1 of topology.txt, expected a number of nodes, switches or links",
    "3 1 2\n3\n": "3 in line 2 of topology.txt, expected 1 different numbers of switches, below 3",
    TOPOLOGY.replace("5 2", "5 1"): "3 4 in line 2 of topology.txt, expected numbers of 1 switches",
    "3 1 2\n2\n0 2 1Gbps 1ns 0\n": "1 links in topology.txt, expected the 2 that line 1 announces",
    LINK + "1 2 1Gbps 1ns\n": "1 2 1Gbps 1ns in line 4 of topology.txt, expected two nodes, rate, delay",
    LINK + "1 3 1Gbps 1ns 0\n": "1 3 in line 4 of topology.txt, expected two different nodes below 3",
    LINK + "1 2 1Gbit 1ns 0\n": "1Gbit in line 4 of topology.txt, expected a rate",
    LINK + "1 2 1Gbps 0.5ns 0\n": "0.5ns in line 4 of topology.txt, expected a delay in whole nano",
    LINK + "1 2 1Gbps 1ns 0.01\n": "the error rate 0.01 in line 4 of topology.txt, expected 0; errors"
    " are faults of an experiment; write 0, and below faults {kind: loss, target: h1-s2, probability: 0.01}",
    LINK + "0 2 1Gbps 1ns 0\n": "another link of h0 and s2 in line 4 of topology.txt, expected one",
    "4 2 2\n2 3\n0 2 1Gbps 1ns 0\n0 3 1Gbps 1ns 0\n": "another link of h0 in line 4",
}  # fmt: skip


@pytest.mark.parametrize("text", BAD_TOPOLOGY)
def test_wrong_line_of_a_topology_is_an_error(text: str) -> None:
    assert refusal(read_topology, "topology.txt", text).startswith(BAD_TOPOLOGY[text])


def test_error_about_a_long_error_rate_is_short() -> None:
    """Also one with too many zeros for a backtracking match."""
    for rate in ("1" * 200_000, "0" * 200_000 + "x"):
        assert len(refusal(read_topology, "topology.txt", f"{LINK}1 2 1Gbps 1ns {rate}\n")) < 500
