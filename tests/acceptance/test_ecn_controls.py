"""Test DCQCN and DCTCP against their models.

DCTCP, fixed before the first run: experiments/controls/dctcp-sawtooth, 10 Gb/s, 100 us, K = 40 packets of
1518 bytes, 1, 2, 10 and 40 flows for 500 ms, seeds 1 to 3. Crest is the 99th and trough the 1st percentile of
the receiver's queue (10 us samples, second half), median of the seeds. Model: crest K + N, swing 1/2 sqrt(2 N
(C RTT + K)); 25 % tolerance. The trough of 40 flows misses the model because of whole segments
(docs/papers/dctcp.md). Changes after the first run: docs/adr/0014. Source: Alizadeh et al., "Data Center TCP
(DCTCP)", SIGCOMM 2010, section 3.3.
"""

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import mean, median, pstdev

import numpy as np
import pytest
from helpers.paper_runs import ExperimentRun, nearest_rank, run_experiment
from numpy.typing import NDArray

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def dcqcn_run(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    return run_experiment("controls/dcqcn-queue", tmp_path_factory.mktemp("queue"))


def queues_of(dcqcn_run: ExperimentRun, senders: int, from_ns: int = 0) -> list[list[float]]:
    """The samples of the busiest port, which is the receiver's, seed by seed."""
    rows = dcqcn_run.table("queues", "roce+dcqcn")
    rows = rows[rows["workload.senders"] == senders]
    rows = rows[(rows["priority"] == 0) & (rows["t_ns"] > from_ns)]
    rows = rows[rows["port"] == rows.groupby("port")["bytes"].sum().idxmax()]
    samples = [each["bytes"].tolist() for _, each in rows.groupby("seed")]
    assert len(samples) == 5
    return samples


@pytest.mark.parametrize(("senders", "fixed_point_bytes"), [(2, 21_800), (10, 135_000)])
def test_the_queue_rests_near_the_fixed_point(
    dcqcn_run: ExperimentRun, senders: int, fixed_point_bytes: float
) -> None:
    """At our packet size; the claims are judged by the published values (docs/papers/ecn-or-delay.md)."""
    found = median(median(samples) for samples in queues_of(dcqcn_run, senders))
    assert found == pytest.approx(fixed_point_bytes, rel=0.3)


def test_ten_flows_oscillate_only_with_a_long_delay(dcqcn_run: ExperimentRun, tmp_path: Path) -> None:
    late = run_experiment("controls/dcqcn-delay", tmp_path, "factors={workload.senders: [10]}")
    for each, is_oscillating in ((dcqcn_run, False), (late, True)):
        for samples in queues_of(each, 10, from_ns=250_000_000):
            assert (pstdev(samples) > 0.5 * mean(samples)) == is_oscillating


STEP_S = 1e-6
LENGTH_S = 0.5
PACKET_BYTES = 1000
LINE = 40e9 / 8 / PACKET_BYTES  # packets per second, like all rates here
GAP_S, ALPHA_TIMER_S, RATE_TIMER_S = 50e-6, 55e-6, 55e-6
COUNTER_PACKETS = 10e6 / PACKET_BYTES
INCREASE = 40e6 / 8 / PACKET_BYTES
RECOVERIES = 5
G = 1 / 256


@dataclass(frozen=True)
class Slope:
    """From 5 KB on a probability that grows to `probability` at `end_bytes`; above it is 1."""

    end_bytes: float
    probability: float

    def of(self, queue_packets: float) -> float:
        queue_bytes = queue_packets * PACKET_BYTES
        if queue_bytes > self.end_bytes:
            return 1.0
        return max(0.0, (queue_bytes - 5e3) / (self.end_bytes - 5e3) * self.probability)


PRINTED = Slope(200e3, 0.01)
GOES_ON = Slope(2e6, 0.1)  # of the authors' program: jitupadhye-zz/rdma, fluidmodel/dcqcn/dcqcn2.m


def increases(p: float, packets: float) -> tuple[float, float]:
    """Return all increases per packet, due after `packets` unmarked ones, and those after recovery."""
    if p == 0:
        return 1 / packets, 1 / packets
    silence = -packets * np.log1p(-p) if p < 1 else np.inf
    if silence > 700:
        return 0.0, 0.0
    every = p / np.expm1(silence)
    return every, every * np.exp(-RECOVERIES * silence)


def queue_bytes(flows: int, delay_s: float, marking: Slope) -> NDArray[np.float64]:
    """The queue over the second half."""
    steps, late = round(LENGTH_S / STEP_S), round(delay_s / STEP_S)
    rates, queues = np.full(steps + 1, LINE), np.zeros(steps + 1)
    rate, target, alpha, queue = LINE, LINE, 1.0, 0.0
    for step in range(steps):
        seen = max(0, step - late)
        p, before = marking.of(queues[seen]), rates[seen]
        told, told_alpha = (1 - (1 - p) ** (span * before) for span in (GAP_S, ALPHA_TIMER_S))
        by_bytes, by_time = increases(p, COUNTER_PACKETS), increases(p, RATE_TIMER_S * before)
        rises = before * (by_bytes[0] + by_time[0]) * (target - rate) / 2
        grows = INCREASE * before * (by_bytes[1] + by_time[1])
        cut, fall = rate * alpha * told / (2 * GAP_S), (target - rate) * told / GAP_S
        rate = min(max(rate + (rises - cut) * STEP_S, 100e6 / 8 / PACKET_BYTES), LINE)
        target = min(target + (grows - fall) * STEP_S, LINE)
        alpha += G * (told_alpha - alpha) / ALPHA_TIMER_S * STEP_S
        queue = max(0.0, queue + (flows * rate - LINE) * STEP_S)
        rates[step + 1], queues[step + 1] = rate, queue
    return queues[steps // 2 :] * PACKET_BYTES


@pytest.mark.parametrize(("flows", "published_bytes"), [(2, 20_200), (10, 122_600)])
def test_published_fixed_points(flows: int, published_bytes: float) -> None:
    queue = queue_bytes(flows, 4e-6, PRINTED)
    assert np.median(queue) == pytest.approx(published_bytes, rel=0.01)
    assert queue.std() < 0.01 * queue.mean()


@pytest.mark.parametrize(
    ("flows", "marking", "is_stable"),
    [
        (2, PRINTED, True),
        (10, PRINTED, False),
        (64, PRINTED, False),
        (10, GOES_ON, False),
        (64, GOES_ON, True),
    ],
)
def test_with_85_us_of_delay(flows: int, marking: Slope, is_stable: bool) -> None:
    queue = queue_bytes(flows, 85e-6, marking)
    assert (queue.std() < 0.05 * queue.mean()) == is_stable
    assert is_stable or queue.std() > 0.5 * queue.mean()


LINE_BPS = 40e9
WIRE_BYTES = 1106
LENGTH_US = 300_000
DELAY_US, GAP_US, TIMER_US = 85, 50, 55
DCQCN_RULES_RECOVERIES, INCREASE_BPS, RATE_MIN_BPS = 5, 40e6, 100e6
KMIN_BYTES, KMAX_BYTES, PMAX = 5e3, 200e3, 0.01


class Flows:
    """Rates of all senders, and what changes them."""

    def __init__(self, count: int) -> None:
        self.rate, self.target = np.full(count, LINE_BPS), np.full(count, LINE_BPS)
        self.alpha = np.ones(count)
        self.stage = np.zeros(count, dtype=int)
        self.rises_us, self.decays_us = np.full(count, np.inf), np.full(count, np.inf)

    def cut(self, flow: int, now_us: int) -> None:
        self.target[flow] = self.rate[flow]
        self.rate[flow] = max(RATE_MIN_BPS, self.rate[flow] * (1 - self.alpha[flow] / 2))
        self.alpha[flow] = (1 - G) * self.alpha[flow] + G
        self.stage[flow] = 0
        self.rises_us[flow] = self.decays_us[flow] = now_us + TIMER_US

    def tick(self, now_us: int) -> None:
        decays, rises = self.decays_us <= now_us, self.rises_us <= now_us
        self.alpha[decays] *= 1 - G
        self.decays_us[decays] += TIMER_US
        self.rises_us[rises] += TIMER_US
        self.stage[rises] += 1
        adds = rises & (self.stage > DCQCN_RULES_RECOVERIES)
        self.target[adds] = np.minimum(LINE_BPS, self.target[adds] + INCREASE_BPS)
        self.rate[rises] = (self.rate[rises] + self.target[rises]) / 2


def probability(queue_bytes: float, share: int) -> float:
    if queue_bytes > KMAX_BYTES * share:
        return 1.0
    return max(0.0, PMAX * (queue_bytes - KMIN_BYTES * share) / ((KMAX_BYTES - KMIN_BYTES) * share))


def queue_bytes_of_dcqcn_rules(count: int, share: int = 1) -> NDArray[np.float64]:
    """Second half, every 20 us; `share` times as many flows at a port and thresholds that much larger."""
    stream, flows = Random(1), Flows(count * share)
    credit = np.random.default_rng(1).random(count * share)
    told_us = np.full(count * share, -GAP_US)
    queue: deque[int] = deque()
    notices: deque[tuple[int, int]] = deque()
    budget_bytes, samples = 0.0, []
    for now_us in range(LENGTH_US):
        credit += flows.rate * 1e-6 / 8 / WIRE_BYTES
        packets = credit.astype(int)
        credit -= packets
        arrivals = np.repeat(np.arange(count * share), packets).tolist()
        stream.shuffle(arrivals)
        queue.extend(arrivals)
        budget_bytes += LINE_BPS * share * 1e-6 / 8
        while queue and budget_bytes >= WIRE_BYTES:
            flow = queue.popleft()
            budget_bytes -= WIRE_BYTES
            is_marked = stream.random() < probability(len(queue) * WIRE_BYTES, share)
            if is_marked and now_us - told_us[flow] >= GAP_US:
                told_us[flow] = now_us
                notices.append((now_us + DELAY_US, flow))
        budget_bytes = budget_bytes if queue else min(budget_bytes, WIRE_BYTES)
        while notices and notices[0][0] <= now_us:
            flows.cut(notices.popleft()[1], now_us)
        flows.tick(now_us)
        if now_us % 20 == 0:
            samples.append(len(queue) * WIRE_BYTES)
    return np.array(samples[len(samples) // 2 :], dtype=float)


def swing(samples: list[float] | NDArray[np.float64]) -> float:
    return float(pstdev(samples) / mean(samples))


@pytest.mark.parametrize("senders", [2, 10, 64])
def test_the_engine_swings_as_the_rules_do(tmp_path: Path, senders: int) -> None:
    settings = ("repetitions=1", "workload.repeat_for=300ms", f"factors={{workload.senders: [{senders}]}}")
    rows = run_experiment("controls/dcqcn-delay", tmp_path, *settings).table("queues", "roce+dcqcn")
    rows = rows[(rows["priority"] == 0) & (rows["t_ns"] > LENGTH_US * 500)]
    rows = rows[rows["port"] == rows.groupby("port")["bytes"].sum().idxmax()]
    assert swing(rows["bytes"].to_numpy(dtype=float)) == pytest.approx(
        swing(queue_bytes_of_dcqcn_rules(senders)), rel=0.15
    )


def test_two_flows_swing_by_chance() -> None:
    """Sixteen of eight times the port: chance halves and more, as it would not if rules made them swing."""
    assert swing(queue_bytes_of_dcqcn_rules(2, share=8)) < 0.6 * swing(queue_bytes_of_dcqcn_rules(2))


def test_sixty_four_do_not() -> None:
    assert swing(queue_bytes_of_dcqcn_rules(64, share=4)) == pytest.approx(
        swing(queue_bytes_of_dcqcn_rules(64)), rel=0.15
    )


FRAME_BYTES = 1518
TRANSPORT = "dctcp,mark_above=60720B"


@pytest.fixture(scope="module")
def dctcp_run(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    return run_experiment("controls/dctcp-sawtooth", tmp_path_factory.mktemp("sawtooth"))


def packets(dctcp_run: ExperimentRun, senders: int, percent: float) -> float:
    rows = dctcp_run.table("queues", TRANSPORT)
    rows = rows[(rows["workload.senders"] == senders) & (rows["port"] == "s0->s1")]
    rows = rows[(rows["priority"] == 0) & (rows["t_ns"] >= 250_000_000)]
    found = [nearest_rank(each["bytes"], percent) for _, each in rows.groupby("seed")]
    assert len(found) == 3
    return median(found) / FRAME_BYTES


@pytest.mark.parametrize(("senders", "crest"), [(1, 41), (2, 42), (10, 50), (40, 80)])
def test_crests_are_those_of_the_model(dctcp_run: ExperimentRun, senders: int, crest: float) -> None:
    assert packets(dctcp_run, senders, 99) == pytest.approx(crest, rel=0.25)


@pytest.mark.parametrize(("senders", "trough"), [(1, 33.1), (2, 30.9), (10, 25.2)])
def test_troughs_of_few_flows_are_those_of_the_model(
    dctcp_run: ExperimentRun, senders: int, trough: float
) -> None:
    assert packets(dctcp_run, senders, 1) == pytest.approx(trough, rel=0.25)


def test_the_port_is_full(dctcp_run: ExperimentRun) -> None:
    rows = dctcp_run.table("throughput", TRANSPORT)
    rows = rows[rows["t_ns"] > 250_000_000]
    cells = rows.groupby(["workload.senders", "seed"])
    assert len(cells) == 4 * 3
    for (_, _), each in cells:
        total_bps = each["delivered_bytes"].sum() * 8 / 0.25
        assert total_bps == pytest.approx(10e9 * 1460 / 1538, rel=0.01)
