"""A network from a file."""

import pytest
from helpers.data_files import NETWORK, link_list

from rogue.workloads.ideal import ideal_goodput_bps
from rogue.workloads.topologies.links import Links

NET = Links.model_validate({"kind": "links", "file": link_list(NETWORK.read_text()), "delay": "2us"})


def test_hosts_switches_and_links_are_those_of_the_file() -> None:
    assert NET.host_names() == ("h0", "h1", "h2", "h3")
    assert NET.switch_names() == ("s0", "s1")
    assert [link.delay_ns for link in NET.path("h0", "h3")] == [2000, 5000, 2000]
    assert NET.host_rate_bps("h3") == 2 * 10**9
    assert NET.described() == "links: 4 hosts, 2 switches, 5 links at 1Gbps and 2Gbps and 4Gbps"


def test_the_slowest_link_of_a_path_is_its_yardstick() -> None:
    """1 Gb/s times 1024 of 1024 + 62 + 20 bytes, whatever h3's own rate is."""
    assert ideal_goodput_bps(NET, "h3", "h0") == pytest.approx(10**9 * 1024 / 1106)


def test_numbers_may_have_gaps() -> None:
    found = link_list("links: [{link: h7-s3, rate: 1Gbps}, {link: h10-s3, rate: 1Gbps}]")
    net = Links.model_validate({"kind": "links", "file": found})
    assert net.host_names() == ("h7", "h10")
    assert net.placement(has_probe=False).receiver == "h10"
