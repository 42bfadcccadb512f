"""What a search makes of an experiment."""

from pathlib import Path

from helpers.experiments import load_text
from helpers.fake_testbed import FakeTestbed
from helpers.searched import EXPERIMENT

from rogue.harness.experiment.load import check_document
from rogue.harness.search.base import make_base, named_for_search
from rogue.harness.search.space import Aim

SCALED = f"{EXPERIMENT}scales: {{quick: {{workload.senders: 3, topology.buffer: 1MB}}}}\n"


def test_a_scale_does_not_undo_what_was_set_after_it(tmp_path: Path) -> None:
    written = load_text(tmp_path, SCALED, "scale=quick", "workload.senders=5")
    loaded = check_document(named_for_search(written.document), written.settings)
    base = make_base(loaded, FakeTestbed(), Aim(metric="fct_mean_ns", transport="own"), 1)
    found = base.at({"workload.size": "1KB"}, range(1, 3)).experiment
    assert found.topology.buffer_bytes == 1_000_000, "what the scale says"
    assert len(found.groups[0].workload.flows(found.placement, 1)) == 5
