"""By what PCI keeps completions from their host. Without drift and offset a timestamp is host time."""

from dataclasses import replace

import pytest
from helpers.networks import MILLISECOND_NS, Host, ReferenceSimulation, Star, connect, direct

from rogue.simulator import CX3PRO, IDEAL, NicProfile, Simulation

ALWAYS = replace(IDEAL, pci_rc_ns=2_000, pci_uc_ns=6_000)
PCI = replace(ALWAYS, pci_late_ns=2_000, pci_late_probability=0.125)
IDLE_ROUND_TRIP_NS = 2_966


def idle_round_trip(profile: NicProfile, length_bytes: int) -> tuple[int, int]:
    """When the host sees one RC WRITE complete, and what the card's clock says of it."""
    simulation = direct(profile=profile)
    queue_pair = connect(simulation, "a", "b")
    host = Host(queue_pair)
    queue_pair.post_write(1, length_bytes, True)
    simulation.run_until(MILLISECOND_NS)
    [(now_ns, [(_, _, nic_ns, _, _)])] = host.polls
    return now_ns, nic_ns


def test_an_idle_round_trip_by_hand() -> None:
    """1122 and 86 wire bytes at .8 ns, 1 us each way: 897.6 + 68.8 + 2000 ns, and 2 us of PCI."""
    assert idle_round_trip(IDEAL, 1024) == (IDLE_ROUND_TRIP_NS, IDLE_ROUND_TRIP_NS)
    assert idle_round_trip(ALWAYS, 1024) == (IDLE_ROUND_TRIP_NS + 2_000, IDLE_ROUND_TRIP_NS + 2_000)


def test_an_empty_verb_takes_none() -> None:
    assert idle_round_trip(ALWAYS, 0) == idle_round_trip(IDEAL, 0)


def seen_one_by_one(profile: NicProfile, verbs: int) -> list[int]:
    """By what each of some WRITEs is seen after its acknowledgement, if nothing else is on its way."""
    simulation = Star(hosts=2, profile=profile).build()
    simulation.record_oracle_rtt()
    queue_pair = connect(simulation, "h0", "h1")
    seen_ns: list[int] = []

    def on_completions(now_ns: int, completions: list[tuple[int, int, int, int, int | None]]) -> None:
        seen_ns.append(now_ns)
        if len(seen_ns) < verbs:
            queue_pair.post_write(len(seen_ns), 100, True)

    queue_pair.attach(on_completions, lambda now, state: None)
    queue_pair.post_write(0, 100, True)
    simulation.run_until(100 * MILLISECOND_NS)
    acknowledged_ps = simulation.oracle_table()["t_comp_ps"].tolist()
    return [now - at // 1_000 for now, at in zip(seen_ns, acknowledged_ps, strict=True)]


def test_a_verb_with_data_takes_two_microseconds_and_sometimes_four() -> None:
    late_ns = seen_one_by_one(PCI, 4_000)
    assert set(late_ns) == {2_000, 4_000}
    assert late_ns.count(4_000) == pytest.approx(500, abs=4 * 21)  # sigma = sqrt(4000 * .125 * .875)


def test_the_times_can_be_switched_off() -> None:
    assert set(seen_one_by_one(IDEAL, 10)) == {0}
    assert set(seen_one_by_one(ALWAYS, 100)) == {2_000}


def test_no_completion_overtakes_another() -> None:
    """A WRITE of 100 bytes is acknowledged every .16 us, and one in eight is 2 us later than the others."""
    simulation = Star(hosts=2, profile=PCI).build()
    host = Host(queue_pair := connect(simulation, "h0", "h1"))
    for wr_id in range(400):
        queue_pair.post_write(wr_id, 100 if wr_id % 3 else 0, True)
    simulation.run_until(MILLISECOND_NS)
    assert [wr_id for wr_id, *_ in host.completions] == list(range(400))
    stamps_ns = [nic_ns for _, _, nic_ns, _, _ in host.completions]
    assert stamps_ns == sorted(stamps_ns)
    assert stamps_ns == [now for now, completions in host.polls for _ in completions]


def test_the_acknowledgement_over_uc_has_the_time_of_the_exchange() -> None:
    def seen_at(profile: NicProfile) -> list[list[int]]:
        simulation = Star(hosts=2, profile=profile).build()
        ends = simulation.connect("h0", "h1", mtu_bytes=1024, retry_count=0, timeout_exponent=0, service="uc")
        seen: list[list[int]] = [[], [], []]
        for at, end in enumerate(ends):
            end.attach(
                lambda now, completions: seen[2].extend(now for _ in completions),
                lambda now, state: None,
                lambda now, receives, at=at: seen[at].extend(now for _ in receives),
            )
        ends[0].post_write(1, 5_000, True, imm=1)
        ends[1].post_write(1, 0, True, imm=2)
        simulation.run_until(MILLISECOND_NS)
        return seen

    [[acknowledgement_ns], received_ns, sent_ns] = seen_at(IDEAL)
    assert seen_at(PCI) == [[acknowledgement_ns + 6_000], received_ns, sent_ns]


def test_a_queue_pair_that_is_reset_tells_nothing_more() -> None:
    simulation = direct(profile=ALWAYS)
    host = Host(queue_pair := connect(simulation, "a", "b"))
    queue_pair.post_write(1, 1024, True)
    simulation.run_until(IDLE_ROUND_TRIP_NS + 100)
    queue_pair.reset()
    simulation.run_until(MILLISECOND_NS)
    assert host.polls == []


def test_what_is_on_its_way_is_seen_before_a_failure() -> None:
    """The first NAK ends a queue pair without retries, while the packets before the lost one are on PCI."""
    simulation = direct(profile=replace(IDEAL, pci_rc_ns=4_000), loss_probability=0.01)
    host = Host(queue_pair := connect(simulation, "a", "b", retry_count=0))
    for wr_id in range(400):
        queue_pair.post_write(wr_id, 1024, True)
    simulation.run_until(MILLISECOND_NS)
    [(failed_ns, _)] = host.events
    assert [wr_id for wr_id, *_ in host.completions] == list(range(400))
    assert host.polls[-1][0] == failed_ns
    is_success = [status == 0 for _, status, *_ in host.polls[-1][1]]
    assert is_success == sorted(is_success, reverse=True)
    assert 3 <= sum(is_success) <= 4  # in 4 us


def test_both_engines_are_late_alike() -> None:
    def seen(simulation_type: type[Simulation]) -> list[tuple[int, int, int]]:
        simulation = Star(hosts=3, profile=CX3PRO).build(simulation_type)
        found: list[tuple[int, int, int]] = []
        for i in range(2):
            queue_pair = connect(simulation, f"h{i}", "h2")
            queue_pair.attach(
                lambda now, completions: found.extend((now, wr_id, at) for wr_id, _, at, _, _ in completions),
                lambda now, state: None,
            )
            for wr_id in range(200):
                queue_pair.post_write(wr_id, 3_000, True)
        simulation.run_until(5 * MILLISECOND_NS)
        return found

    assert len(seen(Simulation)) == 400
    assert seen(Simulation) == seen(ReferenceSimulation)
