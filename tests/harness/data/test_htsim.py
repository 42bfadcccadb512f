"""Test conversion from and to htsim's matrices and fat trees."""

import pytest
from helpers.experiments import LEAF_SPINE, link_list, refusal
from pydantic_core import PydanticCustomError

from rogue.harness.data.formats import FORMATS
from rogue.harness.data.source import data_source
from rogue.workloads.topologies.fat_tree import FatTree
from rogue.workloads.topologies.link_file import Links

HTSIM_CM = FORMATS["htsim-cm"]
read_connections, write_connections = HTSIM_CM.read, HTSIM_CM.write

HEAD = "# all to one\nNodes 4\nConnections 2\n"


STARTS = HEAD + "3->1 id 1 start 2500000 size 9\n0->1 start 0 size 7\n"


def test_starts_are_picoseconds_and_the_order_is_that_of_starts() -> None:
    made = read_connections(data_source("a.cm", STARTS.encode()))
    assert made.text == "start_ns,src,dst,size_bytes\n0,h0,h1,7\n2500,h3,h1,9\n"


def test_starts_may_be_microseconds_both_ways() -> None:
    form = HTSIM_CM.start_units["us"]
    made = form.read(data_source("a.cm", STARTS.replace("2500000", "2.5").encode()))
    assert made.text == "start_ns,src,dst,size_bytes\n0,h0,h1,7\n2500,h3,h1,9\n"
    assert form.write is not None
    back = form.write(data_source("f.csv", made.text.encode())).text.splitlines()
    assert back[2:] == ["0->1 id 1 start 0 size 7", "3->1 id 2 start 2.5 size 9"]


ASSUMED = "starts are taken as picoseconds; if the file means another unit, add --start-unit us"


@pytest.mark.parametrize(
    ("starts", "unit", "notes"),
    [
        (("0", "0"), "ps", []),
        (("0", "2000"), "ps", [ASSUMED]),
        (("7", "16"), "ps", [ASSUMED, "2 of 2 starts are rounded to whole nanoseconds"]),
        (("0", "1500"), "ps", [ASSUMED, "1 of 2 starts are rounded to whole nanoseconds"]),
        (("7", "16"), "us", [ASSUMED.replace("pico", "micro").replace("-unit us", "-unit ps")]),
    ],
)
def test_the_assumed_unit_and_rounded_starts_are_reported(
    starts: tuple[str, str], unit: str, notes: list[str]
) -> None:
    text = HEAD + "".join(
        f"{sender}->1 start {start} size 7\n" for sender, start in zip("03", starts, strict=True)
    )
    made = HTSIM_CM.start_units[unit].read(data_source("a.cm", text.encode()))
    assert made.notes == ["ids of connections are left out", *notes]


def test_priorities_are_groups_where_they_differ() -> None:
    text = HEAD + "0->1 id 1 start 0 size 7\n3->1 id 2 start 1000 size 9 prio 5\n"
    ours = read_connections(data_source("a.cm", text.encode())).text
    assert ours.splitlines()[1:] == ["0,h0,h1,7,prio2000000", "1,h3,h1,9,prio5"]
    assert write_connections(data_source("f.csv", ours.encode())).text == text.partition("\n")[2]


BAD_MATRIX = {
    HEAD
    + "0->1 start 0 size 7\n": "1 connections in a.cm, expected the 2 that its line Connections announces",
    HEAD + "0->4 start 0 size 7\n": "0->4 in line 4 of a.cm, expected two different nodes below 4",
    HEAD + "0-1 start 0 size 7\n": "0-1 in line 4 of a.cm, expected a connection, such as",
    HEAD
    + "0->1 start 0 size 0\n": "the size 0 in line 4 of a.cm, expected 1 to 2147483647 bytes; in htsim 0",
    HEAD + "0->1 start nan size 7\n": "nan in line 4 of a.cm, expected a start, which is",
    HEAD + "0->1 size 7\n": "no start in line 4",
    HEAD + "0->1 start 0 size\n": "nothing in line 4 of a.cm, expected a size in bytes",
    HEAD + "0->1 start 0 size 7 speed 3\n": "speed in line 4 of a.cm, expected start, size, id and prio",
    HEAD
    + "0->1 id 1 trigger 2 size 7\n": "trigger in line 4 of a.cm, expected a connection that starts by the",
    HEAD + "trigger id 2 oneshot\n": "a trigger in line 4",
    "Nodes many\n": "many in line 1 of a.cm, expected Nodes, a whole number",
    "Nodes 4\nConnections 0\n": "no connections in a.cm, expected at least one connection",
    "Nodes 4\n0->1 start 0 size 7\n": "1 connections in a.cm, expected a line Connections with this number",
    HEAD: "0 connections in a.cm, expected the 2 that its line Connections announces",
}


@pytest.mark.parametrize("text", BAD_MATRIX)
def test_wrong_line_is_an_error(text: str) -> None:
    assert refusal(read_connections, "a.cm", text).startswith(BAD_MATRIX[text])


