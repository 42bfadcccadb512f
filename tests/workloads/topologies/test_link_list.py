"""Links as a file has them."""

from helpers.data_files import link_list

from rogue.workloads.topologies import Link


def test_a_link_without_a_delay_has_the_topologys() -> None:
    found = link_list("links: [{link: h0-s0, rate: 1Gbps}, {link: s0-h1, rate: 2Gbps, delay: 0s}]")
    assert found.with_delay(700) == (Link("h0", "s0", 10**9, 700), Link("s0", "h1", 2 * 10**9, 0))
