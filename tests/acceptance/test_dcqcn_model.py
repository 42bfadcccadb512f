"""The fluid model of DCQCN, integrated: what it says of the queue, with and without a jump in the marking.

N flows alike at 40 Gb/s that start at the line rate; Euler steps of 1 us. The first two are the model's
published fixed points. That 64 flows are stable only if marking goes on rising beyond 200 KB was found with
it, after X-2 had been missed (docs/papers/ecn-or-delay.md).

Source: Zhu, Ghobadi, Misra and Padhye, "ECN or delay", CoNEXT 2016, section 3.1, equations 3 to 7.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

pytestmark = pytest.mark.long

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
    """Per packet, where one is due after so many unmarked ones: all increases, and those after recovery."""
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
