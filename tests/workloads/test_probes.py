"""Every probe: an endless flow of small requests from its own host."""

import pytest
from pydantic import ValidationError

from rogue.workloads.probes import PROBES, Write0


@pytest.mark.parametrize("kind", PROBES)
def test_probe_is_endless_and_on_a_grid(kind: str) -> None:
    flow = PROBES[kind].model_validate({"interval": "1ms"}).flow("h9", "h8", seed=1)
    assert (flow.source, flow.destination) == ("h9", "h8")
    assert (flow.count, flow.repeat_until_ns, flow.interval_ns) == (None, None, 1_000_000)


def test_it_moves_no_payload() -> None:
    flow = Write0.model_validate({"interval": "1ms"}).flow("h9", "h8", seed=1)
    assert (flow.verb, flow.size_bytes) == ("write", 0)


@pytest.mark.parametrize("interval", ["0ms", 1, "1"])
def test_interval_needs_a_unit(interval: object) -> None:
    with pytest.raises(ValidationError):
        Write0.model_validate({"interval": interval})
