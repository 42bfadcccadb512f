"""Tests: memory of a host, and unreliable datagrams between hosts."""

from typing import Any

import pytest
from helpers.networks import MILLISECOND_NS, Star, connect, direct

from rogue.simulator import DatagramQueuePair, Memory, QueuePair, Simulation, SimulationError

Received = list[tuple[int, list[tuple[int, int, bytes]]]]


def listener(queue_pair: DatagramQueuePair) -> Received:
    received: Received = []
    queue_pair.attach(lambda now, datagrams: received.append((now, datagrams)))
    return received


def two_ends(simulation: Simulation) -> tuple[DatagramQueuePair, DatagramQueuePair, Received]:
    first, second = simulation.datagram_queue_pair("a"), simulation.datagram_queue_pair("b")
    return first, second, listener(second)


def test_a_message_arrives_as_it_was_sent() -> None:
    simulation = direct()
    first, second, received = two_ends(simulation)
    payload = bytes(range(256))
    first.post_send(1, second, payload)
    simulation.run_until(MILLISECOND_NS)
    # 62 + 8 + 256 + 20 wire bytes at 0.8 ns each, and 1 us.
    assert received == [(1_276, [(first.qp_num, 1_276, payload)])]
    assert simulation.statistics()["packets_live"] == 0
    simulation.check_invariants()


def test_messages_of_one_instant_come_in_one_call_in_order() -> None:
    simulation = Star(hosts=3).build()
    queue_pairs = [simulation.datagram_queue_pair(f"h{i}") for i in range(3)]
    received = listener(queue_pairs[2])
    for sender in queue_pairs[:2]:
        for text in (b"one", b"two"):
            sender.post_send(0, queue_pairs[2], text)
    simulation.run_until(MILLISECOND_NS)
    payloads = [payload for _, datagrams in received for _, _, payload in datagrams]
    assert sorted(payloads) == [b"one", b"one", b"two", b"two"]
    assert len({source for _, datagrams in received for source, _, _ in datagrams}) == 2


def test_a_message_overtakes_data_that_waits_in_the_nic() -> None:
    simulation = direct()
    first, second, received = two_ends(simulation)
    connect(simulation, "a", "b").post_write(1, 10**6, True)
    simulation.schedule(10_000, lambda now: first.post_send(1, second, b""))
    simulation.run_until(MILLISECOND_NS)
    # At 10 us the packet is sent that began at 0.8976 + 10 * 0.8848 us; the message takes 90 * 0.8 ns.
    assert [now for now, _ in received] == [10_630 + 72 + 1_000]


def test_messages_may_be_lost() -> None:
    simulation = direct(loss_probability=0.5)
    first, second, received = two_ends(simulation)
    for wr_id in range(200):
        first.post_send(wr_id, second, b"x")
    simulation.run_until(MILLISECOND_NS)
    assert 60 < sum(len(datagrams) for _, datagrams in received) < 140
    simulation.check_invariants()


def test_a_message_fits_into_one_packet_and_goes_to_another_host() -> None:
    simulation = direct()
    first, second, _ = two_ends(simulation)
    with pytest.raises(SimulationError, match=r"the length of payload in bytes .* to 1024, got 1025"):
        first.post_send(1, second, bytes(1025))
    with pytest.raises(SimulationError, match="expected a destination on another host"):
        first.post_send(1, first, b"")
    with pytest.raises(SimulationError, match="expected the name of a host"):
        simulation.datagram_queue_pair("c")


MTU = 1024
SIZE = 200_000


def bound(
    simulation: Simulation, remote_seed: int | None = None, **connection: Any
) -> tuple[tuple[QueuePair, QueuePair], Memory, Memory]:
    parameters = {"mtu_bytes": MTU, "retry_count": 7, "timeout_exponent": 4} | connection
    ends = simulation.connect("a", "b", **parameters)
    local = simulation.register_memory("a", SIZE, seed=1)
    remote = simulation.register_memory("b", SIZE, seed=remote_seed)
    ends[0].bind(local, remote)
    return ends, local, remote


