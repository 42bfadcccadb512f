import pytest
from helpers.networks import MILLISECOND_NS, Star, connect, direct

from rogue.simulator import DatagramQueuePair, Simulation, SimulationError

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
    # 62 + 8 + 256 + 20 wire bytes at .8 ns each, and 1 us.
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
    # At 10 us the packet is sent that began at .8976 + 10 * .8848 us; the message takes 90 * .8 ns.
    assert [now for now, _ in received] == [10_630 + 72 + 1_000]


def test_messages_may_be_lost() -> None:
    simulation = direct(loss_probability=0.5)
    first, second, received = two_ends(simulation)
    for wr_id in range(200):
        first.post_send(wr_id, second, b"x")
    simulation.run_until(MILLISECOND_NS)
    assert 60 < sum(len(datagrams) for _, datagrams in received) < 140
    simulation.check_invariants()


def test_numbers_differ_from_those_of_connections() -> None:
    simulation = direct()
    numbers = {end.qp_num for end in two_ends(simulation)[:2]}
    numbers |= {
        end.qp_num for end in simulation.connect("a", "b", mtu_bytes=1024, retry_count=0, timeout_exponent=0)
    }
    assert len(numbers) == 4


def test_a_message_fits_into_one_packet_and_goes_to_another_host() -> None:
    simulation = direct()
    first, second, _ = two_ends(simulation)
    with pytest.raises(SimulationError, match=r"the length of payload in bytes .* to 1024, got 1025"):
        first.post_send(1, second, bytes(1025))
    with pytest.raises(SimulationError, match="expected a destination on another host"):
        first.post_send(1, first, b"")
    with pytest.raises(SimulationError, match="expected the name of a host"):
        simulation.datagram_queue_pair("c")
