"""Plan, run, verify and resume experiments whose NIC, switch and receiver controls are plug-ins."""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from helpers.command_line import Finished, rogue
from helpers.dask_programs import dask_programs
from helpers.experiments import cell_of
from helpers.plugin_files import DCQCN, DCQCN_COMPILED, FOLDER
from helpers.receiver_files import RECEIVERS
from helpers.switch_files import SWITCHES
from pandas.testing import assert_frame_equal
from pyarrow import parquet

from rogue.harness.cell.cell import Cell
from rogue.harness.plugins.loading import load_plugins, unload_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.harness.results.run_directory import read_manifest
from rogue.harness.results.tables import to_arrow
from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.workloads.manifest import Manifest
from rogue.workloads.records import FailureKind

NIC = """\
name: prototype
plugins: [{plugin}]
topology: {{kind: star, hosts: 5, rate: 10Gbps, delay: 1us, buffer: 9MB}}
workload: {{kind: incast, senders: 4, size: 1MB, repeat_for: 2ms}}
transports: [{transport}]
measure: [{{kind: throughput, interval: 50us}}, queues, pauses, control]
"""
SWITCH = """\
name: mine
plugins: [{plugin}]
topology: {{kind: star, hosts: 6, rate: 10Gbps, buffer: 9MB, switch_controls: {controls}}}
workload: {{kind: incast, senders: 4, size: 1MB, repeat_for: 5ms}}
transports: [{transport}]
measure: [{{kind: throughput, interval: 50us}}, queues]
"""
TIERS = """\
name: mine
plugins: [{plugin}]
topology: {{kind: two_tier, racks: 2, hosts_per_rack: 4, leaves: 4, rate: 10Gbps, uplink_rate: 10Gbps,
  buffer: 9MB, switch_controls: {controls}}}
workload: {{kind: permutation, size: 1MB}}
transports: [{transport}]
measure: [{{kind: throughput, interval: 50us}}, queues]
"""
RECEIVER = """\
name: mine
plugins: [{plugin}]
topology: {{kind: fat_tree, k: 4, rate: 100Gbps, mtu: 4096, framing: uec, buffer: 9MB, trim_above: 100KB}}
workload: {{kind: {workload}, size: 400KB}}
transports: [{transport}]
measure: [{{kind: throughput, interval: 50us}}, queues]
"""
TRANSPORT = "roce+pfc+my-dcqcn"


@pytest.fixture(autouse=True)
def unloaded() -> Iterator[None]:
    yield
    unload_plugins()


def experiment(folder: Path, text: str, plugin: Path, transport: str, **words: str) -> None:
    folder.mkdir(exist_ok=True)
    shutil.copy(plugin, folder)
    (folder / "mine.yaml").write_text(text.format(plugin=plugin.name, transport=transport, **words))


def ran(folder: Path, text: str, plugin: Path, transport: str, **words: str) -> Finished:
    experiment(folder, text, plugin, transport, **words)
    return rogue(folder, "run", "mine.yaml")


def tables(folder: Path, text: str, plugin: Path, transport: str, **words: str) -> dict[str, bytes]:
    done = ran(folder, text, plugin, transport, **words)
    assert done.code == 0, done.err
    found = {file.name: file.read_bytes() for file in (folder / done.run).glob("cells/*/*.parquet")}
    assert {"throughput.parquet", "queues.parquet", "flows.parquet", "counters.parquet"} <= set(found)
    return found


def simulated(cell: Cell) -> CellResult:
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    assert result.failure is None
    return result


def nic_text(transport: str = TRANSPORT) -> str:
    """Return the experiment without its plug-in, which the test loads itself."""
    return NIC.format(plugin="", transport=transport)


