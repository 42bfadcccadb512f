"""HPCC by itself: windows worked by hand."""

import pytest

from rogue.simulator import SimulationError
from rogue.simulator._core import Controller

GBPS = 10**9
LINE_BPS = 100 * GBPS
BASE_PS = 10_000_000
WINDOW_BYTES = 125_000  # 100 Gb/s for 10 us
STEP_BYTES = 50  # 40 Mb/s for 10 us


class Link:
    """A control and one link whose use is given for each round trip, acknowledged once."""

    def __init__(self, **parameters: float) -> None:
        settings = {"base_rtt_ns": 10_000, **parameters}
        self.control = Controller("hpcc", line_rate_bps=LINE_BPS, parameters=settings)
        self._now_ps = 0
        self._sent_bytes = 0
        self._psn = 0

    def acknowledge(
        self, used: float, queue_bytes: int = 0, elapsed_ps: int = BASE_PS, packets: int = 100
    ) -> float:
        """Return the window in bytes after an acknowledgement."""
        self._now_ps += elapsed_ps
        self._sent_bytes += round(used * LINE_BPS / 8 * elapsed_ps / 1e12)
        self._psn += packets
        self.control.on_acknowledgement(
            self._now_ps,
            sent_ps=self._now_ps - BASE_PS,
            acknowledged_psn=self._psn,
            sent_psn=self._psn + 50,
            hops=[(self._now_ps, queue_bytes, self._sent_bytes, LINE_BPS)],
        )
        assert self.control.window_bytes is not None
        return self.control.window_bytes


def test_it_begins_at_the_line_rate_with_a_window_of_a_base_round_trip() -> None:
    control = Link().control
    assert control.rate_bps == LINE_BPS
    assert control.window_bytes == WINDOW_BYTES


def test_a_full_link_brings_it_to_eta() -> None:
    """Use 1 and no queue: .95 of the window, and one step."""
    link = Link()
    link.acknowledge(1)  # only where differences count from
    assert link.control.window_bytes == WINDOW_BYTES
    assert link.acknowledge(1) == pytest.approx(0.95 * WINDOW_BYTES + STEP_BYTES, abs=2)
    assert link.control.rate_bps == pytest.approx((0.95 * WINDOW_BYTES + STEP_BYTES) * 8 / 10e-6, rel=1e-6)


def test_the_step_may_follow_from_the_number_of_flows() -> None:
    """A twentieth of the window over ten flows: 625 bytes; not beside a step of its own."""
    link = Link(expected_flows=10)
    link.acknowledge(1)
    assert link.acknowledge(1) == pytest.approx(0.95 * WINDOW_BYTES + 0.05 * WINDOW_BYTES / 10, abs=2)
    with pytest.raises(SimulationError, match="expected additive_increase_bps or expected_flows, got both"):
        Link(expected_flows=10, additive_increase_bps=1e6)


def test_a_queue_counts_as_use() -> None:
    """Half a base round trip's bytes wait: 1.5 in all. Of two queues the shorter one counts."""
    link = Link()
    link.acknowledge(1, queue_bytes=62_500)
    assert link.acknowledge(1, queue_bytes=100_000) == pytest.approx(
        0.95 / 1.5 * WINDOW_BYTES + STEP_BYTES, abs=2
    )


def test_a_short_time_counts_less() -> None:
    """Half a base round trip with use 2: (1 + 2) / 2 on average, which begins at 1."""
    link = Link()
    link.acknowledge(1)
    link.acknowledge(2, elapsed_ps=BASE_PS // 2)
    assert link.control.metrics(0)["utilisation"] == pytest.approx(1.5)


def test_below_eta_it_rises_step_by_step_and_then_follows() -> None:
    link = Link()
    link.acknowledge(1)
    start = link.acknowledge(2)  # 59 425
    windows = [link.acknowledge(0.5) for _ in range(6)]
    steps = [round(window - start) for window in windows[:5]]
    assert steps == [50, 100, 150, 200, 250]
    assert windows[5] == pytest.approx((start + 250) * 0.95 / 0.5 + STEP_BYTES, rel=1e-3)


def test_within_a_round_trip_acknowledgements_do_not_add_up() -> None:
    link = Link()
    link.acknowledge(1)
    first = link.acknowledge(2)
    second = link.acknowledge(2, packets=1)  # not yet past what was on its way
    third = link.acknowledge(2, packets=1)
    assert first == pytest.approx(0.95 / 2 * WINDOW_BYTES + STEP_BYTES, abs=2)
    assert second == third == pytest.approx(0.95 / 2 * first + STEP_BYTES, abs=2)


def test_bounds() -> None:
    link = Link(rate_min_bps=10e9)
    link.acknowledge(1)
    assert link.acknowledge(100) == WINDOW_BYTES / 10
    assert link.acknowledge(0.0001) <= WINDOW_BYTES


def test_an_acknowledgement_without_telemetry_changes_nothing() -> None:
    control = Link().control
    control.on_acknowledgement(BASE_PS, sent_ps=0, acknowledged_psn=1, sent_psn=1)
    assert control.window_bytes == WINDOW_BYTES


def test_another_way_counts_anew() -> None:
    link = Link()
    link.acknowledge(1)
    hop = (BASE_PS, 0, 0, LINE_BPS)
    link.control.on_acknowledgement(BASE_PS, sent_ps=0, acknowledged_psn=500, sent_psn=600, hops=[hop, hop])
    assert link.control.window_bytes == WINDOW_BYTES
