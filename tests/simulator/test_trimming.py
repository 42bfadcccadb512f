"""Trimming: what switches cut, what goes in front, and what is counted."""

import pytest
from helpers.networks import GBPS, MILLISECOND_NS, counter

from rogue.simulator import IDEAL, Reliability, Simulation, SimulationError, Trimming
from rogue.simulator.framing import UEC

FRAME = 1024 + 64
NUMBERS = {"line_rate_bps": 10e9, "base_rtt_ns": 6_000, "target_delay_ns": 4_500, "sack_every_bytes": 1}


def fan_in(
    trimming: Trimming | None, name: str = "uet", senders: int = 4, stated_at_gbps: int | None = None
) -> Simulation:
    simulation = Simulation(seed=1, framing=UEC)
    at_bps = None if stated_at_gbps is None else stated_at_gbps * GBPS
    simulation.add_switch(
        "s0", buffer_bytes=1_000_000, alpha=8.0, trimming=trimming, thresholds_at_bps=at_bps
    )
    for host in range(senders + 1):
        simulation.add_host(f"h{host}", IDEAL)
        simulation.add_link(f"h{host}", "s0", rate_bps=10 * GBPS, delay_ps=1_000_000)
    for host in range(1, senders + 1):
        simulation.connect(
            f"h{host}",
            "h0",
            mtu_bytes=1024,
            retry_count=7,
            timeout_exponent=14,
            reliability=Reliability(name, NUMBERS if name == "uet" else {}, 7),
        )[0].post_write(1, 300 * 1024, True)
    return simulation


def test_queues_stay_below_the_threshold_and_everything_arrives() -> None:
    simulation = fan_in(Trimming(20_000))
    simulation.sample_queues(5_000)
    simulation.run_until(20 * MILLISECOND_NS)
    simulation.check_invariants()
    assert simulation.statistics()["verbs_done"] == 4
    table = simulation.queue_table()
    data = table["max_bytes"][(table["priority"] == 0) & (table["port"] == "s0->h0")]
    assert 20_000 - FRAME < data.max() <= 20_000
    assert counter(simulation, "drops") == counter(simulation, "timeouts") == 0


@pytest.mark.parametrize(
    ("stated_at_gbps", "most_bytes"),
    [
        pytest.param(None, 20_000, id="as stated"),
        pytest.param(10, 20_000, id="at the rate of the port"),
        pytest.param(40, 5_000, id="a quarter, for the port has a quarter of that rate"),
    ],
)
def test_a_slow_port_may_trim_at_its_share_of_the_bytes(stated_at_gbps: int | None, most_bytes: int) -> None:
    simulation = fan_in(Trimming(20_000), stated_at_gbps=stated_at_gbps)
    simulation.sample_queues(5_000)
    simulation.run_until(20 * MILLISECOND_NS)
    simulation.check_invariants()
    table = simulation.queue_table()
    data = table["max_bytes"][(table["priority"] == 0) & (table["port"] == "s0->h0")]
    assert most_bytes - FRAME < data.max() <= most_bytes


def test_a_rate_that_no_port_has() -> None:
    with pytest.raises(SimulationError, match="expected thresholds_at_bps as an integer from 1"):
        fan_in(Trimming(20_000), stated_at_gbps=0)


@pytest.mark.parametrize("by_coin", [False, True])
def test_bytes_are_kept(by_coin: bool) -> None:
    """What senders sent is what the receiver got and what was cut off; each cut packet is sent again once."""
    simulation = fan_in(Trimming(20_000, by_coin=by_coin))
    simulation.run_until(20 * MILLISECOND_NS)
    trimmed = counter(simulation, "trimmed_packets")
    assert trimmed == counter(simulation, "retransmitted_packets") == counter(simulation, "naks") > 10
    cut_bytes = counter(simulation, "trimmed_bytes")
    assert cut_bytes == trimmed * 1024
    sent = sum(counter(simulation, "tx_bytes", f"h{host}->s0") for host in range(1, 5))
    assert counter(simulation, "tx_bytes", "s0->h0") == sent - cut_bytes


