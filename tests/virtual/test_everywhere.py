"""A folder outside the tree runs on virtual machines as it does everywhere else."""

from pathlib import Path

import pytest
from helpers.outside import check, outside
from helpers.real_rogue import call

from rogue.virtual import persistent

pytestmark = pytest.mark.virtual


def test_the_same_file_runs_on_machines(provisioned: persistent.PersistentTestbed, tmp_path: Path) -> None:
    """Its network is a part of theirs. RoGUE's cell is left out: it differs in the control alone."""
    file, out = outside(tmp_path / "outside"), tmp_path / "results"
    words = ["--testbed", f"virtual:{provisioned.name}", "--only-cell", "Swift-r1", "--out", str(out)]
    run = Path(call("run", str(file), *words).splitlines()[-1])
    check(run, ["Swift"])
    call("verify", str(run))
