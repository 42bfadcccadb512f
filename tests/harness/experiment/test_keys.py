"""Tests: describe the keys of an experiment file: name, type, default and meaning."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from rogue.harness.experiment.choices import MeasureChoice, TrafficGroup, TransportChoice
from rogue.harness.experiment.keys import ByKind, Key, keys_of
from rogue.harness.experiment.model import Experiment
from rogue.workloads.faults import FAULTS
from rogue.workloads.probes import PROBES
from rogue.workloads.specification import Specification, Time
from rogue.workloads.topologies import TOPOLOGIES, Topology
from rogue.workloads.traffic import WORKLOADS


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


PARTS = [Experiment, TransportChoice, MeasureChoice, TrafficGroup]
REGISTRIES = [TOPOLOGIES, WORKLOADS, PROBES, FAULTS]


class Sample(Specification):
    kind: Literal["sample"] = "sample"
    wait_ns: Time = 50_000
    """How long.

    Source: nobody.
    """
    share: float = Field(default=0.5, gt=0, le=1)
    """A share."""
    targets: list[Literal["a", "b"]] | None = None
    """Which."""
    is_on: bool = False
    """Whether."""
    count: int = Field(ge=2)
    """How many."""


def test_a_key_is_told_as_it_is_written() -> None:
    assert keys_of(Sample) == [
        Key("wait", "time", "50us", "How long."),
        Key("share", "number, above 0 to 1", "0.5", "A share."),
        Key("targets", "list: a or b", "none", "Which."),
        Key("is_on", "true or false", "false", "Whether."),
        Key("count", "integer, from 2", "required", "How many."),
    ]


def test_a_short_form_does_not_hide_the_keys_of_the_long_one() -> None:
    assert [key.name for key in keys_of(TransportChoice)] == ["name", "label"]
    assert [key.name for key in keys_of(MeasureChoice)] == [
        "kind", "interval", "ports", "flows", "from", "until", "packets_max",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "kind",
    [*PARTS, *(kind for registry in REGISTRIES for kind in registry.values())],
    ids=lambda k: k.__name__,
)
def test_every_key_has_a_meaning_and_a_type(kind: type[Specification]) -> None:
    for key in keys_of(kind):
        assert key.meaning.endswith("."), f"{kind.__name__}.{key.name} has no docstring"
        assert key.type
        assert "_ns" not in key.name and "Undefined" not in key.default
