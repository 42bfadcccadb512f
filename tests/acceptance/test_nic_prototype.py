"""A control of NICs as a plug-in in Python: DCQCN once more, beside the engine's own."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.experiments import cell_of
from helpers.plugin_files import DCQCN, DCQCN_COMPILED
from pandas.testing import assert_frame_equal

from rogue.harness.cell.cell import Cell
from rogue.harness.plugins.loading import load_plugins, unload_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.tables import to_arrow
from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.kernel import KernelTestbed
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.workloads.records import FailureKind

INCAST = """\
name: prototype
topology: {kind: star, hosts: 5, rate: 10Gbps, delay: 1us, buffer: 9MB}
workload: {kind: incast, senders: 4, size: 1MB, repeat_for: 5ms}
transports: [roce+pfc+my-dcqcn]
measure: [{kind: throughput, interval: 50us}, queues, pauses, control]
"""
OF_TRANSPORT = {"transport"}
"""Columns that name it."""


@pytest.fixture(autouse=True)
def loaded() -> Iterator[None]:
    load_plugins([read_plugin(str(DCQCN), "")])
    yield
    unload_plugins()


def ran(cell: Cell) -> CellResult:
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    assert result.failure is None
    return result


@pytest.mark.parametrize("plugin", [DCQCN, DCQCN_COMPILED], ids=["python", "compiled"])
@pytest.mark.parametrize("parameters", ["", ", byte_counter: 150KB, recoveries: 2, g: 0.0625"])
def test_the_same_control_twice_gives_the_same_tables(tmp_path: Path, plugin: Path, parameters: str) -> None:
    """Bit for bit: rates, alphas and all that comes of them. CNPs, timers and byte counters take part."""
    unload_plugins()
    load_plugins([read_plugin(str(plugin), "")])
    own, theirs = (
        ran(cell_of(tmp_path, f"transports=[{{name: roce+pfc+{name}{parameters}}}]", text=INCAST))
        for name in ("my-dcqcn", "dcqcn")
    )
    assert own.facts["completions_digest"] == theirs.facts["completions_digest"]
    assert own.facts["packet_hops"] == theirs.facts["packet_hops"]
    assert set(own.tables) == set(theirs.tables) >= {"control", "queues", "throughput"}
    for name, columns in own.tables.items():
        mine, engines = (to_arrow(name, each[name]).to_pandas() for each in (own.tables, theirs.tables))
        kept = [column for column in columns if column not in OF_TRANSPORT]
        assert_frame_equal(mine[kept], engines[kept], check_exact=True, obj=name)


def test_it_is_called_what_it_is(tmp_path: Path) -> None:
    shutil.copy(DCQCN, tmp_path)
    (tmp_path / "mine.yaml").write_text(INCAST.replace("name:", "plugins: [dcqcn.py]\nname:", 1))
    unload_plugins()
    planned = rogue(tmp_path, "plan", "mine.yaml")
    assert planned.code == 0, planned.err
    assert (
        "note: roce+pfc+my-dcqcn has a prototype in Python, slow: the expected time is that of the engine's"
        in planned.out
    )
    done = rogue(tmp_path, "run", "mine.yaml")
    assert done.code == 0, done.err
    manifest = read_manifest(tmp_path / done.run)
    assert manifest.plugins[0].adds == ["nic_control my-dcqcn"]
    assert manifest.cells[0].facts["outside_control"] == "my-dcqcn, a prototype in Python, slow"


def test_others_refuse_it_by_name(tmp_path: Path) -> None:
    reason = KernelTestbed().unsupported(cell_of(tmp_path, text=INCAST))
    assert reason is not None
    assert "the kernel testbed has no roce+pfc+my-dcqcn" in reason


def test_a_parameter_that_it_has_not_is_refused(tmp_path: Path) -> None:
    bed = SimulatorTestbed()
    for parameter, key in (("recoverys: 2", "recoverys"), ("g: 7", "g")):
        cell = cell_of(tmp_path, f"transports=[{{name: roce+my-dcqcn, {parameter}}}]", text=INCAST)
        mistake = bed.parameter_mistake(cell)
        assert mistake is not None
        assert mistake.key == key


def test_what_it_raises_ends_the_cell_with_its_line(tmp_path: Path) -> None:
    text = DCQCN.read_text().replace('"""Target and rate fall', '1 / 0\n        """Target and rate fall')
    (tmp_path / "dcqcn.py").write_text(text)
    (tmp_path / "mine.yaml").write_text(INCAST.replace("name:", "plugins: [dcqcn.py]\nname:", 1))
    unload_plugins()
    done = rogue(tmp_path, "run", "mine.yaml")
    cell = read_manifest(tmp_path / done.run).cells[0]
    line = text.splitlines().index("        1 / 0") + 1
    assert cell.failure_kind is FailureKind.CONFIGURATION
    expected = f"dcqcn.py:{line}: ZeroDivisionError: division by zero; correct the line"
    assert str(cell.message).startswith("the plug-in raised at ")
    assert str(cell.message).endswith(expected)


@pytest.mark.parametrize(
    ("init", "words"),
    [
        (
            "1 / 0",
            "got DCQCN cannot be made: ZeroDivisionError: division by zero, expected a control that can",
        ),
        ("return", "rate_bps: got nothing: its __init__ has to call that of PrototypeControl"),
    ],
)
def test_one_that_cannot_be_made_is_a_sentence_of_the_plan(tmp_path: Path, init: str, words: str) -> None:
    text = DCQCN.read_text().replace("        self._p = parameters\n", f"        {init}\n", 1)
    (tmp_path / "dcqcn.py").write_text(text)
    (tmp_path / "mine.yaml").write_text(INCAST.replace("name:", "plugins: [dcqcn.py]\nname:", 1))
    unload_plugins()
    line = next(number for number, each in enumerate(text.splitlines(), 1) if each.strip() == init)
    for command in ("plan", "run"):
        done = rogue(tmp_path, command, "mine.yaml")
        assert done.code == 2
        assert f"dcqcn.py:{line if init == '1 / 0' else line - 1}: " in done.err
        assert words.replace("DCQCN", "Dcqcn") in done.err


@pytest.mark.parametrize(("language", "ending"), [("python", ".py"), ("cpp", ".h")])
def test_the_examples_of_the_page_work(tmp_path: Path, language: str, ending: str) -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/plug-ins.md").read_text()
    examples = page.split(f"```{language}\n")[1:]
    example = next(part for part in examples if "on_cnp" in part).partition("```")[0]
    (tmp_path / f"halve{ending}").write_text(example)
    load_plugins([read_plugin(str(tmp_path / f"halve{ending}"), "")])
    cell = cell_of(tmp_path, "transports=[{name: roce+pfc+halve, add: 200Mbps}]", text=INCAST)
    told = to_arrow("control", ran(cell).tables["control"]).to_pandas()
    assert told["value"].min() < 5e9
    assert told["value"].nunique() > 10
