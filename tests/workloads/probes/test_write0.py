"""The WRITE without payload."""

import pytest
from pydantic import ValidationError

from workloads.probes.write0 import Write0


def test_it_moves_no_payload() -> None:
    flow = Write0.model_validate({"interval": "1ms"}).flow("h9", "h8", seed=1)
    assert (flow.verb, flow.size_bytes) == ("write", 0)


@pytest.mark.parametrize("interval", ["0ms", 1, "1"])
def test_interval_needs_a_unit(interval: object) -> None:
    with pytest.raises(ValidationError):
        Write0.model_validate({"interval": interval})
