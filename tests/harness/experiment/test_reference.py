from typing import Literal

import pytest
from pydantic import Field

from rogue.harness.experiment.choices import MeasureChoice, TrafficGroup, TransportChoice
from rogue.harness.experiment.keys import Key, keys_of
from rogue.harness.experiment.model import Experiment
from rogue.workloads.faults import FAULTS
from rogue.workloads.probes import PROBES
from rogue.workloads.specification import Specification, Time
from rogue.workloads.topologies import TOPOLOGIES
from rogue.workloads.traffic import WORKLOADS

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
