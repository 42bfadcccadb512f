from dataclasses import replace

import pytest
from helpers.networks import connect, counter, direct

from rogue.simulator import ROCEV2, Simulation, SimulationError


@pytest.mark.parametrize(
    ("payload_bytes", "is_first", "frame_bytes"),
    [
        (1024, False, 1086),  # the figure the SIGCOMM'16 paper confirms
        (1024, True, 1102),
        (0, True, 78),
        (4096, False, 4158),
        (256, False, 318),
    ],
)
def test_frames_of_a_write(payload_bytes: int, is_first: bool, frame_bytes: int) -> None:
    assert ROCEV2.write_frame_bytes(payload_bytes, is_first=is_first) == frame_bytes
    assert ROCEV2.wire_bytes(frame_bytes) == frame_bytes + 20


@pytest.mark.parametrize(("mtu_bytes", "gbps"), [(1024, 1.18), (2048, 1.21), (4096, 1.23)])
def test_one_mtu_gives_the_ideal_of_an_incast_of_eight(mtu_bytes: int, gbps: float) -> None:
    """1.21 Gb/s, less than 10/8 by the headers of RoCEv2. Source: RoGUE, section 5.5 with footnote 2."""
    frame_bytes = ROCEV2.write_frame_bytes(mtu_bytes, is_first=False)
    assert round(10 / 8 * mtu_bytes / frame_bytes, 2) == gbps


def test_an_acknowledgement_is_longer_than_the_shortest_frame() -> None:
    assert ROCEV2.ack_frame_bytes == 66


@pytest.mark.parametrize(
    ("length_bytes", "packets", "frame_bytes"),
    [
        (0, 1, 78),
        (1, 1, 79),
        (1024, 1, 1102),
        (1025, 2, 1102 + 63),
        (65536, 64, 65536 + 64 * 62 + 16),
    ],
)
def test_the_engine_puts_these_frames_on_the_link(length_bytes: int, packets: int, frame_bytes: int) -> None:
    simulation = direct()
    connect(simulation, "a", "b").post_write(1, length_bytes, True)
    simulation.run_until(1_000_000)
    assert counter(simulation, "tx_bytes", "a->b") == frame_bytes
    assert counter(simulation, "tx_bytes", "b->a") == 66
    assert simulation.statistics()["packet_hops"] == packets + 1


def test_every_nth_packet_of_a_verb_is_acknowledged_besides_the_last() -> None:
    simulation = direct()
    queue_pair = connect(simulation, "a", "b", ack_every_packets=3)
    queue_pair.post_write(1, 7 * 1024, True)  # packets 3, 6 and 7
    queue_pair.post_write(2, 2 * 1024, True)  # packet 2: the count starts again with each verb
    simulation.run_until(1_000_000)
    assert counter(simulation, "tx_bytes", "b->a") == 4 * 66


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data_overhead_bytes": -1}, "framing.data_overhead_bytes as an integer from 0 to 65535, got -1"),
        ({"ack_frame_bytes": 65_536}, "framing.ack_frame_bytes as an integer from 0 to 65535, got 65536"),
        ({"data_overhead_bytes": 56_300}, "framing with at most 56319 bytes of headers .* got 56328"),
    ],
)
def test_frames_fit_into_sixteen_bits(changes: dict[str, int], words: str) -> None:
    with pytest.raises(SimulationError, match=f"Simulation: expected {words}"):
        Simulation(seed=1, framing=replace(ROCEV2, **changes))  # type: ignore[arg-type]
