"""Run one folder of outside files, Swift as a plug-in, and a trace on every testbed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.built_kernel import built_testbed
from helpers.command_line import rogue
from helpers.dask_programs import dask_programs
from helpers.experiments import FLOWS, NETWORK, OTHER_NETWORK, cell_of, trace_rows
from helpers.outside import NAMES, check, outside
from helpers.paper_runs import ExperimentRun
from helpers.plugin_files import FOLDER, SWIFT

from rogue.harness.plugins.loading import load_plugins, unload_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.harness.results.run_directory import read_manifest
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.workloads.transports import BASES


def run_folder(place: Path, *words: str) -> Path:
    outside(place)
    done = rogue(place, "run", "everywhere.yaml", *words)
    assert done.code == 0, done.err
    run = place / done.run
    check(run)
    assert rogue(place, "verify", str(run)).code == 0
    return run


def test_on_the_simulator_and_on_a_cluster_with_the_same_tables(tmp_path: Path) -> None:
    here = run_folder(tmp_path / "here")
    with dask_programs(workers=2) as cluster:
        there = run_folder(tmp_path / "there", "--dask", cluster.address)
    for name in NAMES:
        table = f"cells/{name}-r1/flows.parquet"
        assert (here / table).read_bytes() == (there / table).read_bytes()


@pytest.mark.needs("kernel")
@pytest.mark.long
def test_in_the_kernel(tmp_path: Path) -> None:
    run_folder(tmp_path, "--testbed", "kernel")


@pytest.fixture(autouse=True)
def loaded() -> Iterator[None]:
    load_plugins([read_plugin(str(SWIFT), "")])
    yield
    unload_plugins()


def run_on(testbed: str, place: Path) -> ExperimentRun:
    for file in (SWIFT, FOLDER / "swift.yaml"):
        shutil.copy(file, place)
    done = rogue(place, "run", "swift.yaml", "--testbed", testbed)
    assert done.code == 0, done.err
    manifest = read_manifest(place / done.run)
    assert manifest.plugins[0].text == SWIFT.read_text()
    return ExperimentRun(place / done.run, [cell.model_dump() for cell in manifest.cells])


def check_swift(run: ExperimentRun) -> None:
    """Four flows fill the link, and the window moves about a target that is held to within its scaling."""
    delivered_bytes = run.table("throughput", "Swift").delivered_bytes.sum()
    assert 0.8 < delivered_bytes * 8 / 20e-3 / 10e9 < 1
    rtt = run.table("rtt", "Swift")
    assert 40_000 < rtt[rtt.accepted].rtt_ns.median() < 160_000
    assert rtt.cwnd_packets.nunique() > 10


def test_it_runs_on_the_simulator(tmp_path: Path) -> None:
    check_swift(run_on("simulator", tmp_path))


@pytest.mark.needs("kernel")
@pytest.mark.long
def test_the_same_file_runs_in_the_kernel(tmp_path: Path) -> None:
    check_swift(run_on("kernel", tmp_path))


TEXT = f"""\
name: traced
topology: {{kind: links, file: {NETWORK}}}
workload: {{kind: trace, file: {FLOWS}}}
transports: [roce]
measure: [throughput]
"""
ROWS = trace_rows(FLOWS.read_text())
WRITTEN = sorted(
    (row.start_ns, row.source, row.destination, row.size_bytes, f"main.{row.group}")
    for row in ROWS.rows(slice(0, len(ROWS)))
)


@pytest.mark.parametrize("connection", ["per_transfer", "per_pair"])
@pytest.mark.parametrize("transport", BASES)
def test_every_transport_moves_what_is_written(transport: str, connection: str, tmp_path: Path) -> None:
    settings = (f"transports=[{transport}]", f"workload.connection={connection}")
    result = SimulatorTestbed().run(cell_of(tmp_path, *settings, text=TEXT), lambda _fraction: None)
    assert result.failure is None
    flows = result.tables["flows"]
    columns = (flows[name] for name in ("start_ns", "src", "dst", "size_bytes", "group"))
    assert sorted(zip(*columns, strict=True)) == WRITTEN
    assert set(flows["status"]) == {"ok"}


def test_a_transfer_alone_takes_as_long_as_in_an_empty_network(tmp_path: Path) -> None:
    """The last row of the file starts a millisecond after all others, over three links.

    The card is the ideal one: others show a completion later, by their time on PCI.
    """
    cell = cell_of(tmp_path, "topology.nic=ideal", text=TEXT)
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    flows = result.tables["flows"]
    last = list(flows["src"]).index("h1")
    assert flows["slowdown"][last] == pytest.approx(1.0, rel=0.02)


@pytest.mark.needs("kernel")
def test_a_kernel_moves_the_same(tmp_path: Path) -> None:
    settings = ("transports=[dctcp]", "workload.connection=per_pair", f"topology.file={OTHER_NETWORK}")
    result = built_testbed().run(cell_of(tmp_path, *settings, text=TEXT), lambda _fraction: None)
    assert result.failure is None
    flows = result.tables["flows"]
    columns = (flows[name] for name in ("src", "dst", "size_bytes", "group", "status"))
    assert sorted(zip(*columns, strict=True)) == sorted((*row[1:], "ok") for row in WRITTEN)
