from collections.abc import Sequence

from helpers.fake_agents import fake_inventory
from helpers.nodes import host_facts

from rogue.harness.provisioning.doctor import grouped
from rogue.harness.provisioning.findings import Examination, Finding, judge

INVENTORY = fake_inventory(12)
NODES = tuple(f"h{number}" for number in range(12))


def not_provisioned(node: str) -> Finding:
    return Finding(node, "state", "a node that is not provisioned", "a provisioned one", "run it")


def way(node: str, peer: str, small: Sequence[str] = ()) -> Finding:
    """What is said of a host that a peer does not reply to.

    small: peers that reply to small packets.
    """
    (host,) = (each for each in INVENTORY.hosts if each.name == node)
    facts = host_facts(str(host.variables.experiment_address), peer)
    facts |= {"round_trips_ms": {peer: None}, "small_packets_only": small}
    (found,) = judge(INVENTORY, {}, Examination({node: facts}, {}, {}))
    return found


def test_twelve_nodes_make_one_sentence_in_their_order() -> None:
    (found,) = grouped(map(not_provisioned, NODES))
    assert str(found) == (
        "refused: h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11: state: got a node that is not "
        "provisioned, expected a provisioned one; run it."
    )


def test_nodes_stand_in_the_order_of_the_inventory() -> None:
    (found,) = grouped(map(not_provisioned, ("h3", "h10", "h2")), NODES)
    assert found.node == "h2, h3, h10"


def test_what_differs_in_anything_stays_apart() -> None:
    warning = Finding("h1", "state", "a node that is not provisioned", "a provisioned one", "run it", False)
    other = Finding("h2", "state", "another", "a provisioned one", "run it")
    assert grouped([not_provisioned("h0"), warning, other]) == [not_provisioned("h0"), warning, other]


def test_each_stands_where_the_first_of_its_kind_stood() -> None:
    other = Finding("h0", "clock", "+700 s", "600 s", "set it")
    found = grouped([not_provisioned("h0"), other, not_provisioned("h1")])
    assert [(each.node, each.what) for each in found] == [("h0, h1", "state"), ("h0", "clock")]


def test_a_network_that_passes_nothing_is_one_sentence() -> None:
    (found,) = grouped(way(node, peer) for node in NODES for peer in NODES if peer != node)
    assert (found.node, found.what) == (", ".join(NODES), "the ways between them over the experiment network")


def test_a_host_that_nobody_reaches_is_one_sentence_and_its_own_ways_are_named() -> None:
    found = grouped([*(way(node, "h3") for node in ("h0", "h1", "h2")), way("h3", "h0")])
    assert [(each.node, each.what.split(" over")[0]) for each in found] == [
        ("h0, h1, h2", "way to h3"), ("h3", "way to h0"),
    ]  # fmt: skip


def test_ways_that_fail_for_another_reason_are_not_among_all() -> None:
    """Of three hosts two ways pass small packets alone, so that neither reason is that of all six."""
    small = [way("h0", "h1", ["h1"]), way("h1", "h0", ["h0"])]
    others = [way("h0", "h2"), way("h1", "h2"), way("h2", "h0"), way("h2", "h1")]
    assert [each.node for each in grouped([*small, *others])] == ["h0", "h1", "h0, h1", "h2", "h2"]


def test_between_two_nodes_each_way_is_named() -> None:
    pair = [way("h0", "h1"), way("h1", "h0")]
    assert grouped(pair) == pair
