"""Break one mechanism at a time; a figure or a published claim must leave its bound.

Mutants of the agent, fixed before the first run (but for the least queue): 10 Gb/s, MTU 1024, `cx3pro`, 1 us
links, base-RTT floor 50 us, RC WRITE, seeds 1 to 3, senders that repeat 128 MB.
  queue     bytes at the receiver's port, unbounded buffer, N = 8, 2 s, median of 1 ms samples: 10 to 200 KB
  latency   median of a WRITE(0) each millisecond from an idle host, N = 4, 2 s: 40 to 80 us
  start     goodput of a lone 16 MB transfer over the link's: at least 0.70
  oracle    goodput of all flows with the oracle estimator, N = 8, 2 s, over the port's: at least 0.97
The oracle estimator, because `drained` hides the card's lag. With swapped signs the queue stays at 1 MB, as
the window stops growing at twice the link's capacity, or is empty (seed 3). Without a floor Jain's index is
above 0.99, over a long queue.

Sabotages of claims run one seed each, shorter than the published runs; the change of the verdict counts.
"""

from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest
from helpers.agent_star import IDEAL_BPS, SECOND_NS, AgentStar, repeated
from helpers.mutation import mutate
from helpers.paper_runs import MTU_OF_BOUNDS, Judged, judged

from rogue.agent.core.application import Schedule
from rogue.agent.core.cc.vegas import Vegas
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.estimators import ESTIMATORS
from rogue.agent.core.feedback_loop import HoldOff
from rogue.harness.cell import marking
from rogue.harness.cell.marking import MarkingCurve
from rogue.simulator.reliability import Reliability

RUN_NS = 2 * SECOND_NS
ENDLESS = repeated(128_000_000, RUN_NS)


class Figure(NamedTuple):
    measure: Callable[[int], float]
    least: float
    most: float

    def holds(self, seed: int) -> bool:
        return self.least <= self.measure(seed) <= self.most


def queue_bytes(seed: int) -> float:
    star = AgentStar(8, ENDLESS, seed=seed, buffer_bytes=None)
    star.simulation.sample_queues(10**6)
    return median(star.run(RUN_NS).queue_bytes())


def latency_us(seed: int) -> float:
    return median(AgentStar(4, ENDLESS, seed=seed, has_probe=True).run(RUN_NS).probe_us())


def start_share(seed: int) -> float:
    star = AgentStar(1, Schedule(16_000_000, HostNs(0)), seed=seed).run(SECOND_NS)
    (record,) = star.flows[0][1].transfers
    assert record.end_ns is not None
    return record.size_bytes * 8 * SECOND_NS / record.end_ns / IDEAL_BPS


def oracle_share(seed: int) -> float:
    return AgentStar(8, ENDLESS, seed=seed, overrides={"estimator": "nic_tx_stamp"}).run(RUN_NS).utilisation()


MUTANT_SEEDS = (1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3)))
QUEUE = Figure(queue_bytes, 10_000, 200_000)
LATENCY = Figure(latency_us, 40, 80)
START = Figure(start_share, 0.70, 1)
ORACLE = Figure(oracle_share, 0.97, 1)


def swapped_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    grow = "elif diff_packets {}:\n        self._grow"
    changes = (
        ("diff_packets > self._beta", "diff_packets < self._alpha"),
        (grow.format("< self._alpha"), grow.format("> self._beta")),
    )
    mutate(monkeypatch, Vegas, "on_sample", *changes)


def no_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch, Vegas, "on_sample", ("max(self._floor_ns, rtt_ns)", "rtt_ns"))


def no_slow_start(monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch, Vegas, "__init__", ("_is_slow_start = self._slow_start", "_is_slow_start = False"))


def no_hold_off(monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch, HoldOff, "restart", ("self._remaining_bytes = self._hold_off_bytes", "pass"))


@pytest.mark.parametrize("seed", MUTANT_SEEDS)
@pytest.mark.parametrize(
    "figure", [QUEUE, LATENCY, START, ORACLE], ids=["queue", "latency", "start", "oracle"]
)
def test_the_whole_agent_is_within_its_bounds(figure: Figure, seed: int) -> None:
    assert figure.holds(seed)


@pytest.mark.parametrize("seed", MUTANT_SEEDS)
@pytest.mark.parametrize(
    ("take_away", "figure"),
    [
        (swapped_signs, QUEUE),
        (no_floor, LATENCY),
        (no_floor, QUEUE),
        (no_slow_start, START),
        (no_hold_off, ORACLE),
    ],
    ids=["signs-queue", "floor-latency", "floor-queue", "slow-start", "hold-off"],
)
def test_the_same_figure_sees_each_mutant(
    take_away: Callable[[pytest.MonkeyPatch], None],
    figure: Figure,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    take_away(monkeypatch)
    assert not figure.holds(seed)


def test_a_mutant_of_text_that_is_not_there_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match="has 0 times: no such text"):
        mutate(monkeypatch, Vegas, "on_loss", ("no such text", ""))


