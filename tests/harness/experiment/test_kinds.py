"""A class chosen by `kind`."""

from typing import Annotated

import pytest
from pydantic import BaseModel, ValidationError

from rogue.harness.experiment.keys import ByKind
from rogue.workloads.topologies import TOPOLOGIES, Topology


class Holder(BaseModel):
    topology: Annotated[Topology, ByKind(TOPOLOGIES)] | None = None


def test_kind_decides() -> None:
    holder = Holder.model_validate({"topology": {"kind": "star", "hosts": 2, "rate": "1Gbps"}})
    assert isinstance(holder.topology, TOPOLOGIES["star"])


@pytest.mark.parametrize(
    ("written", "loc"),
    [
        (5, ("topology",)),
        ({}, ("topology", "kind")),
        ({"kind": "moebius"}, ("topology", "kind")),
        ({"kind": []}, ("topology", "kind")),
        ({"kind": "star", "rate": "1Gbps"}, ("topology", "hosts")),
    ],
)
def test_mistake_is_blamed_on_its_key(written: object, loc: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError) as caught:
        Holder.model_validate({"topology": written})
    assert [error["loc"] for error in caught.value.errors()] == [loc]
