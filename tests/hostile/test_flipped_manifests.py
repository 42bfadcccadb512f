"""Whatever bit of a run's manifest turns over, `rogue verify` sees it, or it changes nothing."""

import json
from pathlib import Path

import pytest
from helpers.hostile_inputs import flips
from helpers.small_runs import cell_record, failed_record, manifest_of

from rogue.harness.commands.verify import verify_runs
from rogue.harness.errors import ExitCode
from rogue.harness.results.cell_directory import store_cell
from rogue.harness.results.manifest import write_manifest
from rogue.harness.results.run_directory import CELLS, cell_checksums
from rogue.workloads.manifest import MANIFEST
from rogue.workloads.records import CellStatus


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Four cells with tables, facts and a failure."""
    (tmp_path / CELLS).mkdir()
    facts = {"qp_failures": 0, "ideal_goodput_bps": 9258589511.754068, "framing": "rocev2"}
    done = [cell_record(f"rogue-r{n}", status=CellStatus.OK, seed=n, facts=facts) for n in (1, 2, 3)]
    records = [*done, failed_record("roce-r1")]
    told = manifest_of([], sessions=2, status="partial")
    for record in records:
        store_cell(tmp_path / CELLS, record, {"flows.parquet": b"x", "queues.parquet": b"y"})
        told.files |= cell_checksums(tmp_path, record)
    told.cells = records
    write_manifest(tmp_path, told)
    assert verify_runs([tmp_path]) is ExitCode.OK
    return tmp_path


@pytest.mark.long
def test_no_bit_of_a_runs_manifest_turns_over_unseen(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = (run / MANIFEST).read_bytes()
    said = json.loads(content)
    found = 0
    for flipped in flips(content):
        (run / MANIFEST).write_bytes(flipped)
        if verify_runs([run]) is ExitCode.OK:
            assert json.loads(flipped) == said, flipped
        else:
            found += 1
        capsys.readouterr()
    assert found > 0.8 * 8 * len(content)
