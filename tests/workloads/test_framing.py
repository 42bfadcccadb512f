"""Frame and wire sizes."""

import pytest

from workloads.framing import NS3, ROCEV2, Framing


@pytest.mark.parametrize(
    ("framing", "mtu_bytes", "fraction"),
    [
        (ROCEV2, 256, 0.7574),
        (ROCEV2, 512, 0.8620),
        (ROCEV2, 1024, 0.9259),
        (ROCEV2, 2048, 0.9615),
        (ROCEV2, 4096, 0.9804),
        (NS3, 1000, 0.9709),
    ],
)
def test_payload_fraction_worked_examples(framing: Framing, mtu_bytes: int, fraction: float) -> None:
    assert float(framing.payload_fraction(mtu_bytes)) == pytest.approx(fraction, abs=5e-5)


@pytest.mark.parametrize(
    ("size_bytes", "packets"),
    [
        (0, [(82, 1)]),
        (1, [(83, 1)]),
        (1024, [(1106, 1)]),
        (1025, [(1106, 1), (83, 1)]),
        (65_536, [(1106, 64)]),
    ],
)
def test_packets_of_a_write(size_bytes: int, packets: list[tuple[int, int]]) -> None:
    assert list(ROCEV2.write_packets(size_bytes, 1024)) == packets
