"""A NIC that takes in less than its link brings."""

import pytest
from pydantic import ValidationError

from workloads.faults.slow_receiver import SlowReceiver


def test_from_the_beginning_to_the_end() -> None:
    fault = SlowReceiver.model_validate({"kind": "slow_receiver", "target": "h1", "rate": "2Gbps"})
    assert (fault.rate_bps, fault.at_ns, fault.duration_ns) == (2 * 10**9, 0, None)
    assert (fault.buffer_bytes, fault.xoff_bytes, fault.xon_bytes) == (256_000, 128_000, 64_000)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"xon": "200KB"}, "less than xoff, 128000 bytes"),
        ({"xoff": "256KB"}, "less than buffer, 256000 bytes"),
        ({"rate": "0bps"}, "rate"),
        ({"duration": "0s"}, "time"),
    ],
)
def test_impossible_ones_are_refused(changes: dict[str, object], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        SlowReceiver.model_validate({"target": "h1", "rate": "2Gbps", **changes})
