"""Times that host software sees: NIC clocks, PCI delays, and arrivals at the other end."""

from dataclasses import replace
from itertools import pairwise

import pytest
from helpers.networks import MILLISECOND_NS, Host, ReferenceSimulation, Star, connect, direct

from rogue.simulator import CX3PRO, IDEAL, NicProfile, QueuePair, Reliability, Simulation

WITHOUT_PCI = replace(CX3PRO, pci_rc_ns=0, pci_late_ns=0)

SECOND_NS = 10**9
HOSTS = 40


def readings(profile: NicProfile, seed: int) -> list[tuple[int, int]]:
    """The clock of each of many NICs, at 0 and at one second."""
    simulation = Star(hosts=HOSTS, profile=profile).build(seed=seed)
    queue_pairs = [connect(simulation, f"h{i}", f"h{(i + 1) % HOSTS}") for i in range(HOSTS)]
    at_start = [queue_pair.nic_clock_ns() for queue_pair in queue_pairs]
    simulation.run_until(SECOND_NS)
    return list(zip(at_start, [queue_pair.nic_clock_ns() for queue_pair in queue_pairs], strict=True))


def test_the_ideal_clock_is_simulated_time() -> None:
    assert readings(IDEAL, seed=1) == [(0, SECOND_NS)] * HOSTS


def test_each_nic_has_its_own_offset_and_drift() -> None:
    clocks = readings(CX3PRO, seed=1)
    offsets = [at_start for at_start, _ in clocks]
    assert len(set(offsets)) == HOSTS
    assert max(offsets) - min(offsets) > 60 * SECOND_NS
    drifts_ns = [later - at_start - SECOND_NS for at_start, later in clocks]
    assert all(-50_001 <= drift <= 50_000 for drift in drifts_ns)
    # Uniform in +-50 us per second: of 40 some lie in each outer quarter.
    assert min(drifts_ns) < -25_000 and max(drifts_ns) > 25_000


def test_a_clock_runs_on_evenly() -> None:
    simulation = Star(hosts=2, profile=WITHOUT_PCI).build(seed=3)
    queue_pair = connect(simulation, "h0", "h1")
    clock = [queue_pair.nic_clock_ns()]
    for step in range(1, 1000):
        simulation.run_until(step * 1000)
        clock.append(queue_pair.nic_clock_ns())
    steps = [later - earlier for earlier, later in pairwise(clock)]
    assert set(steps) <= {999, 1000, 1001}


def test_completions_and_posts_carry_nic_time() -> None:
    simulation = Star(hosts=2, profile=WITHOUT_PCI).build(seed=3)
    queue_pair = connect(simulation, "h0", "h1")
    seen: list[tuple[int, int, int]] = []
    queue_pair.attach(
        lambda now, completions: seen.append((now, completions[0][2], queue_pair.nic_clock_ns())),
        lambda now, state: None,
    )
    before_ns = queue_pair.nic_clock_ns()
    assert queue_pair.post_write(1, 1024, True) == before_ns
    simulation.run_until(MILLISECOND_NS)
    # Two links each way: 2 * (0.8976 + 1) us there, 2 * (0.0688 + 1) us back.
    [(now_ns, completed_nic_ns, read_nic_ns)] = seen
    assert now_ns == 5_932
    assert completed_nic_ns == read_nic_ns
    assert completed_nic_ns - before_ns in (5_932, 5_933)


ALWAYS = replace(IDEAL, pci_rc_ns=2_000, pci_uc_ns=6_000)
PCI = replace(ALWAYS, pci_late_ns=2_000, pci_late_probability=0.125)
IDLE_ROUND_TRIP_NS = 2_966


def idle_round_trip(profile: NicProfile, length_bytes: int) -> tuple[int, int]:
    """Return when the host sees one RC WRITE complete, and the NIC timestamp of its completion."""
    simulation = direct(profile=profile)
    queue_pair = connect(simulation, "a", "b")
    host = Host(queue_pair)
    queue_pair.post_write(1, length_bytes, True)
    simulation.run_until(MILLISECOND_NS)
    [(now_ns, [(_, _, nic_ns, _, _)])] = host.polls
    return now_ns, nic_ns


def test_an_idle_round_trip_by_hand() -> None:
    """1122 and 86 wire bytes at 0.8 ns, 1 us each way: 897.6 + 68.8 + 2000 ns, and 2 us of PCI."""
    assert idle_round_trip(IDEAL, 1024) == (IDLE_ROUND_TRIP_NS, IDLE_ROUND_TRIP_NS)
    assert idle_round_trip(ALWAYS, 1024) == (IDLE_ROUND_TRIP_NS + 2_000, IDLE_ROUND_TRIP_NS + 2_000)


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
    assert late_ns.count(4_000) == pytest.approx(500, abs=4 * 21)  # sigma = sqrt(4000 * 0.125 * 0.875)