GOOD = ("reproduced", "close")
PARKING_LOT = (
    "rogue-paper/figure-11-13",
    "transports=[rogue]",
    "repetitions=1",
    "workload.repeat_for=1s",
    MTU_OF_BOUNDS,
)
"""RoGUE's probe through three congested links (R-20)."""
DCQCN_QUEUE = (
    "controls/dcqcn-queue",
    "repetitions=1",
    "workload.repeat_for=100ms",
    "factors={workload.senders: [2]}",
)
IRN = (
    "irn-paper/figures-1-6",
    "transports=[{name: irn, label: irn, cap_packets: 111, rto_low: 100us, rto_high: 320us}]",
    "repetitions=1",
    "workload.arrive_for=4ms",
    "workload.ignore_for=1ms",
)


def literal_estimator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ESTIMATORS, "drained_followers", ESTIMATORS["literal"])


def tiny_thresholds(kmax_bytes: int) -> Callable[[pytest.MonkeyPatch], None]:
    def sabotage(monkeypatch: pytest.MonkeyPatch) -> None:
        curve = MarkingCurve(kmin_bytes=0, kmax_bytes=kmax_bytes, pmax=0.01)
        monkeypatch.setattr(marking, "DCQCN_CURVE", curve)

    return sabotage


def no_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(
        monkeypatch,
        Reliability,
        "arguments",
        ("self.parameters.items()", "{**self.parameters, 'cap_packets': 0}.items()"),
    )


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judged]:
    """Every claim of the three experiments without a sabotage."""
    found: dict[str, Judged] = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, *settings in (PARKING_LOT, DCQCN_QUEUE, IRN):
            found |= judged(patch, tmp_path_factory.mktemp("healthy"), name, *settings)
    return found


@pytest.mark.parametrize(
    ("sabotage", "experiment", "missed"),
    [
        (swapped_signs, PARKING_LOT, {"R-19-mean", "R-20-p50", "R-20-p90"}),
        (no_floor, PARKING_LOT, {"R-20-p50", "R-20-p90"}),
        (literal_estimator, PARKING_LOT, {"R-20-p50", "R-20-p90"}),
        (tiny_thresholds(1_000), DCQCN_QUEUE, {"X-1-2"}),
    ],
    ids=["alpha-beta", "floor", "literal", "kmin"],
)
def test_claims_that_were_good_are_missed(
    healthy: dict[str, Judged],
    sabotage: Callable[[pytest.MonkeyPatch], None],
    experiment: tuple[str, ...],
    missed: set[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    sabotage(monkeypatch)
    name, *settings = experiment
    found = judged(monkeypatch, tmp_path, name, *settings)
    turned = {each for each, now in found.items() if now.found not in GOOD and healthy[each].found in GOOD}
    assert turned == missed, {each: (healthy[each], now) for each, now in found.items()}


def test_irn_without_its_cap_loses_many_times_as_much(
    healthy: dict[str, Judged], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """I-3; runs this short are not within its tolerance."""
    no_cap(monkeypatch)
    name, *settings = IRN
    assert judged(monkeypatch, tmp_path, name, *settings)["I-3"].mean > 10 * healthy["I-3"].mean


def test_claims_that_hang_on_the_mtu(
    healthy: dict[str, Judged], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Thresholds count packets: with twice the bytes in each, queues are longer and shares are levelled."""
    name, *settings = PARKING_LOT
    found = judged(monkeypatch, tmp_path, name, *settings, "topology.mtu=2048")
    turned = {each: now.found for each, now in found.items() if now.found != healthy[each].found}
    assert turned == {
        "R-19-jain": "reproduced",
        "R-19-mean": "missed",
        "R-20-p50": "missed",
        "R-20-p90": "missed",
    }


def test_a_tiny_kmin_alone_leaves_the_tolerance(
    healthy: dict[str, Judged], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Kmin of 5 KB is a quarter of the queue of two flows: without it the queue falls by as much."""
    tiny_thresholds(200_000)(monkeypatch)
    name, *settings = DCQCN_QUEUE
    found = judged(monkeypatch, tmp_path, name, *settings)["X-1-2"]
    assert (healthy["X-1-2"].found, found.found) == ("reproduced", "missed")
    assert 4_500 < healthy["X-1-2"].mean - found.mean < 6_500
