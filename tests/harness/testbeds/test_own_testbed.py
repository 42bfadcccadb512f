"""Tests: the testbed that docs/TESTBEDS.md writes out in one file."""

import importlib
import re
from pathlib import Path

import pytest

import rogue
from rogue.harness.commands.report import build_report
from rogue.harness.testbeds import TESTBEDS

PAGE = Path(__file__).parents[3] / "docs" / "TESTBEDS.md"
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


def test_a_testbed_of_one_file_runs_an_experiment_and_yields_a_report(fluid: str, tmp_path: Path) -> None:
    file = tmp_path / "fluid.yaml"
    file.write_text(EXPERIMENT)
    run = rogue.run(file, out=tmp_path / "results", testbed=fluid)
    flows = run.table("flows")
    assert list(flows["status"]) == ["ok"] * 4
    # 4 us there and back, and 1 MB of 1024-byte packets, which take 1106 bytes on the wire with RoCEv2
    assert set(flows["fct_ns"]) == {4_000 + round(8e5 * 1106 / 1024)}
    (directory,) = (tmp_path / "results" / "fluid").iterdir()
    build_report([directory])
    report = (directory / "report.html").read_text()
    assert "A testbed of one file" in report
    assert "the fluid network has transfers only" in report


def test_it_says_what_it_cannot_run(fluid: str, tmp_path: Path) -> None:
    settings = ("faults=[{kind: loss, target: h1, one_in: 100}]",)
    file = tmp_path / "fluid.yaml"
    file.write_text(EXPERIMENT)
    with pytest.raises(rogue.HarnessError, match="the fluid network has no faults: take them away"):
        rogue.run(file, settings=settings, out=tmp_path / "results", testbed=fluid)
