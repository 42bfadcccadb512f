"""What every entry of a registry in `workloads` must keep: new entries are picked up by themselves."""

import pytest

from rogue.workloads.faults import FAULTS
from rogue.workloads.probes import PROBES
from rogue.workloads.specification import Specification, meanings
from rogue.workloads.topologies import TOPOLOGIES
from rogue.workloads.traffic import WORKLOADS

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
