"""Topology files of HPCC's simulator."""

import pytest
from helpers.experiments import link_list
from pydantic_core import PydanticCustomError

from rogue.harness.data.formats import FORMATS
from rogue.harness.data.source import data_source

FORM = FORMATS["hpcc-topology"]
read_topology, write_topology = FORM.read, FORM.write

TOPOLOGY = (
    "5 2 4\n3 4\n0 3 100Gbps 1000ns 0.000000\n1 3 10Mb/s 0.001ms 0\n2 4 1.5Gbps 0s 0\n3 4 400Gbps 2us 0\n"
)


def told(text: str) -> str:
    with pytest.raises(PydanticCustomError) as caught:
        read_topology(data_source("topology.txt", text.encode()))
    assert caught.value.context is not None
    context = caught.value.context
    return f"{context['got']}, expected {context['expected']}; {context['advice']}"


def test_what_is_no_switch_is_a_host_and_numbers_stay() -> None:
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
        ("5 2 1 4", True),
        ("5 2 1 4 100000000000 25000000000.0", True),
        ("5 8 0 2 4 H100", True),
        ("5 8 1 1 4 X000 8", True),
    ],
)
def test_the_first_line_is_that_of_any_family(first: str, is_longer: bool) -> None:
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
        ("25Gb/s", 25 * 10**9),
        ("125MB/s", 10**9),
        ("125MBps", 10**9),
        ("0.5Gib/s", 2**29),
        ("2MiB/s", 2**24),
        ("8kbps", 8_000),
        ("8Kb/s", 8_000),
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


def test_nodes_without_a_link_are_told() -> None:
    text = "4 1 2\n0\n0 1 1Gbps 1ns 0\n0 2 1Gbps 1ns 0\n"
    assert read_topology(data_source("t", text.encode())).notes == ["1 nodes without a link are left out"]


def test_the_way_back_gives_the_same_network() -> None:
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
BAD = {
    "": "nothing in line 1 of topology.txt, expected the numbers of nodes, switches and links",
    "2 3 1\n": "2 3 1 in line 1",
    "3 1 0\n2\n": "3 1 0 in line 1 of topology.txt, expected up to 100000 nodes with the switches",
    "3 1 1 2 5\n": "3 1 1 2 5 in line 1 of topology.txt, expected the numbers of nodes, switches and links",
    "3 1 1 x\n": "x in line 1 of topology.txt, expected a number of nodes, switches or links",
    "3 1 2\n3\n": "3 in line 2 of topology.txt, expected 1 different numbers of switches, below 3",
    TOPOLOGY.replace("5 2", "5 1"): "3 4 in line 2 of topology.txt, expected numbers of 1 switches",
    "3 1 2\n2\n0 2 1Gbps 1ns 0\n": "1 links in topology.txt, expected the 2 that line 1 announces",
    LINK + "1 2 1Gbps 1ns\n": "1 2 1Gbps 1ns in line 4 of topology.txt, expected two nodes, rate, delay",
    LINK + "1 3 1Gbps 1ns 0\n": "1 3 in line 4 of topology.txt, expected two different nodes below 3",
    LINK + "1 2 1Gbit 1ns 0\n": "1Gbit in line 4 of topology.txt, expected a rate",
    LINK + "1 2 nan 1ns 0\n": "nan in line 4",
    LINK + "1 2 1Gbps 0.5ns 0\n": "0.5ns in line 4 of topology.txt, expected a delay in whole nano",
    LINK + "1 2 1Gbps 1ns 0.01\n": "the error rate 0.01 in line 4 of topology.txt, expected 0; errors"
    " are faults of an experiment; write 0, and below faults {kind: loss, target: h1-s2, probability: 0.01}",
    LINK + "0 2 1Gbps 1ns 0\n": "another link of h0 and s2 in line 4 of topology.txt, expected one",
    "4 2 2\n2 3\n0 2 1Gbps 1ns 0\n0 3 1Gbps 1ns 0\n": "another link of h0 in line 4",
}  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_a_wrong_line_is_named(text: str) -> None:
    assert told(text).startswith(BAD[text])


def test_an_error_rate_of_any_length_is_told_in_a_sentence() -> None:
    """Also of so many zeros that they cannot be tried in all ways."""
    for rate in ("1" * 200_000, "0" * 200_000 + "x"):
        assert len(told(f"{LINK}1 2 1Gbps 1ns {rate}\n")) < 500
