"""Tests: registries, their entries, and what plug-ins add."""

from collections.abc import Iterator
from typing import Literal

import pytest
from helpers.plugin_files import registrations_taken_back

from rogue.workloads.faults import FAULTS
from rogue.workloads.flow_sizes import FLOW_SIZES, FlowSizes
from rogue.workloads.plugins import register_flow_sizes, register_topology, register_workload
from rogue.workloads.probes import PROBES
from rogue.workloads.registration import ADDED, add, check_class, take_back
from rogue.workloads.specification import Specification, meanings
from rogue.workloads.topologies import TOPOLOGIES
from rogue.workloads.topologies.small_networks import Star
from rogue.workloads.traffic import WORKLOADS
from rogue.workloads.traffic.poisson import Poisson

KINDS: list[tuple[str, type[Specification]]] = [
    *TOPOLOGIES.items(), *WORKLOADS.items(), *PROBES.items(), *FAULTS.items(),
]  # fmt: skip


@pytest.mark.parametrize(("key", "kind"), KINDS)
def test_a_kind_and_its_parameters_are_explained_under_its_name(key: str, kind: type[Specification]) -> None:
    assert kind.model_fields["kind"].default == key
    assert kind.__doc__, f"{key} needs a docstring: `rogue list` prints it"
    explained = meanings(kind)
    unexplained = [name for name in kind.model_fields if name != "kind" and not explained.get(name)]
    assert not unexplained, f"{key}: {unexplained} need a sentence below them"


def test_an_entry_is_in_all_its_registries_or_in_none() -> None:
    names: dict[str, int] = {"old": 1}
    also: dict[str, int] = {}
    with pytest.raises(ValueError, match="a second thing old, expected a name that no other thing has"):
        add("thing", "old", 2, also, names)
    assert (names, also) == ({"old": 1}, {})
    add("thing", "new", 2, names, also)
    assert ([*ADDED][-1], names, also) == ("thing new", {"old": 1, "new": 2}, {"new": 2})
    take_back([*ADDED][:-1])
    assert (names, also) == ({"old": 1}, {})


def test_only_subclasses_are_of_a_kind() -> None:
    check_class("number", bool, int)
    for entry in (3, str):
        with pytest.raises(ValueError, match="as a number, expected a subclass of int"):
            check_class("number", entry, int)


class Sun(Star):
    """A star by another name."""

    kind: Literal["sun"] = "sun"  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def before() -> Iterator[int]:
    """The number of entries."""
    with registrations_taken_back() as count:
        yield count


def test_a_kind_is_its_name() -> None:
    register_topology(Sun)
    assert TOPOLOGIES["sun"] is Sun


def test_a_distribution_can_be_drawn_from() -> None:
    register_flow_sizes("two", FlowSizes("two sizes", "made up", ((1, 0), (2, 100))))
    poisson = Poisson.model_validate({"kind": "poisson", "load": 0.5, "sizes": "two", "arrive_for": "1ms"})
    assert FLOW_SIZES[poisson.sizes or ""].mean_bytes == 1.5


def test_what_is_no_such_thing_is_refused(before: int) -> None:
    with pytest.raises(ValueError, match="a second topology star"):
        register_topology(Star)
    with pytest.raises(ValueError, match="as a workload, expected a subclass of Workload"):
        register_workload(Sun)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="as flow sizes, expected FlowSizes"):
        register_flow_sizes("x", 3)  # type: ignore[arg-type]
    assert len(ADDED) == before
