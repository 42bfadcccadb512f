"""Credits of receivers in a network: n to 1, one link shared by all, on both engines."""

from functools import partial

import numpy as np
import pytest
from helpers.networks import GBPS, assert_equal_runs, counter

from rogue.simulator import IDEAL, Reliability, Simulation, Trimming
from rogue.simulator.framing import UEC

PAYLOAD, FRAME, HEADER = 4096, 4160, 64
RATE_BPS = 100 * GBPS
TRIM_ABOVE = 100_000
NUMBERS = {"line_rate_bps": 100e9, "base_rtt_ns": 4_700, "target_delay_ns": 3_500, "rto_ns": 60_000}
SIZE = 1_024_000
"""250 full packets."""


def fan_in(
    simulation_type: type[Simulation], senders: int = 8, receivers: int = 1, **parameters: float
) -> Simulation:
    """Each sender has 1 MB for each receiver; the receivers are the first hosts."""
    simulation = simulation_type(seed=1, framing=UEC)
    simulation.add_switch("s0", buffer_bytes=10**7, alpha=8.0, trimming=Trimming(TRIM_ABOVE))
    for host in range(receivers + senders):
        simulation.add_host(f"h{host}", IDEAL)
        simulation.add_link(f"h{host}", "s0", rate_bps=RATE_BPS, delay_ps=1_000_000)
    reliability = Reliability("uet-rccc", {**NUMBERS, **parameters}, 7)
    for sender in range(receivers, receivers + senders):
        for receiver in range(receivers):
            simulation.connect(
                f"h{sender}",
                f"h{receiver}",
                mtu_bytes=PAYLOAD,
                retry_count=7,
                timeout_exponent=14,
                reliability=reliability,
            )[0].post_write(1, SIZE, True)
    simulation.sample_queues(10_000)
    return simulation


def queue_bytes(simulation: Simulation) -> np.ndarray:
    """What waits in front of the receiver, every 10 us."""
    table = simulation.queue_table()
    return np.asarray(table["bytes"][(table["port"] == "s0->h0") & (table["priority"] == 0)])


@pytest.mark.parametrize("nscc", [0, 1], ids=["receivers alone", "beside NSCC"])
def test_the_queue_of_the_first_round_trip_drains_and_does_not_come_again(nscc: int) -> None:
    """Nine tenths of the line are granted, so 1.25 bytes drain per nanosecond: 100 KB in 80 us."""
    simulation = fan_in(Simulation, credit_rate=0.9, nscc=nscc)
    simulation.run_until(600_000)
    simulation.check_invariants()
    waiting = queue_bytes(simulation)
    assert waiting[0] > 80_000
    assert waiting[12:].max() <= 8 * 2 * FRAME
    assert np.mean(waiting[12:] <= 2 * FRAME) > 0.8
    trimmed = counter(simulation, "trimmed_packets")
    simulation.run_until(2_000_000)
    assert counter(simulation, "trimmed_packets") == trimmed
    assert simulation.statistics()["verbs_done"] == 8


def test_they_are_done_as_soon_as_the_line_and_the_share_allow() -> None:
    """2000 frames of 4160 bytes at 99 Gb/s take 672.3 us; the ideal, at 100 Gb/s, 665.6 us."""
    simulation = fan_in(Simulation)
    ideal_ns = 8 * 250 * FRAME * 8 * 10**9 // RATE_BPS
    simulation.run_until(ideal_ns)
    assert simulation.statistics()["verbs_done"] < 8
    simulation.run_until(round(ideal_ns * 1.02) + 5_000)
    assert simulation.statistics()["verbs_done"] == 8


def test_bytes_are_kept() -> None:
    """What senders sent is what the receiver got and what was cut off."""
    simulation = fan_in(Simulation)
    simulation.run_until(2_000_000)
    trimmed = counter(simulation, "trimmed_packets")
    assert trimmed == counter(simulation, "retransmitted_packets")
    sent = sum(counter(simulation, "tx_bytes", f"h{host}->s0") for host in range(1, 9))
    assert sent == 8 * 250 * FRAME + trimmed * FRAME
    assert counter(simulation, "tx_bytes", "s0->h0") == sent - trimmed * PAYLOAD


def test_one_connection_never_waits_for_credit() -> None:
    """250 frames at the line's rate, one more time at the switch, an acknowledgement, and 4 us of links."""
    simulation = fan_in(Simulation, senders=1, credit_rate=1)
    least_ns = 250 * FRAME * 8 / 100 + FRAME * 8 / 100 + 2 * HEADER * 8 / 100 + 4_000
    simulation.run_until(round(least_ns) - 1)
    assert simulation.statistics()["verbs_done"] == 0
    simulation.run_until(round(least_ns * 1.01))
    assert simulation.statistics()["verbs_done"] == 1


@pytest.mark.parametrize(
    ("senders", "receivers", "parameters"),
    [
        pytest.param(5, 1, {}, id="incast"),
        pytest.param(2, 3, {"nscc": 0}, id="senders that share their NICs"),
        pytest.param(3, 1, {"credit_packets": 1, "credit_rate": 0.5}, id="small grants"),
    ],
)
def test_both_engines_agree(senders: int, receivers: int, parameters: dict[str, float]) -> None:
    build = partial(fan_in, senders=senders, receivers=receivers, **parameters)
    simulation = assert_equal_runs(build, 1_500_000)
    assert simulation.statistics()["verbs_done"] == senders * receivers


def test_credit_that_is_lost_is_asked_for_again() -> None:
    """The receiver's link is cut for 40 us: nothing that it grants meanwhile is heard of."""
    simulation = fan_in(Simulation, senders=2, nscc=0)
    simulation.cut_link("h0", "s0", start_ns=20_000, duration_ns=40_000)
    simulation.run_until(20_000_000)
    simulation.check_invariants()
    assert counter(simulation, "lost_packets") > 10
    assert simulation.statistics()["verbs_done"] == 2