def test_a_write_brings_every_byte_to_its_place() -> None:
    simulation = direct()
    (sender, _), local, remote = bound(simulation)
    sender.post_write(1, 5_000, True, local_offset=100, remote_offset=70_000)
    simulation.run_until(MILLISECOND_NS)
    assert remote.read(70_000, 5_000) == local.read(100, 5_000)
    assert remote.read(0, 70_000) == bytes(70_000)
    assert remote.read(75_000, SIZE - 75_000) == bytes(SIZE - 75_000)


def test_a_read_fetches_every_byte() -> None:
    simulation = direct()
    (reader, _), local, remote = bound(simulation)
    remote.write(500, b"fetch me" * 1_000)
    reader.post_read(1, 8_000, True, local_offset=30_000, remote_offset=500)
    simulation.run_until(MILLISECOND_NS)
    assert local.read(30_000, 8_000) == b"fetch me" * 1_000
    assert local.digest(30_000, 8_000) == remote.digest(500, 8_000)


@pytest.mark.parametrize("verb", ["post_write", "post_read"])
def test_every_byte_is_right_in_spite_of_losses(verb: str) -> None:
    simulation = direct(loss_probability=0.02)
    ends, local, remote = bound(simulation, remote_seed=2)
    source = (local if verb == "post_write" else remote).digest()
    for wr_id, offset in enumerate(range(0, SIZE, 20_000)):
        getattr(ends[0], verb)(wr_id, 20_000, True, local_offset=offset, remote_offset=offset)
    simulation.run_until(200 * MILLISECOND_NS)
    assert local.digest() == remote.digest() == source


def test_a_lost_packet_of_an_unreliable_write_leaves_a_part() -> None:
    simulation = direct()
    (sender, _), local, remote = bound(simulation, service="uc")
    simulation.cut_link("a", "b", start_ns=4_000, duration_ns=1)
    sender.post_write(1, 10 * MTU, True)
    simulation.run_until(MILLISECOND_NS)
    assert sender.delivered_messages == 0
    assert remote.read(0, 2 * MTU) == local.read(0, 2 * MTU)
    assert remote.read(5 * MTU, MTU) == bytes(MTU)


def test_each_delivered_packet_is_recorded() -> None:
    simulation = direct()
    simulation.record_memory_writes()
    (sender, _), _, remote = bound(simulation)
    sender.post_write(1, 2 * MTU + 5, True, remote_offset=50)
    simulation.run_until(MILLISECOND_NS)
    table = {name: column.tolist() for name, column in simulation.memory_write_table().items()}
    arrivals_ps = [1_897_600, 1_897_600 + 884_800, 1_897_600 + 884_800 + 87 * 800]
    assert table == {
        "t_ps": arrivals_ps,
        "qp_num": [sender.qp_num] * 3,
        "memory": [remote.number] * 3,
        "offset": [50, 50 + MTU, 50 + 2 * MTU],
        "length_bytes": [MTU, MTU, 5],
    }


@pytest.mark.parametrize("is_peer_reset", [False, True])
def test_late_packets_land_unless_the_peer_was_reset(is_peer_reset: bool) -> None:
    simulation = direct()
    simulation.record_memory_writes()
    (sender, receiver), _, _ = bound(simulation, timeout_exponent=14)
    sender.post_write(1, 10 * MTU, True)
    simulation.run_until(2_700)
    sender.reset()
    if is_peer_reset:
        receiver.reset()
    simulation.run_until(MILLISECOND_NS)
    late = int((simulation.memory_write_table()["t_ps"] > 2_700_000).sum())
    assert late == (0 if is_peer_reset else 3)


def test_a_memory_has_an_end_and_a_host() -> None:
    simulation = direct()
    (sender, receiver), local, remote = bound(simulation)
    with pytest.raises(SimulationError, match="verb 7 goes beyond the end of a memory"):
        sender.post_write(7, 2, True, remote_offset=SIZE - 1)
    with pytest.raises(SimulationError, match="expected a part of its 200000 bytes, got 2 bytes at 199999"):
        local.read(SIZE - 1, 2)
    with pytest.raises(SimulationError, match="expected a local memory on this host"):
        receiver.bind(local, remote)
    with pytest.raises(SimulationError, match="expected memories of the same simulation"):
        sender.bind(direct().register_memory("a", 1), remote)
    with pytest.raises(SimulationError, match="expected size_bytes as an integer from 1"):
        simulation.register_memory("a", 0)
