import pytest

from rogue.harness.provisioning.rdma_transfers import least_ip_mtu_bytes, payload_bytes


@pytest.mark.parametrize(
    ("ip_mtu_bytes", "expected_bytes"),
    [
        (1500, 1024),
        (1119, 512),
        (2143, 1024),
        (2144, 2048),
        (4191, 2048),
        (4192, 4096),
        (9000, 4096),
        (600, 256),
    ],
)
def test_the_largest_payload_that_linux_lets_fit(ip_mtu_bytes: int, expected_bytes: int) -> None:
    """1500 - 96 = 1404: 1024; 2144 - 96 = 2048."""
    assert payload_bytes(ip_mtu_bytes) == expected_bytes


def test_an_mtu_is_large_enough_for_what_needs_it() -> None:
    assert least_ip_mtu_bytes(2048) == 2144
    assert payload_bytes(least_ip_mtu_bytes(4096)) == 4096
