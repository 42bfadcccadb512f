"""What carries a flow."""

from pathlib import Path

from helpers.experiments import cell_of

GROUP = (
    "{name: own, workload: {kind: incast, senders: 2, size: 1MB}, transport: roce, parameters: {window: 1}}"
)


def test_which_parameters_are_a_groups_own(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[{name: rogue, segment: 16KiB}]")
    assert not cell.groups[0].states("segment")
    (own,) = cell_of(tmp_path, "workload=null", f"traffic=[{GROUP}]").groups
    assert own.states("window")
    assert own.states("segment"), "whatever is wrong with its transport is its own mistake"


def test_the_probe_says_that_it_is_one(tmp_path: Path) -> None:
    """Whatever a group may be called."""
    cell = cell_of(tmp_path, "workload=null", f"traffic=[{GROUP.replace('own', 'probe')}]")
    assert cell.probe is not None
    assert cell.probe.is_probe
    assert (cell.probe.flow_id, cell.probe.carrier.label) == ("probe/h2->h3", "roce")
    assert cell.groups[0].name == cell.probe.carrier.name
