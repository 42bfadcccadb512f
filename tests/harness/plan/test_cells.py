"""Cells: order, seeds, names."""

from pathlib import Path

import pytest
from helpers.experiments import SMALL, load_text
from helpers.small_runs import cell as kept_cell
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rogue.harness.errors import ConfigError
from rogue.harness.plan.cells import CELLS_MAX, ID_LENGTH_MAX, plan_cells
from rogue.workloads.manifest import CellRecord

FACTORS = SMALL + "factors: {workload.senders: [1, 2]}\nrepetitions: 2\nseed: 5\n"


def test_one_repetition_of_everything_first_and_transports_interleaved(tmp_path: Path) -> None:
    assert [cell.id for cell in plan_cells(load_text(tmp_path, FACTORS))] == [
        "rogue-senders1-r1", "roce-senders1-r1", "rogue-senders2-r1", "roce-senders2-r1",
        "rogue-senders1-r2", "roce-senders1-r2", "rogue-senders2-r2", "roce-senders2-r2",
    ]  # fmt: skip


def test_repetition_r_has_the_seed_plus_r_minus_1_whatever_the_transport(tmp_path: Path) -> None:
    cells = plan_cells(load_text(tmp_path, FACTORS))
    assert {(cell.repetition, cell.seed) for cell in cells} == {(1, 5), (2, 6)}


def test_every_transport_meets_the_same_traffic(tmp_path: Path) -> None:
    rogue, roce, *_ = plan_cells(load_text(tmp_path, FACTORS))
    hosts = rogue.experiment.placement
    flows = [cell.experiment.groups[0].workload.flows(hosts, cell.seed) for cell in (rogue, roce)]
    assert flows[0] == flows[1]


def test_cells_of_one_factor_are_the_experiment_with_it_applied(tmp_path: Path) -> None:
    cells = plan_cells(load_text(tmp_path, FACTORS))
    assert [cell.experiment.groups[0].workload.hosts_min() for cell in cells[:4]] == [2, 2, 3, 3]


@pytest.mark.parametrize(
    ("extra", "identifier"),
    [
        ("factors: {workload.size: [1.5MB]}", "rogue-size1.5MB-r1"),
        ("factors: {topology.rate: [1Gbps], workload.verb: [write]}", "rogue-rate1Gbps-verbwrite-r1"),
        (
            "factors: {topology.kind: [star], workload.kind: [incast]}",
            "rogue-topology.kindstar-workload.kindincast-r1",
        ),
    ],
)  # fmt: skip
def test_names(tmp_path: Path, extra: str, identifier: str) -> None:
    assert plan_cells(load_text(tmp_path, SMALL + extra))[0].id == identifier


def test_labels_that_are_no_file_names(tmp_path: Path) -> None:
    text = SMALL.replace(
        "[rogue, roce]", "[{name: rogue, label: a/b}, {name: rogue, label: 'a?b'}, {name: roce, label: A_b}]"
    )
    assert [cell.id for cell in plan_cells(load_text(tmp_path, text))] == ["a_b-r1.1", "a_b-r1.2", "A_b-r1.3"]


@pytest.mark.parametrize("label", [".writing-x", "..", "-x", "_x"])
def test_no_directory_of_a_cell_is_hidden_or_looks_like_an_option(tmp_path: Path, label: str) -> None:
    text = SMALL.replace("[rogue, roce]", f"[{{name: rogue, label: '{label}'}}]")
    assert plan_cells(load_text(tmp_path, text))[0].id == f"x_{label[1:]}-r1"


@pytest.mark.parametrize("label", ["(lossy)", "µ", "a/b", ".x", "-"])
def test_a_manifest_takes_every_cell_that_is_planned(tmp_path: Path, label: str) -> None:
    text = SMALL.replace("[rogue, roce]", f"[{{name: rogue, label: '{label}'}}]")
    for cell in plan_cells(load_text(tmp_path, text)):
        assert CellRecord.model_validate(kept_cell(cell.id)).id == cell.id


LABELS = st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=5, unique=True)


@given(LABELS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
def test_ids_are_different_names_of_files(tmp_path: Path, labels: list[str]) -> None:
    loaded = load_text(tmp_path)
    choices = [loaded.experiment.transports[0].model_copy(update={"label": label}) for label in labels]
    loaded.experiment.transports[:] = choices
    identifiers = [cell.id for cell in plan_cells(loaded)]
    assert len({identifier.lower() for identifier in identifiers}) == len(labels)
    assert all(Path(name).name == name and len(name) <= ID_LENGTH_MAX + 12 for name in identifiers)


def test_too_many_cells(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"got 60000 cells, expected at most {CELLS_MAX}"):
        plan_cells(
            load_text(
                tmp_path,
                SMALL + "factors: {workload.senders: [1, 2, 3]}",
                "repetitions=10000",
                "topology.hosts=5",
            )
        )
