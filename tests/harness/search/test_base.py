"""What a search makes of an experiment."""

from pathlib import Path

from helpers.experiments import load_text
from helpers.fake_testbed import FakeTestbed
from helpers.searched import EXPERIMENT

from rogue.harness.experiment.load import check_document
from rogue.harness.plan.plan import Plan
from rogue.harness.search.base import Infeasible, make_base, named_for_search
from rogue.harness.search.space import Aim

SCALED = f"{EXPERIMENT}scales: {{quick: {{workload.senders: 3, topology.buffer: 1MB}}}}\n"


def test_a_scale_does_not_undo_what_was_set_after_it(tmp_path: Path) -> None:
    written = load_text(tmp_path, SCALED, "scale=quick", "workload.senders=5")
    loaded = check_document(named_for_search(written.document), written.settings)
    base = make_base(loaded, FakeTestbed(), Aim(metric="fct_mean_ns", transport="own"), 1)
    found = base.at({"workload.size": "1KB"}, range(1, 3)).experiment
    assert found.topology.buffer_bytes == 1_000_000, "what the scale says"
    assert len(found.groups[0].workload.flows(found.placement, 1)) == 5


def test_values_of_which_a_cell_should_take_too_long_are_left_out(tmp_path: Path) -> None:
    base = make_base(load_text(tmp_path, EXPERIMENT), FakeTestbed(), Aim(metric="jain", transport="own"), 1)
    assert isinstance(base.cells_at({}, range(1, 2), 1.5), Plan), "a cell should take 1.5 s"
    left_out = base.cells_at({}, range(1, 2), 1.4)
    assert isinstance(left_out, Infeasible)
    assert left_out.reason.startswith(
        "a cell should take 2 s, expected at most 1.4 s; raise cell in the budget"
    )
