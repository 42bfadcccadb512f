"""SEND and immediates on reliable connections."""

import pytest
from helpers.networks import MILLISECOND_NS, Host, counter, direct

from rogue.simulator import QueuePair, Simulation

MTU = 1024
Received = list[tuple[int, int, int, int, int | None]]


def ends(simulation: Simulation, timeout_exponent: int = 4) -> tuple[QueuePair, QueuePair]:
    return simulation.connect(
        "a", "b", mtu_bytes=MTU, retry_count=7, timeout_exponent=timeout_exponent, ack_every_packets=1
    )


def listen(queue_pair: QueuePair) -> Received:
    received: Received = []
    queue_pair.attach(
        lambda now, completions: None,
        lambda now, state: None,
        lambda now, receives: received.extend(receives),
    )
    return received


def test_sends_and_immediates_are_received_in_order() -> None:
    simulation = direct()
    sender, receiver = ends(simulation)
    received = listen(receiver)
    sender.post_send(1, MTU, True)
    sender.post_write(2, MTU, True)
    sender.post_write(3, 5, True, imm=33)
    sender.post_send(4, 3 * MTU, True, imm=44)
    simulation.run_until(MILLISECOND_NS)
    assert [(wr_id, length, imm) for wr_id, _, _, length, imm in received] == [
        (0, MTU, None),
        (1, 5, 33),
        (2, 3 * MTU, 44),
    ]
    # Only a WRITE has 16 bytes of RETH, on its first packet; an immediate has 4 on the last one.
    payload = 5 * MTU + 5
    assert counter(simulation, "tx_bytes", "a->b") == payload + 6 * 62 + 2 * 16 + 2 * 4


@pytest.mark.parametrize("kind", ["send", "write"])
def test_each_message_is_received_once_in_spite_of_losses(kind: str) -> None:
    simulation = direct(loss_probability=0.2)
    sender, receiver = ends(simulation)
    host, received = Host(sender), listen(receiver)
    for wr_id in range(40):
        if kind == "send":
            sender.post_send(wr_id, 2 * MTU, True, imm=wr_id)
        else:
            sender.post_write(wr_id, 2 * MTU, True, imm=wr_id)
    simulation.run_until(100 * MILLISECOND_NS)
    assert host.statuses == [(wr_id, 0) for wr_id in range(40)]
    assert [imm for *_, imm in received] == list(range(40))
    simulation.check_invariants()


def test_host_software_that_does_not_care_is_not_told() -> None:
    simulation = direct()
    sender, receiver = ends(simulation)
    host = Host(receiver)
    sender.post_write(1, MTU, True, imm=1)
    simulation.run_until(MILLISECOND_NS)
    assert host.polls == []