@pytest.mark.parametrize("plugin", [DCQCN, DCQCN_COMPILED], ids=["python", "compiled"])
@pytest.mark.parametrize("parameters", ["", ", byte_counter: 150KB, recoveries: 2, g: 0.0625"])
def test_dcqcn_as_a_plugin_gives_the_tables_of_the_engines(
    tmp_path: Path, plugin: Path, parameters: str
) -> None:
    load_plugins([read_plugin(str(plugin), "")])
    own, engines = (
        simulated(cell_of(tmp_path, text=nic_text(f"{{name: roce+pfc+{name}{parameters}}}")))
        for name in ("my-dcqcn", "dcqcn")
    )
    assert own.facts["completions_digest"] == engines.facts["completions_digest"]
    assert set(own.tables) == set(engines.tables) >= {"control", "queues", "throughput"}
    for name, columns in own.tables.items():
        mine, theirs = (to_arrow(name, each[name]).to_pandas() for each in (own.tables, engines.tables))
        kept = [column for column in columns if column != "transport"]
        assert_frame_equal(mine[kept], theirs[kept], check_exact=True, obj=name)


@pytest.mark.parametrize(
    ("plugin", "control", "transport", "text"),
    [
        ("step.h", "{name: step, above: 98670B}", "dctcp", SWITCH),
        ("red.h", "red", "roce+pfc+dcqcn", SWITCH),
        ("hashed.h", "hashed", "irn+spray", TIERS),
    ],
    ids=["DCTCP's step", "DCQCN's slope", "spraying"],
)
def test_a_switch_control_gives_the_tables_of_the_engines_rule(
    plugin: str, control: str, transport: str, text: str, tmp_path: Path
) -> None:
    own, engines = (
        tables(tmp_path / name, text, SWITCHES / plugin, transport, controls=controls)
        for name, controls in (("own", control), ("engines", "none"))
    )
    assert own == engines


@pytest.mark.parametrize("workload", ["permutation", "incast, senders: 15"])
def test_a_receiver_control_gives_the_tables_of_the_engines_credits(workload: str, tmp_path: Path) -> None:
    own, engines = (
        tables(tmp_path / name, RECEIVER, RECEIVERS / "rccc.h", name, workload=workload)
        for name in ("uet+rccc_outside", "uet+rccc")
    )
    flows = (
        parquet.read_table(pa.BufferReader(each.pop("flows.parquet"))).drop_columns(["transport"])
        for each in (own, engines)
    )
    assert next(flows) == next(flows)
    assert own == engines


@pytest.mark.parametrize(
    ("text", "plugin", "words", "adds", "fact", "note"),
    [
        (
            NIC, DCQCN, {"transport": TRANSPORT}, "nic_control my-dcqcn",
            ("outside_control", "my-dcqcn, a prototype in Python, slow"),
            f"note: {TRANSPORT} has a prototype in Python, slow: the expected time is that of the engine's",
        ),
        (
            NIC, DCQCN_COMPILED, {"transport": TRANSPORT}, "nic_control my-dcqcn",
            ("outside_control", "my-dcqcn, a compiled control from outside the engine"),
            f"note: {TRANSPORT} has a compiled control from outside the engine: ",
        ),
        (
            SWITCH, SWITCHES / "codel.h", {"transport": "dctcp", "controls": "{name: codel, target: 20us}"},
            "switch_control codel",
            ("switch_control_codel", "target_ns 20000, interval_ns 100000, packet_bytes 1086"),
            "note: switches have codel from outside, which replaces their own marking",
        ),
        (
            RECEIVER, RECEIVERS / "ndp.h",
            {"transport": "{name: uet+ndp, nscc: 0, keeps_first_credit: 1, share: 0.95}",
             "workload": "permutation"},
            "receiver_control ndp", ("receiver_control_ndp", "share 0.95"),
            "note: uet+ndp has a control of receivers from outside the engine",
        ),
    ],
    ids=["python", "compiled", "switch", "receiver"],
)  # fmt: skip
def test_a_run_keeps_the_text_and_names_the_plugin(
    tmp_path: Path,
    text: str,
    plugin: Path,
    words: dict[str, str],
    adds: str,
    fact: tuple[str, str],
    note: str,
) -> None:
    manifest, run = finished(tmp_path, text, plugin, **words)
    (kept,) = manifest.plugins
    content = plugin.read_text()
    assert (kept.text, kept.sha256) == (content, hashlib.sha256(content.encode()).hexdigest())
    assert kept.adds == [adds]
    assert manifest.cells[0].facts[fact[0]] == fact[1]
    assert note in rogue(tmp_path, "plan", "mine.yaml").out
    assert rogue(tmp_path, "verify", run).code == 0
    resumed = rogue(tmp_path, "run", "--resume", run)
    assert (resumed.code, "expected permission to run this code" in resumed.err) == (2, True)


