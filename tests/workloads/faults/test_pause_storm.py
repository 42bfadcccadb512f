"""A NIC that pauses its switch for ever."""

import pytest
from pydantic import ValidationError

from workloads.faults.pause_storm import PauseStorm


def test_with_a_watchdog() -> None:
    fault = PauseStorm.model_validate(
        {"kind": "pause_storm", "target": "h1", "at": "2ms", "duration": "1s", "nic_watchdog": "100ms"}
    )
    assert (fault.at_ns, fault.duration_ns, fault.nic_watchdog_ns) == (2 * 10**6, 10**9, 10**8)


@pytest.mark.parametrize("changes", [{"duration": "0s"}, {"nic_watchdog": "0s"}, {"rate": "1Gbps"}])
def test_impossible_ones_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PauseStorm.model_validate({"target": "h1", "at": "2s", "duration": "2s", **changes})
