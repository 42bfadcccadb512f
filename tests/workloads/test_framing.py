"""Frame and wire sizes."""

import pytest

from rogue.workloads.framing import NS3, ROCEV2, Framing


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


def test_an_empty_write_and_its_acknowledgement() -> None:
    assert ROCEV2.header_bytes + ROCEV2.remote_address_bytes == 78
    assert (ROCEV2.acknowledgement_bytes, ROCEV2.gap_bytes) == (66, 20)
