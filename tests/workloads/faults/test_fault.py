"""Which link a fault strikes."""

import pytest
from pydantic import ValidationError

from workloads.faults.link_cut import LinkCut
from workloads.topologies import TOPOLOGIES

LOT = TOPOLOGIES["parking_lot"].model_validate({"rate": "10Gbps"})


def cut(target: str) -> LinkCut:
    return LinkCut.model_validate({"target": target, "at": "2s", "duration": "2s"})


@pytest.mark.parametrize(
    ("target", "ends"),
    [("h1", {"h1", "s0"}), ("h1-s0", {"h1", "s0"}), ("s0-h1", {"h1", "s0"}), ("s2-s1", {"s1", "s2"})],
)
def test_a_host_or_two_neighbours(target: str, ends: set[str]) -> None:
    link = cut(target).link(LOT)
    assert link is not None
    assert {link.a, link.b} == ends


@pytest.mark.parametrize("target", ["h9", "s0", "s0-s2", "h0-h1", "s9-h0"])
def test_links_that_are_not_there(target: str) -> None:
    assert cut(target).link(LOT) is None


@pytest.mark.parametrize("target", ["", "everything", "h1-", "h1-s0-s1"])
def test_what_is_no_link_at_all(target: str) -> None:
    with pytest.raises(ValidationError):
        cut(target)