def finished(folder: Path, text: str, plugin: Path, **words: str) -> tuple[Manifest, str]:
    done = ran(folder, text, plugin, **words)
    return read_manifest(folder / done.run), str(done.run)


def test_cluster_workers_compile_their_own_library_and_give_the_same_tables(tmp_path: Path) -> None:
    for name in ("here", "there"):
        experiment(tmp_path / name, NIC, DCQCN_COMPILED, TRANSPORT)
    here = rogue(tmp_path / "here", "run", "mine.yaml")
    with dask_programs(workers=1) as cluster:
        there = rogue(tmp_path / "there", "run", "mine.yaml", "--dask", cluster.address)
    assert (here.code, there.code) == (0, 0), there.err
    one, other = (
        next((tmp_path / name / done.run).glob("cells/*/control.parquet")).read_bytes()
        for name, done in (("here", here), ("there", there))
    )
    assert one == other


@pytest.mark.parametrize(
    ("text", "plugin", "words", "message"),
    [
        (
            NIC, FOLDER / "moody.h", {"transport": "{name: roce+moody, mood: 5}"},
            "moody.h:{line}: on_timer: tired",
        ),
        (
            NIC, FOLDER / "moody.h", {"transport": "{name: roce+moody, mood: 4}"},
            "moody.h: moody.deadline_ps: expected 1000001 or later after on_timer, got 1000000",
        ),
        (
            SWITCH, SWITCHES / "grim.h", {"transport": "roce", "controls": "{name: grim, mood: 3}"},
            "grim.h:{line}: on_arrival: tired",
        ),
        (
            RECEIVER, RECEIVERS / "grim.h",
            {"transport": "{name: uet+grim_grants, mood: 3}", "workload": "permutation"},
            "grim.h:{line}: on_arrival: tired",
        ),
    ],
)  # fmt: skip
def test_an_exception_of_a_plugin_ends_the_cell_with_its_line(
    tmp_path: Path, text: str, plugin: Path, words: dict[str, str], message: str
) -> None:
    cell = finished(tmp_path, text, plugin, **words)[0].cells[0]
    lines = plugin.read_text().splitlines()
    line = next(number for number, each in enumerate(lines, 1) if "tired" in each)
    assert cell.failure_kind is FailureKind.CONFIGURATION
    assert cell.message == f"the plug-in raised at {message.format(line=line)}; correct the line"


def python_plugin(folder: Path, old: str, new: str) -> str:
    """Write an experiment with a changed copy of the Python control; return the copy's text."""
    experiment(folder, NIC, DCQCN, TRANSPORT)
    text = DCQCN.read_text().replace(old, new, 1)
    (folder / "dcqcn.py").write_text(text)
    return text


def test_an_exception_of_a_python_control_ends_the_cell_with_its_line(tmp_path: Path) -> None:
    text = python_plugin(tmp_path, '"""Target and rate fall', '1 / 0\n        """Target and rate fall')
    done = rogue(tmp_path, "run", "mine.yaml")
    message = str(read_manifest(tmp_path / done.run).cells[0].message)
    line = text.splitlines().index("        1 / 0") + 1
    assert message.startswith("the plug-in raised at ")
    assert message.endswith(f"dcqcn.py:{line}: ZeroDivisionError: division by zero; correct the line")


