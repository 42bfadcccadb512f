"""Everyone sends to one and receives from one."""

from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.permutation import Permutation

HOSTS = Placement(tuple(f"h{index}" for index in range(20)), "h19", 9.26e9, 10_000_000_000)


def ends(seed: int, **changes: object) -> list[tuple[str, str]]:
    workload = Permutation.model_validate({"size": "1MB", **changes})
    return [(flow.source, flow.destination) for flow in workload.flows(HOSTS, seed)]


def test_nobody_is_left_out_and_nobody_sends_to_itself() -> None:
    for seed in range(50):
        found = ends(seed)
        assert [a for a, _ in found] == list(HOSTS.hosts)
        assert sorted(b for _, b in found) == sorted(HOSTS.hosts)
        assert all(a != b for a, b in found)


def test_the_seed_decides() -> None:
    assert ends(1) == ends(1) != ends(2)


def test_a_shift() -> None:
    assert ends(1, shift=2)[17:] == [("h17", "h19"), ("h18", "h0"), ("h19", "h1")]
