"""Every probe: an endless flow of small requests from its own host."""

import pytest

from workloads.probes import PROBES


@pytest.mark.parametrize("kind", PROBES)
def test_probe_is_endless_and_on_a_grid(kind: str) -> None:
    flow = PROBES[kind].model_validate({"interval": "1ms"}).flow("h9", "h8", seed=1)
    assert (flow.source, flow.destination) == ("h9", "h8")
    assert (flow.count, flow.repeat_until_ns, flow.interval_ns) == (None, None, 1_000_000)