@pytest.mark.parametrize(
    ("init", "offset", "words"),
    [
        ("1 / 0", 0, "got Dcqcn cannot be made: ZeroDivisionError: division by zero, expected a control"),
        ("return", -1, "rate_bps: got nothing: its __init__ has to call that of PrototypeControl"),
    ],
)  # fmt: skip
def test_a_python_control_that_cannot_be_made_is_refused(
    tmp_path: Path, init: str, offset: int, words: str
) -> None:
    text = python_plugin(tmp_path, "        self._p = parameters\n", f"        {init}\n")
    line = next(number for number, each in enumerate(text.splitlines(), 1) if each.strip() == init)
    for command in ("plan", "run"):
        done = rogue(tmp_path, command, "mine.yaml")
        assert done.code == 2
        assert f"dcqcn.py:{line + offset}: " in done.err
        assert words in done.err


def test_a_compiled_control_that_cannot_be_made_or_compiled_is_refused(tmp_path: Path) -> None:
    experiment(tmp_path, NIC, FOLDER / "moody.h", "{name: roce+moody, mood: 1}")
    done = rogue(tmp_path, "plan", "mine.yaml")
    assert done.code == 2
    assert "moody.h: got its constructor: not today, expected a control that can be made" in done.err
    text = (tmp_path / "moody.h").read_text()
    (tmp_path / "moody.h").write_text(text.replace("++acknowledged_", "++unknown_"))
    done = rogue(tmp_path, "plan", "mine.yaml")
    line = text[: text.index("++acknowledged_")].count("\n") + 1
    assert done.code == 2
    assert f"moody.h:{line}: got 'unknown_' was not declared in this scope" in done.err


@pytest.mark.parametrize(
    ("text", "plugin", "words", "place", "sentence"),
    [
        *(
            (NIC, DCQCN, {"transport": transport}, "mine.yaml:5: transports", sentence)
            for transport, sentence in (
                ("{name: roce+my-dcqcn, recoverys: 2}", "recoverys"),
                ("{name: roce+my-dcqcn, g: 7}", "got 7, expected"),
            )
        ),
        *(
            (SWITCH, SWITCHES / "codel.h", {"transport": "dctcp", "controls": controls},
             "mine.yaml:3: topology.switch_controls", sentence)
            for controls, sentence in (
                ("codell", "got the switch control codell, expected one of codel; write codel if"),
                ("{name: codel, target: 20}", "got 20, expected a time with a unit, such as 50us"),
                ("{name: codel, target: 20s}", "expected from 1ns to 1000000000ns; correct the value"),
                ("{name: codel, goal: 20us}", "one of the parameters target, interval, packet of codel"),
            )
        ),
        *(
            (RECEIVER, RECEIVERS / "ndp.h", {"transport": transport, "workload": "permutation"},
             "mine.yaml:5: transports", sentence)
            for transport, sentence in (
                ("uet+ndpp", "expected uet or uet with +rccc, +ndp"),
                ("uet+rccc+ndp", "expected at most one of rccc, ndp"),
                ("roce+ndp", "expected roce or roce with"),
                ("{name: uet+ndp, share: 2}", "got 2, expected from 0.01 to 1"),
                ("{name: uet+ndp, credit_rate: 0.9}", "credit_rate"),
            )
        ),
    ],
)  # fmt: skip
def test_a_wrong_name_or_value_is_refused_with_its_line(
    tmp_path: Path, text: str, plugin: Path, words: dict[str, str], place: str, sentence: str
) -> None:
    done = ran(tmp_path, text, plugin, **words)
    assert done.code == 2
    assert place in done.err
    assert sentence in done.err


@pytest.mark.parametrize(("language", "ending"), [("python", ".py"), ("cpp", ".h")])
def test_the_examples_in_the_docs_run(tmp_path: Path, language: str, ending: str) -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/plug-ins.md").read_text()
    example = next(part for part in page.split(f"```{language}\n")[1:] if "on_cnp" in part).partition("```")[
        0
    ]
    (tmp_path / f"halve{ending}").write_text(example)
    load_plugins([read_plugin(str(tmp_path / f"halve{ending}"), "")])
    cell = cell_of(tmp_path, text=nic_text("{name: roce+pfc+halve, add: 200Mbps}"))
    control = to_arrow("control", simulated(cell).tables["control"]).to_pandas()
    assert control["value"].min() < 5e9
    assert control["value"].nunique() > 10
