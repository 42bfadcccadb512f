from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from rogue.simulator.routing import Router

# Two hosts (0, 1), two edge switches (2, 3), four spines (4 ... 7); each line is one full-duplex link.
LEAF_SPINE = [(0, 2), (1, 3)] + [(edge, spine) for edge in (2, 3) for spine in (4, 5, 6, 7)]


def router(joined: list[tuple[int, int]], hosts: set[int], seed: int = 0) -> Router:
    nodes = max(max(ends) for ends in joined) + 1
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for number, (a, b) in enumerate(joined):
        neighbours[a].append((b, 2 * number))
        neighbours[b].append((a, 2 * number + 1))
    return Router(neighbours, [node in hosts for node in range(nodes)], seed)


def test_a_route_is_the_links_in_the_direction_of_travel() -> None:
    line = router([(0, 2), (2, 3), (3, 1)], {0, 1})
    assert line.route(0, 1, 0) == [0, 2, 4]
    assert line.route(1, 0, 0) == [5, 3, 1]


def test_hosts_do_not_forward() -> None:
    assert router([(0, 1), (1, 2)], {0, 1, 2}).route(0, 2, 0) is None


def test_the_shorter_of_two_ways_is_taken() -> None:
    assert router([(0, 2), (2, 3), (3, 4), (2, 4), (4, 1)], {0, 1}).route(0, 1, 7) == [0, 6, 8]


@given(st.integers(0, 2**63 - 1))
def test_the_same_entropy_gives_the_same_route(entropy: int) -> None:
    fabric = router(LEAF_SPINE, {0, 1})
    route = fabric.route(0, 1, entropy)
    assert route is not None and len(route) == 4
    assert fabric.route(0, 1, entropy) == route


def test_equal_ways_share_the_flows_evenly() -> None:
    fabric = router(LEAF_SPINE, {0, 1})
    taken = Counter(tuple(fabric.route(0, 1, entropy) or ()) for entropy in range(1000))
    assert len(taken) == 4
    assert all(200 <= flows <= 300 for flows in taken.values())  # 250 expected, sigma 14


def test_another_seed_spreads_the_same_flows_otherwise() -> None:
    first, second = (router(LEAF_SPINE, {0, 1}, seed) for seed in (1, 2))
    routes = [[fabric.route(0, 1, entropy) for entropy in range(100)] for fabric in (first, second)]
    same = sum(one == other for one, other in zip(*routes, strict=True))
    assert 10 <= same <= 40  # a quarter by chance


def test_the_way_back_is_chosen_on_its_own() -> None:
    fabric = router(LEAF_SPINE, {0, 1})
    spines = [
        ((fabric.route(0, 1, entropy) or [])[1] // 2 % 4, (fabric.route(1, 0, entropy) or [])[1] // 2 % 4)
        for entropy in range(400)
    ]
    assert len(set(spines)) == 16
    assert 60 <= sum((there + 2) % 4 == back % 4 for there, back in spines) <= 140


def test_switches_on_the_way_choose_independently() -> None:
    """Two tiers of four ways: were the hash the same at both, only four of the sixteen ways would be used."""
    up = [(2, tier) for tier in (4, 5, 6, 7)]
    across = [(tier, 8 + 4 * index + way) for index, tier in enumerate((4, 5, 6, 7)) for way in range(4)]
    down = [(8 + number, 3) for number in range(16)]
    fabric = router([(0, 2), (1, 3), *up, *across, *down], {0, 1})
    taken = Counter(tuple(fabric.route(0, 1, entropy) or ()) for entropy in range(1600))
    assert len(taken) == 16
    assert all(60 <= flows <= 140 for flows in taken.values())  # 100 expected, sigma 10


def test_hosts_of_one_switch_share_a_search() -> None:
    star = router([(0, 4), (1, 4), (2, 4), (3, 4)], {0, 1, 2, 3})
    assert [star.route(0, host, 0) for host in (1, 2, 3)] == [[0, 3], [0, 5], [0, 7]]
    assert star.route(4, 0, 0) == [1]
