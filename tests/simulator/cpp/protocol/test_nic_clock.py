from dataclasses import replace
from itertools import pairwise

from helpers.networks import MILLISECOND_NS, Star, connect

from rogue.simulator import CX3PRO, IDEAL, NicProfile

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


def test_clocks_follow_the_seed() -> None:
    assert readings(CX3PRO, seed=1) == readings(CX3PRO, seed=1)
    assert readings(CX3PRO, seed=1) != readings(CX3PRO, seed=2)


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
    # Two links each way: 2 * (.8976 + 1) us there, 2 * (.0688 + 1) us back.
    [(now_ns, completed_nic_ns, read_nic_ns)] = seen
    assert now_ns == 5_932
    assert completed_nic_ns == read_nic_ns
    assert completed_nic_ns - before_ns in (5_932, 5_933)
