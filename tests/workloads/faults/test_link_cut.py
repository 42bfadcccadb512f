"""A link that goes down."""

import pytest
from pydantic import ValidationError

from workloads.faults.link_cut import LinkCut


def test_two_seconds() -> None:
    fault = LinkCut.model_validate({"kind": "link_cut", "target": "h1", "at": "0s", "duration": "2s"})
    assert (fault.at_ns, fault.duration_ns) == (0, 2_000_000_000)


@pytest.mark.parametrize("changes", [{"duration": "0s"}, {"at": 2}, {"until": "3s"}])
def test_impossible_ones_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        LinkCut.model_validate({"target": "h1", "at": "2s", "duration": "2s", **changes})
