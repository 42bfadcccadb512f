"""Tests: a network that a file describes, link by link."""

import pytest
from helpers.experiments import NETWORK, link_list

from rogue.workloads.ideal import ideal_goodput_bps
from rogue.workloads.topologies import Link
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


def test_a_link_without_a_delay_has_the_topologys() -> None:
    found = link_list("links: [{link: h0-s0, rate: 1Gbps}, {link: s0-h1, rate: 2Gbps, delay: 0s}]")
    assert found.with_delay(700) == (Link("h0", "s0", 10**9, 700), Link("s0", "h1", 2 * 10**9, 0))
