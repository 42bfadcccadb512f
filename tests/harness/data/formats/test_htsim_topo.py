"""Topologies of htsim."""

import pytest
from helpers.experiments import LEAF_SPINE, link_list
from pydantic_core import PydanticCustomError

from rogue.harness.data.formats import FORMATS
from rogue.harness.data.source import data_source
from rogue.workloads.topologies.fat_tree import FatTree
from rogue.workloads.topologies.link_file import Links

read_tree = FORMATS["htsim-topo"].read

THREE_TIERS = """\
# the fat tree of switches with four ports
Nodes 16
Tiers 3
Podsize 4
Tier 0
Downlink_speed_Gbps 10
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 10
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Bundle 1
Tier 2
Downlink_speed_Gbps 10
Radix_Down 4
Downlink_Latency_ns 1000
"""


def network(text: str) -> Links:
    made = read_tree(data_source("a.topo", text.encode()))
    return Links.model_validate({"kind": "links", "file": link_list(made.text)})


def told(text: str) -> str:
    with pytest.raises(PydanticCustomError) as caught:
        read_tree(data_source("a.topo", text.encode()))
    assert caught.value.context is not None
    return f"{caught.value.context['got']}, expected {caught.value.context['expected']}"


def test_a_leaf_spine_has_a_link_from_each_rack_to_each_spine() -> None:
    """An uplink is as fast as the tier above says of its links down."""
    net = network(LEAF_SPINE)
    assert (len(net.host_names()), net.switch_names()) == (8, ("s0", "s1", "s2", "s3"))
    assert [(link.a, link.b, link.rate_bps, link.delay_ns) for link in net.links()[8:]] == [
        (rack, spine, 2 * 10**11, 500) for rack in ("s0", "s1") for spine in ("s2", "s3")
    ]
    assert net.host_rate_bps("h7") == 10**11


def test_three_tiers_have_as_many_ways_as_a_fat_tree() -> None:
    net, tree = network(THREE_TIERS), FatTree.model_validate({"kind": "fat_tree", "k": 4, "rate": "10Gbps"})
    assert len(net.links()) == len(tree.links())
    for other in ("h1", "h2", "h4", "h15"):
        for ours in (net, tree):
            assert ours.path_shape("h0", other) is not None
        counts = [each.shortest_paths.count("h0", other) for each in (net, tree)]
        assert counts[0] == counts[1]
        assert len(net.path("h0", other)) == len(tree.path("h0", other))


def test_the_time_that_switches_take_is_in_the_links() -> None:
    """Over a rack's switch (300 ns), a spine (100 ns) and a rack's switch: 3000 + 700 ns in all."""
    slow = LEAF_SPINE.replace("Radix_Up 2", "Radix_Up 2\nSwitch_Latency_ns 300") + "Switch_Latency_ns 100\n"
    assert sum(link.delay_ns for link in network(slow).path("h0", "h7")) == 2 * 1000 + 2 * 500 + 700


def test_queues_are_left_out_with_a_note() -> None:
    made = read_tree(data_source("a.topo", (LEAF_SPINE + "Queue_Down 100\n").encode()))
    assert made.notes[0].startswith("what a tier says of queue_down is left out")


BAD = {
    "": "no nodes in a.topo, expected a tree as htsim has it",
    LEAF_SPINE.replace("Tiers 2", "Tiers 1").replace("Radix_Up 2\n", ""): "1 tiers in a.topo",
    LEAF_SPINE.replace("Tiers 2", "Tiers 3"): "no radix_up in tier 1 in a.topo",
    LEAF_SPINE.replace(
        "Radix_Up 2", "Radix_Up"
    ): "nothing in line 7 of a.topo, expected radix_up, a whole number",
    LEAF_SPINE.replace("Radix_Up 2", "Radix_Up -2"): "-2 in line 7",
    LEAF_SPINE.replace(
        "Radix_Down 2", "Radix_Down 1"
    ): "4 uplinks of racks, and 1 ports down of each switch above",
    LEAF_SPINE.replace("Nodes 8", "Nodes 9"): "9 nodes, 8 in a pod, 4 in a rack in a.topo",
    LEAF_SPINE.replace("Nodes 8", "Nodes 80000"): "80000 nodes, 8 in a pod",
    LEAF_SPINE.replace("Nodes 8", "Nodes 16"): "2 pods in a.topo, expected one pod",
    LEAF_SPINE + "Bundle 2\n": "bundle 2 in line 14 of a.topo, expected 1, for two switches have one link",
    LEAF_SPINE + "Radix_Down 2\n": "radix_down again in line 14",
    LEAF_SPINE + "Tier 3\n": "tier 3 in line 14",
    LEAF_SPINE + "Colour 3\n": "colour in line 14 of a.topo, expected nodes, tiers, podsize, then tiers with",
    THREE_TIERS.replace("Radix_Down 4", "Radix_Down 8"): "16 uplinks to 2 cores",
}


@pytest.mark.parametrize("text", BAD)
def test_a_wrong_file_is_a_sentence(text: str) -> None:
    assert told(text).startswith(BAD[text])


def test_a_key_of_any_length_is_told_in_a_sentence() -> None:
    with pytest.raises(PydanticCustomError) as caught:
        read_tree(data_source("a.topo", b"k" * 5_000 + b" x\n"))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("text", [LEAF_SPINE, THREE_TIERS])
def test_more_links_than_fit_are_told_before_they_are_made(text: str) -> None:
    """Any number may stand in a short file."""
    huge = text.replace("Radix_Up 2", "Radix_Up 222222222222222")
    assert told(huge).endswith("links in a.topo, expected at most 40000 links")
