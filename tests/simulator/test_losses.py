"""Which packets a line loses. One-packet verbs without retransmission: each loss is one packet."""

from itertools import groupby

import pytest
from helpers.networks import GBPS, MICROSECOND_PS, SECOND_NS, counter

from rogue.simulator import (
    IDEAL,
    BurstLoss,
    IndependentLoss,
    IpIdLoss,
    Loss,
    QueuePair,
    Simulation,
    SimulationError,
)

PACKETS = 20_000


def star(loss: Loss, senders: int = 1) -> tuple[Simulation, list[QueuePair]]:
    """Senders on a clean line each, and a receiver behind a line that loses packets."""
    simulation = Simulation(seed=5)
    simulation.add_switch("s", buffer_bytes=None, alpha=1.0)
    simulation.add_host("b", IDEAL)
    simulation.add_link("s", "b", rate_bps=10 * GBPS, delay_ps=MICROSECOND_PS, loss=loss)
    for i in range(senders):
        simulation.add_host(f"a{i}", IDEAL)
        simulation.add_link(f"a{i}", "s", rate_bps=10 * GBPS, delay_ps=MICROSECOND_PS)
    return simulation, [
        simulation.connect(f"a{i}", "b", mtu_bytes=256, retry_count=0, timeout_exponent=0, service="uc")[0]
        for i in range(senders)
    ]


def received(loss: Loss) -> list[bool]:
    """Whether each of many messages of one packet arrives, in order."""
    simulation, [sender] = star(loss)
    arrived = [False] * PACKETS

    def on_receives(now: int, receives: list[tuple[int, int, int, int, int | None]]) -> None:
        for *_, imm in receives:
            arrived[imm or 0] = True

    receiver = simulation.connect("a0", "b", mtu_bytes=256, retry_count=0, timeout_exponent=0, service="uc")
    receiver[1].attach(lambda now, completions: None, lambda now, state: None, on_receives)
    for number in range(PACKETS):
        receiver[0].post_write(number, 0, False, imm=number)
    simulation.run_until(SECOND_NS)
    simulation.check_invariants()
    assert counter(simulation, "lost_packets", "s->b") == PACKETS - sum(arrived)
    assert sender.delivered_messages == 0
    return arrived


def test_independent_losses_have_their_probability() -> None:
    lost = PACKETS - sum(received(IndependentLoss(0.1)))
    assert lost == pytest.approx(2_000, abs=4 * 42)  # sigma = sqrt(20000 * .1 * .9)


def test_losses_happen_inside_their_window() -> None:
    arrived = received(IndependentLoss(0.5, from_ns=500_000, until_ns=1_000_000))
    # A message takes 62 + 16 + 4 + 20 wire bytes, 81.6 ns; number n arrives at 2 us + (n + 2) * 81.6 ns.
    first, last = arrived.index(False), PACKETS - 1 - arrived[::-1].index(False)
    assert 498_000 / 81.6 - 15 < first < 498_000 / 81.6 + 15
    assert 998_000 / 81.6 - 15 < last < 998_000 / 81.6 + 15


def test_bursts_have_their_length_and_share() -> None:
    arrived = received(BurstLoss(to_bad_probability=0.01, to_good_probability=0.25))
    runs = [len(list(run)) for is_arrived, run in groupby(arrived) if not is_arrived]
    assert sum(runs) / len(runs) == pytest.approx(4, rel=0.2)
    assert sum(runs) / PACKETS == pytest.approx(0.01 / 0.26, rel=0.25)


def test_a_good_line_may_lose_packets_too() -> None:
    loss = BurstLoss(
        to_bad_probability=0.0, to_good_probability=0.5, good_loss_probability=0.1, bad_loss_probability=0.9
    )
    assert PACKETS - sum(received(loss)) == pytest.approx(2_000, abs=4 * 42)


@pytest.mark.parametrize("bits", [4, 10])
def test_ip_id_loses_one_in_a_power_of_two_of_each_nic(bits: int) -> None:
    simulation, senders = star(IpIdLoss(2**bits - 1), senders=3)
    for sender in senders:
        for number in range(4 * 2**bits):
            sender.post_write(number, 0, False)
    simulation.run_until(SECOND_NS)
    # Every NIC sends each IP ID the same number of times, wherever it begins.
    assert [sender.delivered_messages for sender in senders] == [4 * (2**bits - 1)] * 3
    simulation.check_invariants()


def test_ip_id_counts_acknowledgements() -> None:
    """Four packets there, four acknowledgements back; each NIC loses exactly one of each sixteen."""
    simulation = Simulation(seed=5)
    for name in ("a", "b"):
        simulation.add_host(name, IDEAL)
    simulation.add_link("a", "b", rate_bps=10 * GBPS, delay_ps=MICROSECOND_PS, loss=IpIdLoss(0xF))
    sender, _ = simulation.connect("a", "b", mtu_bytes=256, retry_count=7, timeout_exponent=0)
    for number in range(16):
        simulation.schedule(10_000 * number, lambda now, n=number: sender.post_write(n, 0, True))
    simulation.run_until(159_999)
    assert counter(simulation, "lost_packets", "a->b") == 1
    lost_back = counter(simulation, "lost_packets", "b->a")
    assert lost_back in {0, 1}
    assert counter(simulation, "tx_bytes", "b->a") % 66 == 0


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (IndependentLoss(1.0), "probability from 0 to less than 1, got 1.0"),
        (IndependentLoss(0.1, from_ns=-1), "from_ns as an integer from 0"),
        (IndependentLoss(0.1, from_ns=9, until_ns=8), "until_ns as an integer from 9"),
        (BurstLoss(0.1, 1.5), "to_good_probability from 0"),
        (IpIdLoss(2**16), "mask as an integer from 0 to 65535"),
    ],
)
def test_a_bad_loss_gets_a_sentence(loss: Loss, expected: str) -> None:
    with pytest.raises(SimulationError, match=f"add_link s-b: expected {expected}"):
        star(loss)


def test_one_rule_for_each_link() -> None:
    simulation = Simulation(seed=1)
    for name in ("a", "b"):
        simulation.add_host(name, IDEAL)
    with pytest.raises(SimulationError, match="expected loss or loss_probability, got both"):
        simulation.add_link("a", "b", rate_bps=1, delay_ps=0, loss_probability=0.1, loss=IpIdLoss(1))
