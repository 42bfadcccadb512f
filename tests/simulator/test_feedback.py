"""What switches tell senders: RoCC's fair rates and telemetry, in networks whose result is known."""

import pytest
from helpers.networks import GBPS, MILLISECOND_NS, Star, counter

from rogue.simulator import (
    CONTROLS,
    FAIR_RATE_PARAMETERS,
    IDEAL,
    ROCEV2,
    FairRates,
    NicControl,
    QueuePair,
    Reliability,
    Simulation,
    SimulationError,
    with_telemetry,
)

DELAY_PS = 1_500_000


def incast(
    senders: int,
    control: NicControl,
    *,
    rate_bps: int = 40 * GBPS,
    size_bytes: int = 10**9,
    mtu_bytes: int = 1024,
    reliability: Reliability | None = None,
) -> tuple[Simulation, list[QueuePair]]:
    """All send to the last host, through a switch that does all that the controls want."""
    has_telemetry = CONTROLS[control.name].wants_telemetry
    simulation = Simulation(seed=1, framing=with_telemetry(ROCEV2) if has_telemetry else ROCEV2)
    simulation.add_switch(
        "s0", buffer_bytes=None, alpha=1.0, fair_rates=FairRates(), has_telemetry=has_telemetry
    )
    for i in range(senders + 1):
        simulation.add_host(f"h{i}", IDEAL)
        simulation.add_link(f"h{i}", "s0", rate_bps=rate_bps, delay_ps=DELAY_PS)
    pairs = [
        simulation.connect(
            f"h{i}",
            f"h{senders}",
            mtu_bytes=mtu_bytes,
            retry_count=7,
            timeout_exponent=14,
            control=control,
            reliability=reliability,
        )[0]
        for i in range(senders)
    ]
    for queue_pair in pairs:
        queue_pair.post_write(1, size_bytes, True)
    return simulation, pairs


def settled(
    simulation: Simulation, pairs: list[QueuePair], after_ms: int = 15, for_ms: int = 5
) -> tuple[list[float], float]:
    """Goodput of each in bit/s, and the median queue at the receiver's port."""
    simulation.run_until(after_ms * MILLISECOND_NS)
    before = [queue_pair.delivered_bytes for queue_pair in pairs]
    simulation.sample_queues(20_000)
    simulation.run_until((after_ms + for_ms) * MILLISECOND_NS)
    simulation.check_invariants()
    rates = [
        (queue_pair.delivered_bytes - old) * 8000 / for_ms
        for queue_pair, old in zip(pairs, before, strict=True)
    ]
    table = simulation.queue_table()
    rows = (table["port"] == f"s0->h{len(pairs)}") & (table["priority"] == 0)
    return rates, float(sorted(table["bytes"][rows])[rows.sum() // 2])


@pytest.mark.parametrize(("rate_bps", "reference_bytes"), [(40 * GBPS, 150_000), (100 * GBPS, 300_000)])
def test_rocc_shares_evenly_and_keeps_its_reference(rate_bps: int, reference_bytes: int) -> None:
    simulation, pairs = incast(5, NicControl("rocc"), rate_bps=rate_bps)
    rates, queue_bytes = settled(simulation, pairs)
    share_bps = rate_bps * 1024 / 1106 / 5
    assert all(rate == pytest.approx(share_bps, rel=0.02) for rate in rates)
    assert queue_bytes == pytest.approx(reference_bytes, rel=0.05)


def test_rocc_leaves_a_single_flow_alone() -> None:
    simulation, pairs = incast(1, NicControl("rocc"))
    rates, _ = settled(simulation, pairs, after_ms=1, for_ms=1)
    assert rates[0] == pytest.approx(40 * GBPS * 1024 / 1106, rel=0.01)
    assert pairs[0].control_rate_bps == 40 * GBPS


def test_switches_without_rocc_send_nothing() -> None:
    """And NICs with RoCC then do nothing."""
    simulation = Star(hosts=3).build()
    pairs = [
        simulation.connect(
            f"h{i}", "h2", mtu_bytes=1024, retry_count=7, timeout_exponent=14, control=NicControl("rocc")
        )[0]
        for i in range(2)
    ]
    for queue_pair in pairs:
        queue_pair.post_write(1, 10**6, True)
    simulation.run_until(2 * MILLISECOND_NS)
    assert all(queue_pair.control_rate_bps == 10 * GBPS for queue_pair in pairs)


@pytest.mark.parametrize("reliability", [None, Reliability("irn"), Reliability("go-back-n")])
@pytest.mark.parametrize("mtu_bytes", [256, 1024])
def test_hpcc_keeps_the_queue_nearly_empty_and_the_port_busy(
    mtu_bytes: int, reliability: Reliability | None
) -> None:
    """Besides its payload a packet takes 124 bytes of the wire, 20 of them not in its frame; eta is .95."""
    control = NicControl("hpcc", {"base_rtt_ns": 7_000})
    simulation, pairs = incast(4, control, mtu_bytes=mtu_bytes, reliability=reliability)
    rates, queue_bytes = settled(simulation, pairs)
    busy = sum(rates) * (mtu_bytes + 124) / mtu_bytes / (40 * GBPS)
    assert busy == pytest.approx(0.95, abs=0.01)
    assert queue_bytes < 10_000


def test_telemetry_takes_room_in_every_packet() -> None:
    framing = with_telemetry(ROCEV2)
    assert framing.data_overhead_bytes == 62 + 42
    assert framing.ack_frame_bytes == 66 + 42
    assert framing.wire_overhead_bytes == 20


def test_hpcc_without_telemetry_stays_at_the_line_rate() -> None:
    simulation = Star(hosts=2).build()
    queue_pair, _ = simulation.connect(
        "h0", "h1", mtu_bytes=1024, retry_count=7, timeout_exponent=14, control=NicControl("hpcc")
    )
    queue_pair.post_write(1, 10**6, True)
    simulation.run_until(2 * MILLISECOND_NS)
    assert simulation.control_metrics()[queue_pair.qp_num]["utilisation"] == 1
    assert counter(simulation, "drops") == 0


def test_parameters() -> None:
    names = [parameter.name for parameter in FAIR_RATE_PARAMETERS]
    assert names[0] == "rate_unit_bps"
    for parameter in FAIR_RATE_PARAMETERS:
        assert parameter.minimum <= parameter.value <= parameter.maximum
        assert len(parameter.meaning) > 10


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"reference_bytes": 200_000.0}, "add_switch s0: rocc: expected reference_bytes below middle_bytes"),
        ({"gain": 1.0}, "add_switch s0: rocc: expected one of the parameters rate_unit_bps"),
        ({"period_ns": -1.0}, "add_switch s0: rocc: expected period_ns from 0 to"),
    ],
)
def test_nonsense_gives_a_sentence(parameters: dict[str, float], sentence: str) -> None:
    simulation = Simulation(seed=1)
    with pytest.raises(SimulationError, match=sentence):
        simulation.add_switch("s0", buffer_bytes=None, alpha=1.0, fair_rates=FairRates(parameters))


def test_a_control_that_needs_acknowledgements_needs_a_reliable_connection() -> None:
    simulation = Star(hosts=2).build()
    with pytest.raises(SimulationError, match="connect h0-h1: expected service as one of rc, got 'uc'"):
        simulation.connect(
            "h0",
            "h1",
            mtu_bytes=1024,
            retry_count=7,
            timeout_exponent=14,
            service="uc",
            control=NicControl("timely"),
        )