def test_the_times_can_be_switched_off() -> None:
    assert set(seen_one_by_one(IDEAL, 10)) == {0}
    assert set(seen_one_by_one(ALWAYS, 100)) == {2_000}


def test_no_completion_overtakes_another() -> None:
    """A WRITE of 100 bytes is acknowledged every 0.16 us, and one in eight is 2 us later than the others."""
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


def test_a_reset_queue_pair_reports_nothing() -> None:
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


ENGINES = pytest.mark.parametrize("engine", [Simulation, ReferenceSimulation])
ACK_PS = 2 * 1_000_000 + 2 * 68_800


def connected(engine: type[Simulation], loss: float = 0.0, **more: object) -> tuple[Simulation, Host]:
    simulation = Star(hosts=2, loss_probability=loss).build(engine)
    values = {"mtu_bytes": 1024, "retry_count": 7, "timeout_exponent": 4} | more
    return simulation, Host(simulation.connect("h0", "h1", **values)[0])  # type: ignore[arg-type]


def watched(queue_pair: QueuePair, *thresholds_bytes: int) -> list[tuple[int, int]]:
    """A list that gets (threshold, instant) of each that is reached."""
    reached: list[tuple[int, int]] = []
    for each in thresholds_bytes:
        queue_pair.call_when_delivered(each, lambda now, each=each: reached.append((each, now)))  # type: ignore[misc]
    return reached


@ENGINES
def test_bytes_arrive_a_way_after_they_left_and_their_acknowledgement_a_way_later(
    engine: type[Simulation],
) -> None:
    """An acknowledgement of 86 bytes takes 68.8 ns per link of 1 us."""
    simulation, host = connected(engine)
    reached = watched(host.queue_pair, 2048, 1024)
    for wr_id in (1, 2):
        host.queue_pair.post_write(wr_id, 1024, True)
    simulation.run_until(MILLISECOND_NS)
    arrived = dict(reached)
    assert list(arrived) == [1024, 2048]
    acknowledged = [now for now, _ in host.polls]
    assert [ack - arrived[at] for ack, at in zip(acknowledged, (1024, 2048), strict=True)] == pytest.approx(
        [ACK_PS / 1000] * 2, abs=1
    )


@ENGINES
@pytest.mark.parametrize(
    "more", [{}, {"reliability": Reliability("irn")}, {"reliability": Reliability("dctcp")}]
)
def test_what_is_lost_on_the_way_has_not_arrived(engine: type[Simulation], more: dict[str, object]) -> None:
    """Each threshold is reached once, in order, and before its acknowledgement."""
    simulation, host = connected(engine, loss=0.02, **more)
    thresholds = [20_000 * number for number in range(1, 11)]
    reached = watched(host.queue_pair, *thresholds)
    for wr_id in range(1, 11):
        host.queue_pair.post_write(wr_id, 20_000, True)
    simulation.run_until(400 * MILLISECOND_NS)
    assert [each for each, _ in reached] == thresholds
    done = {wr_id: now for now, polled in host.polls for wr_id, *_ in polled}
    assert all(now < done[each // 20_000] for each, now in reached)


@ENGINES
def test_sends_reads_and_what_has_come_before(engine: type[Simulation]) -> None:
    simulation, host = connected(engine)
    host.queue_pair.post_send(1, 3000, True)
    host.queue_pair.post_read(2, 5000, True)
    reached = watched(host.queue_pair, 3000, 8000)
    simulation.run_until(MILLISECOND_NS)
    late = watched(host.queue_pair, 8000)
    simulation.run_until(2 * MILLISECOND_NS)
    assert [each for each, _ in reached] == [3000, 8000]
    assert reached[1][1] == next(now for now, polled in host.polls if polled[0][0] == 2), (
        "a READ's bytes arrive where it was posted"
    )
    assert late == [(8000, MILLISECOND_NS)]


@ENGINES
def test_what_was_posted_before_a_reset_is_not_waited_for(engine: type[Simulation]) -> None:
    simulation, host = connected(engine)
    host.queue_pair.post_write(1, 10**6, True)
    reached = watched(host.queue_pair, 10**6)
    simulation.run_until(10_000)
    host.queue_pair.reset()
    simulation.run_until(MILLISECOND_NS)
    assert reached == []
