"""One folder outside the tree (a control, a network, a trace, an all-reduce) on every testbed, unchanged."""

from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.dask_programs import dask_programs
from helpers.outside import NAMES, check, outside


def run_on(place: Path, *words: str) -> Path:
    outside(place)
    done = rogue(place, "run", "everywhere.yaml", *words)
    assert done.code == 0, done.err
    run = place / done.run
    check(run)
    assert rogue(place, "verify", str(run)).code == 0
    return run


def test_on_the_simulator_and_on_a_cluster_with_the_same_tables(tmp_path: Path) -> None:
    here = run_on(tmp_path / "here")
    with dask_programs(workers=2) as cluster:
        there = run_on(tmp_path / "there", "--dask", cluster.address)
    for name in NAMES:
        table = f"cells/{name}-r1/flows.parquet"
        assert (here / table).read_bytes() == (there / table).read_bytes()


@pytest.mark.needs("kernel")
@pytest.mark.long
def test_in_the_kernel(tmp_path: Path) -> None:
    run_on(tmp_path, "--testbed", "kernel")