def test_groups_without_a_priority_are_noted() -> None:
    text = "start_ns,src,dst,size_bytes,group\n0,h0,h1,7,web\n1,h0,h1,7,prio5\n2,h0,h1,7,pg3\n"
    made = write_connections(data_source("f.csv", text.encode()))
    assert made.notes == ["groups that are no prioN become prio2000000: web, pg3"]


def test_size_above_the_htsim_limit_is_an_error() -> None:
    with pytest.raises(PydanticCustomError, match="as htsim reads"):
        write_connections(data_source("f.csv", b"start_ns,src,dst,size_bytes\n0,h0,h1,2147483648\n"))


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


def test_a_leaf_spine_has_a_link_from_each_rack_to_each_spine() -> None:
    """An uplink is as fast as the tier above says of its links down."""
    net = network(LEAF_SPINE)
    assert (len(net.host_names()), net.switch_names()) == (8, ("s0", "s1", "s2", "s3"))
    assert [(link.a, link.b, link.rate_bps, link.delay_ns) for link in net.links()[8:]] == [
        (rack, spine, 2 * 10**11, 500) for rack in ("s0", "s1") for spine in ("s2", "s3")
    ]
    assert net.host_rate_bps("h7") == 10**11


def test_three_tiers_have_as_many_paths_as_a_fat_tree() -> None:
    net, tree = network(THREE_TIERS), FatTree.model_validate({"kind": "fat_tree", "k": 4, "rate": "10Gbps"})
    assert len(net.links()) == len(tree.links())
    for other in ("h1", "h2", "h4", "h15"):
        for ours in (net, tree):
            assert ours.path_shape("h0", other) is not None
        counts = [each.shortest_paths.count("h0", other) for each in (net, tree)]
        assert counts[0] == counts[1]
        assert len(net.path("h0", other)) == len(tree.path("h0", other))


def test_switch_latency_is_added_to_links() -> None:
    """Over a rack's switch (300 ns), a spine (100 ns) and a rack's switch: 3000 + 700 ns in all."""
    slow = LEAF_SPINE.replace("Radix_Up 2", "Radix_Up 2\nSwitch_Latency_ns 300") + "Switch_Latency_ns 100\n"
    assert sum(link.delay_ns for link in network(slow).path("h0", "h7")) == 2 * 1000 + 2 * 500 + 700


def test_queues_are_left_out_with_a_note() -> None:
    made = read_tree(data_source("a.topo", (LEAF_SPINE + "Queue_Down 100\n").encode()))
    assert made.notes[0].startswith("what a tier says of queue_down is left out")


BAD_TREE = {
    "": "no nodes in a.topo, expected a tree as htsim has it",
    LEAF_SPINE.replace("Tiers 2", "Tiers 1").replace("Radix_Up 2\n", ""): "1 tiers in a.topo",
    LEAF_SPINE.replace("Tiers 2", "Tiers 3"): "no radix_up in tier 1 in a.topo",
    LEAF_SPINE.replace(
        "Radix_Up 2", "Radix_Up"
    ): "nothing in line 7 of a.topo, expected radix_up, a whole number",
    LEAF_SPINE.replace(
        "Radix_Down 2", "Radix_Down 1"
    ): "4 uplinks of racks, 1 ports down of each switch above in a.topo, expected one link",
    LEAF_SPINE.replace("Nodes 8", "Nodes 9"): "9 nodes, 8 in a pod, 4 in a rack in a.topo",
    LEAF_SPINE.replace("Nodes 8", "Nodes 16"): "2 pods in a.topo, expected one pod",
    LEAF_SPINE + "Bundle 2\n": "bundle 2 in line 14 of a.topo, expected 1, for two switches have one link",
    LEAF_SPINE + "Radix_Down 2\n": "radix_down again in line 14",
    LEAF_SPINE + "Tier 3\n": "tier 3 in line 14",
    LEAF_SPINE + "Colour 3\n": "colour in line 14 of a.topo, expected nodes, tiers, podsize, then tiers with",
    THREE_TIERS.replace("Radix_Down 4", "Radix_Down 8"): "16 uplinks to 2 cores",
}


@pytest.mark.parametrize("text", BAD_TREE)
def test_wrong_tree_is_an_error(text: str) -> None:
    assert refusal(read_tree, "a.topo", text).startswith(BAD_TREE[text])


def test_error_about_a_long_key_is_short() -> None:
    with pytest.raises(PydanticCustomError) as caught:
        read_tree(data_source("a.topo", b"k" * 5_000 + b" x\n"))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("text", [LEAF_SPINE, THREE_TIERS])
def test_too_many_links_are_refused_before_creation(text: str) -> None:
    """A short file may contain any number."""
    huge = text.replace("Radix_Up 2", "Radix_Up 222222222222222")
    assert refusal(read_tree, "a.topo", huge).endswith(
        "links in a.topo, expected at most 40000 links; take some away"
    )
