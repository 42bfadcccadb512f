"""Each mechanism of the control, taken away, moves one figure out of its bound: so the figure watches it.

Fixed before the first run: 10 Gb/s, MTU 1024, `cx3pro`, 1 us links, base-RTT floor 50 us, RC WRITE, seeds
1 to 3, senders repeating 128 MB unless said; the bounds are those of the other acceptance tests.
  queue        bytes waiting at the receiver's port without a bound on the buffer, N = 8, 2 s, median of
               samples each millisecond: at most 200 KB
  latency      median of a WRITE(0) each millisecond from an idle host, N = 4, 2 s: 40 to 80 us
  start        goodput of a lone 16 MB transfer, of what the link can carry: at least .70
  oracle       goodput of all flows with the oracle estimator under the card's lag, N = 8, 2 s: at least .97
               of what the port can carry. The oracle, because `drained` hides the effect.
The requested instead of the effective rate, and mixed clocks: tests/agent/drivers/test_simulated.py.

What they do not show: with the signs swapped the queue ends at 1 MB, two batches per flow, because the window
stops growing at twice the link's capacity; and without a floor Jain's index of N = 8 stays above .99, because
flows freeze where they are, over a long queue.
"""

from collections.abc import Callable
from statistics import median
from typing import NamedTuple

import pytest
from helpers.agent_star import IDEAL_BPS, SECOND_NS, AgentStar, repeated
from helpers.mutation import mutate

from rogue.agent.core.application import Schedule
from rogue.agent.core.cc.vegas import Vegas
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.feedback_loop import HoldOff

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


SEEDS = (1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3)))
QUEUE = Figure(queue_bytes, 0, 200_000)
LATENCY = Figure(latency_us, 40, 80)
START = Figure(start_share, 0.70, 1)
ORACLE = Figure(oracle_share, 0.97, 1)


def swapped_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(
        monkeypatch,
        Vegas,
        "on_sample",
        ("diff_packets > self._beta", "diff_packets < self._alpha"),
        (
            "elif diff_packets < self._alpha:\n        self._grow",
            "elif diff_packets > self._beta:\n        self._grow",
        ),
    )


def no_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    with_floor = "max(self._floor_ns, rtt_ns)"
    mutate(monkeypatch, Vegas, "on_sample", (with_floor, "rtt_ns"))


def no_slow_start(monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch, Vegas, "__init__", ("_is_slow_start = self._slow_start", "_is_slow_start = False"))


def no_hold_off(monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch, HoldOff, "restart", ("self._remaining_bytes = self._hold_off_bytes", "pass"))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "figure", [QUEUE, LATENCY, START, ORACLE], ids=["queue", "latency", "start", "oracle"]
)
def test_the_whole_agent_is_within_its_bounds(figure: Figure, seed: int) -> None:
    assert figure.holds(seed)


@pytest.mark.parametrize("seed", SEEDS)
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
