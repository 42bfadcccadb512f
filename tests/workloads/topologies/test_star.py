"""The star."""

import pytest
from pydantic import ValidationError

from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.star import Star
from rogue.workloads.topologies.topology import Switch


def star(**changes: object) -> Star:
    return Star.model_validate({"hosts": 3, "rate": "10Gbps", "delay": "1us", **changes})


def test_three_hosts() -> None:
    assert star().links() == tuple(Link(f"h{index}", "s0", 10_000_000_000, 1_000) for index in range(3))
    assert star().path("h0", "h2") == (star().links()[0], star().links()[2])


def test_buffer_defaults_to_nine_megabytes() -> None:
    assert star().switches() == (Switch("s0", 9_000_000, 1.0, "shared"),)
    assert star(buffer="unbounded").switches() == (Switch("s0", None, 1.0, "shared"),)
    assert star(buffer="240KB", switch="voq").switches() == (Switch("s0", 240_000, 1.0, "voq"),)


@pytest.mark.parametrize(
    "changes",
    [
        {"hosts": 1}, {"hosts": 10**11}, {"hosts": "3"}, {"hosts": True}, {"hosts": 3.0}, {"mtu": 1500},
        {"alpha": 0}, {"alpha": float("inf")}, {"framing": "tcp"}, {"nic": "cx5"}, {"buffer": "0B"},
    ],
)  # fmt: skip
def test_impossible_stars_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        star(**changes)