def cut_one(seed: int, trimming: Trimming) -> str:
    """Three packets come to a port, where one may wait: the first is leaving, the second waits."""
    simulation = Simulation(seed=seed, framing=UEC)
    simulation.add_switch("s0", buffer_bytes=1_000_000, alpha=8.0, trimming=trimming)
    senders = {}
    for number, host in enumerate(("h0", "first", "second", "third")):
        simulation.add_host(host, IDEAL)
        simulation.add_link(host, "s0", rate_bps=10 * GBPS, delay_ps=1_000_000 + 200_000 * number)
    for host in ("first", "second", "third"):
        pair = simulation.connect(
            host,
            "h0",
            mtu_bytes=1024,
            retry_count=7,
            timeout_exponent=14,
            reliability=Reliability("uet", NUMBERS, 7),
        )
        senders[pair[0].qp_num] = host
        pair[0].post_write(1, 1024, True)
    simulation.record_packets(["s0->h0"])
    simulation.run_until(MILLISECOND_NS)
    simulation.check_invariants()
    table = simulation.packet_table()
    is_header = (table["kind"] == "write") & (table["payload_bytes"] == 0)
    (source,) = table["src_qp_num"][is_header]
    return senders[int(source)]


def test_without_a_coin_the_packet_that_comes_is_cut() -> None:
    assert {cut_one(seed, Trimming(FRAME)) for seed in range(20)} == {"third"}


def test_by_a_coin_the_newest_that_waits_is_cut_as_often() -> None:
    cut = [cut_one(seed, Trimming(FRAME, by_coin=True)) for seed in range(200)]
    assert set(cut) == {"second", "third"}
    assert 80 < cut.count("second") < 120


def test_nothing_is_cut_that_need_not_wait() -> None:
    simulation = fan_in(Trimming(0), senders=1)
    simulation.run_until(20 * MILLISECOND_NS)
    assert counter(simulation, "trimmed_packets") == 0
    assert simulation.statistics()["verbs_done"] == 1


def test_headers_go_in_front_of_what_waits() -> None:
    simulation = fan_in(Trimming(20_000))
    simulation.record_packets(["s0->h0"])
    simulation.run_until(MILLISECOND_NS)
    table = simulation.packet_table()
    headers = (table["kind"] == "write") & (table["payload_bytes"] == 0)
    assert set(table["priority"][headers]) == {7}
    overtaken: set[tuple[int, int]] = set()
    waiting_after: dict[int, int] = {}
    for source, psn, is_header in zip(table["src_qp_num"], table["psn"], headers, strict=True):
        if is_header:
            waiting_after[int(source)] = max(int(psn), waiting_after.get(int(source), 0))
        elif int(psn) < waiting_after.get(int(source), 0):
            overtaken.add((int(source), int(psn)))
    assert len(overtaken) > 10, "data of smaller numbers leaves after headers that came later"


def test_other_transports_are_not_cut() -> None:
    simulation = fan_in(Trimming(20_000), "irn")
    simulation.run_until(20 * MILLISECOND_NS)
    assert counter(simulation, "trimmed_packets") == 0
    assert simulation.statistics()["verbs_done"] == 4


def test_without_trimming_nothing_is_counted() -> None:
    simulation = fan_in(None)
    simulation.run_until(MILLISECOND_NS)
    assert "trimmed_packets" not in {name for *_, name, _ in simulation.counters()}


@pytest.mark.parametrize(
    ("trimming", "words"),
    [
        (Trimming(-1), "expected above_bytes as an integer from 0"),
        (Trimming(1, priority=8), "expected priority as an integer from 0 to 7"),
    ],
)
def test_what_no_switch_can_do(trimming: Trimming, words: str) -> None:
    with pytest.raises(SimulationError, match=words):
        fan_in(trimming)


def test_a_priority_of_acknowledgements_that_no_packet_has() -> None:
    with pytest.raises(SimulationError, match="expected acknowledgement_priority as an integer from 0 to 7"):
        Reliability("uet", {}, 9).arguments("connect", "rc", 0, None)
