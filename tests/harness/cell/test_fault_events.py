"""When links change."""

from pathlib import Path

from helpers.experiments import cell_of

from rogue.harness.cell.cell import fault_events

CUT = "faults=[{kind: link_cut, at: 1ms, target: h1, duration: 2ms}]"
LOSS = "faults=[{kind: loss, target: s0-h1, %s}]"


def test_changes_of_links_by_time(tmp_path: Path) -> None:
    assert fault_events(cell_of(tmp_path, CUT), 10**9) == [
        ("", 1_000_000, "link_cut", "h1"),
        ("", 3_000_000, "link_restored", "h1"),
    ]
    assert [row[2] for row in fault_events(cell_of(tmp_path, CUT), 2_000_000)] == ["link_cut"]
    losses = cell_of(tmp_path, LOSS % "one_in: 8, from: 1ms, until: 2ms")
    assert fault_events(losses, 10**9) == [
        ("", 1_000_000, "loss_begins", "s0-h1"),
        ("", 2_000_000, "loss_ends", "s0-h1"),
    ]
    assert fault_events(cell_of(tmp_path, LOSS % "one_in: 0"), 10**9) == []


def test_what_chance_decides_is_told_link_by_link(tmp_path: Path) -> None:
    """The seed decides: two repetitions have other links."""
    tree = "topology={kind: fat_tree, k: 4, rate: 10Gbps}"
    failures = "faults=[{kind: link_failures, links: 3, at: 1ms, duration: 2ms, reroute_after: 1us}]"
    twice = ("transports=[roce]", "repetitions=2")
    told = [fault_events(cell_of(tmp_path, tree, failures, *twice, index=index), 10**9) for index in (0, 1)]
    assert [[event for _, _, event, _ in rows].count("rerouted") for rows in told] == [3, 3]
    links = [{target for *_, target in rows} for rows in told]
    assert len(links[0]) == 3
    assert links[0] != links[1]


def test_what_goes_wrong_at_hosts_and_in_switches(tmp_path: Path) -> None:
    def events(fault: str) -> list[tuple[int, str, str]]:
        cell = cell_of(tmp_path, f"faults=[{{{fault}}}]")
        return [(t_ns, event, target) for _, t_ns, event, target in fault_events(cell, 10**9)]

    assert events("kind: pause_storm, target: h1, at: 1ms, duration: 2ms") == [
        (1_000_000, "pause_storm_begins", "h1"),
        (3_000_000, "pause_storm_ends", "h1"),
    ]
    assert events("kind: slow_receiver, target: h1, rate: 1Gbps") == [(0, "slow_receiver_begins", "h1")]
    assert events("kind: slow_receiver, target: h1, rate: 1Gbps, at: 1us, duration: 2us") == [
        (1_000, "slow_receiver_begins", "h1"),
        (3_000, "slow_receiver_ends", "h1"),
    ]
    assert events("kind: flooding, target: s0, destination: h1") == [(0, "flooding", "s0")]
    assert events("kind: misrouting, target: s0-h1, destination: h1") == [(0, "misrouting", "s0-h1")]
