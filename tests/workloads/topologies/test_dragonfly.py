"""Groups of switches with links between any two of them."""

from collections import Counter

import pytest
from pydantic import ValidationError

from rogue.workloads.topologies.dragonfly import Dragonfly


def dragonfly(**keys: object) -> Dragonfly:
    return Dragonfly.model_validate({"rate": "10Gbps", **keys})


def between_groups(network: Dragonfly) -> Counter[tuple[int, int]]:
    size = network.switches_per_group
    ends = (
        (int(link.a[1:]) // size, int(link.b[1:]) // size) for link in network.links() if link.a[0] == "s"
    )
    return Counter(pair for pair in ends if pair[0] != pair[1])


def test_the_smallest_balanced_one_but_one() -> None:
    """Kim et al., figure 5: p = h = 2 and a = 4 make 9 groups, 36 switches and 72 hosts."""
    network = dragonfly()
    assert (len(network.host_names()), len(network.switch_names()), network.groups_count) == (72, 36, 9)
    assert len(network.links()) == 72 + 9 * 6 + 36
    assert {len(network.links_of[switch]) for switch in network.switch_names()} == {2 + 3 + 2}


@pytest.mark.parametrize(("keys", "links"), [({}, 1), ({"groups": 5}, 2), ({"groups": 3}, 4)])
def test_any_two_groups_have_as_many_links_between_them(keys: dict[str, object], links: int) -> None:
    network = dragonfly(**keys)
    counts = between_groups(network)
    assert len(counts) == network.groups_count * (network.groups_count - 1) // 2
    assert set(counts.values()) == {links}


def test_no_two_switches_are_joined_twice() -> None:
    for keys in (
        {},
        {"groups": 5},
        {"groups": 3},
        {"switches_per_group": 1},
        {"global_links": 4, "groups": 9},
    ):
        links = dragonfly(**keys).links()
        assert len({frozenset((link.a, link.b)) for link in links}) == len(links)


def test_a_path_has_at_most_three_links_between_switches() -> None:
    network = dragonfly()
    lengths = {len(network.path("h0", host)) for host in network.host_names()[1:]}
    assert lengths == {2, 3, 4, 5}


def test_links_between_groups_may_be_longer() -> None:
    network = dragonfly(delay="100ns", global_delay="5us")
    assert Counter(link.delay_ns for link in network.links()) == {100: 72 + 54, 5_000: 36}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"groups": 4}, "share the 8 links of a group evenly"),
        ({"groups": 2}, "at most 1, the number of other groups"),
        ({"switches_per_group": 64, "global_links": 64, "hosts_per_switch": 1}, "at most 65536 hosts"),
    ],
)
def test_impossible_ones_are_refused(keys: dict[str, object], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        dragonfly(**keys)
