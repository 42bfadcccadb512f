"""Test what all testbeds promise, and their registry."""

import importlib
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.built_kernel import built_testbed
from helpers.experiments import cell_of
from helpers.fake_testbed import FakeTestbed

import rogue
from rogue.harness import testbeds
from rogue.harness.errors import UsageError
from rogue.harness.results.tables import to_arrow
from rogue.harness.testbeds import TESTBEDS, BuiltIn, find_testbed
from rogue.harness.testbeds.base import Testbed
from rogue.reports.pages.build import build
from rogue.workloads.transports import BASES

EVERY: list[Callable[[], Testbed]] = [*TESTBEDS.values(), FakeTestbed]
BUILT: dict[Callable[[], Testbed], Callable[[], Testbed]] = {TESTBEDS["kernel"]: built_testbed}
"""What takes minutes to build is not built for a test."""
RUN_HERE = [
    pytest.param(kind, marks=[pytest.mark.needs("kernel")] if kind in BUILT else []) for kind in EVERY
]


def made(kind: Callable[[], Testbed]) -> Testbed:
    """A testbed that can run cells here."""
    return BUILT.get(kind, kind)()


@pytest.mark.parametrize("kind", EVERY)
def test_testbed_can_be_pickled(kind: Callable[[], Testbed]) -> None:
    assert pickle.loads(pickle.dumps(kind())).name == kind().name


@pytest.mark.parametrize("name", TESTBEDS)
def test_registry_key_is_its_name(name: str) -> None:
    assert find_testbed(name).name == name


@pytest.mark.parametrize("transport", BASES)
@pytest.mark.parametrize("kind", EVERY)
def test_every_transport_is_supported_or_refused_by_name(
    kind: Callable[[], Testbed], transport: str, tmp_path: Path
) -> None:
    cell = cell_of(tmp_path, f"transports=[{transport}]")
    reason = kind().unsupported(cell)
    assert reason is None or transport in reason
    if reason is None:
        assert kind().estimate_seconds(cell) > 0


@pytest.mark.parametrize("kind", RUN_HERE)
def test_results_follow_the_schema(kind: Callable[[], Testbed], tmp_path: Path) -> None:
    fractions: list[float] = []
    result = made(kind).run(cell_of(tmp_path), fractions.append)
    assert result.failure is None
    assert fractions == sorted(fractions)
    assert 0 < fractions[-1] <= 1
    for name, columns in result.tables.items():
        assert to_arrow(name, columns).num_rows > 0 or name in ("events", "pauses"), name


@pytest.mark.parametrize("kind", RUN_HERE[:-1])
def test_every_measure_has_a_table_or_a_reason(kind: Callable[[], Testbed], tmp_path: Path) -> None:
    """Of a cell that fills an interval of each."""
    result = made(kind).run(cell_of(tmp_path, "workload.repeat_for=10ms"), lambda _fraction: None)
    assert set(result.tables) | set(result.not_measured) >= {
        "flows", "throughput", "latency", "queues", "pauses", "cpu", "rtt",
    }  # fmt: skip
    assert not set(result.tables) & set(result.not_measured)


def test_unknown_testbed_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="expected simulator, kernel, virtual, or the file of an inventory"):
        find_testbed("vurtual")


def test_inventory_file_is_a_testbed(tmp_path: Path) -> None:
    file = tmp_path / "inventory.yaml"
    file.write_text("all: {}\n")
    assert find_testbed(str(file)).name == str(file)


def test_every_testbed_is_registered() -> None:
    modules = {each.stem for each in Path(testbeds.__file__).parent.iterdir() if each.stem[:1] != "_"}
    registered = {each.module for each in TESTBEDS.values() if isinstance(each, BuiltIn)}
    assert modules - {"ends", "transfer_tables", "base", "README"} == {*registered, "ssh"}


PAGE = Path(__file__).parents[3] / "docs/how-to/add-a-testbed.md"
LINES_MAX = 60
EXPERIMENT = """\
name: fluid
title: A testbed of one file
topology: {kind: star, hosts: 3, rate: 10Gbps, delay: 1us, buffer: 1MB}
workload: {kind: incast, senders: 2, size: 1MB}
transports: [roce, irn]
"""


@pytest.fixture
def fluid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Register the testbed of the page; return its name."""
    (text,) = re.findall(r'```python\n(""".*?class FluidTestbed.*?)```', PAGE.read_text(), re.DOTALL)
    assert len(text.splitlines()) <= LINES_MAX
    (tmp_path / "fluid.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(TESTBEDS, "fluid", importlib.import_module("fluid").FluidTestbed)
    return "fluid"


def test_testbed_of_one_file_yields_a_report(fluid: str, tmp_path: Path) -> None:
    file = tmp_path / "fluid.yaml"
    file.write_text(EXPERIMENT)
    run = rogue.run(file, out=tmp_path / "results", testbed=fluid)
    flows = run.table("flows")
    assert list(flows["status"]) == ["ok"] * 4
    # 4 us there and back, and 1 MB of 1024-byte packets, which take 1106 bytes on the wire with RoCEv2
    assert set(flows["fct_ns"]) == {4_000 + round(8e5 * 1106 / 1024)}
    (directory,) = (tmp_path / "results" / "fluid").iterdir()
    build(directory)
    report = (directory / "report.html").read_text()
    assert "A testbed of one file" in report
    assert "the fluid network has transfers only" in report


def test_testbed_of_one_file_refuses_faults(fluid: str, tmp_path: Path) -> None:
    settings = ("faults=[{kind: loss, target: h1, one_in: 100}]",)
    file = tmp_path / "fluid.yaml"
    file.write_text(EXPERIMENT)
    with pytest.raises(rogue.HarnessError, match="the fluid network has no faults: take them away"):
        rogue.run(file, settings=settings, out=tmp_path / "results", testbed=fluid)
