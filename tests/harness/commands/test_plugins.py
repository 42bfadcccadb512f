"""Tests: write, check and import what users add: plug-ins and files of other simulators."""

import json
import re
import shutil
from pathlib import Path

import pytest
from helpers.command_line import Finished, rogue
from helpers.plugin_files import FIXED_TWICE, FOLDER, SHOWN, SWIFT, example

from rogue.harness.commands.plugins import import_, write_start
from rogue.harness.data.files import files_beside
from rogue.harness.errors import UsageError
from rogue.workloads.topologies.link_file import LinkList
from rogue.workloads.traffic.trace import TraceRows

SHORT = ("--set", "workload.repeat_for=2ms", "--set", "workload.senders=2", "--set", "measure=[throughput]")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory outside the tree, with an experiment and its plug-ins."""
    place = tmp_path_factory.mktemp("outside")
    for file in (SWIFT, SHOWN, FOLDER / "swift.yaml"):
        shutil.copy(file, place)
    return place


@pytest.fixture(scope="module")
def done(place: Path) -> Finished:
    words = ("run", "swift.yaml", *SHORT, "--plugin", "shown.py", "-j", "2")
    done = rogue(place, *words, ROGUE_FAKE_REPORT="real")
    assert done.code == 0, done.err
    return done


@pytest.fixture
def run(place: Path, done: Finished, tmp_path: Path) -> Path:
    """A copy of the run, as if another user had sent it."""
    return Path(shutil.copytree(place / done.run, tmp_path / "theirs" / done.run.name))


def test_manifest_keeps_plugins_and_the_command_to_repeat_a_cell(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    kept = {each["file"]: each for each in manifest["plugins"]}
    assert kept["swift.py"]["text"] == SWIFT.read_text()
    assert kept["swift.py"]["adds"] == ["control swift"]
    assert kept["shown.py"]["adds"] == ["measure flows_seen", "figure empty"]
    assert [cell["transport"] for cell in manifest["cells"]] == ["rogue", "Swift"]
    assert (
        "--plugin shown.py --plugin swift.py --only-cell Swift" in manifest["cells"][1]["facts"]["reproduce"]
    )


def test_the_report_shows_what_a_plugin_adds(run: Path) -> None:
    page = (run / "report.html").read_text()
    assert "Flows seen" in page
    assert "A figure of a plug-in" in page
    assert "Swift" in page


def test_plugins_of_a_received_run_do_not_run(run: Path, tmp_path: Path) -> None:
    """A tampered plug-in leaves no mark when the run is resumed or reported on; verify finds it."""
    file = run / "manifest.json"
    manifest = json.loads(file.read_text())
    for each in manifest["plugins"]:
        each["text"] = f"from pathlib import Path\nPath({str(tmp_path / 'mark')!r}).touch()\n" + each["text"]
    file.write_text(json.dumps(manifest))
    resumed = rogue(tmp_path, "run", "--resume", str(run), "--plugin", str(SWIFT))
    assert resumed.code == 2
    assert "--trust-plugins" in resumed.err
    assert rogue(tmp_path, "report", str(run)).code == 5
    assert rogue(tmp_path, "report", str(run), "--accept-damage").code == 0
    verified = rogue(tmp_path, "verify", str(run))
    assert verified.code == 5
    assert "manifest.json: the text of the plug-in swift.py was changed" in verified.out
    assert not (tmp_path / "mark").exists()
    assert rogue(tmp_path, "report", str(run), "--accept-damage", "--trust-plugins").code == 0
    assert (tmp_path / "mark").exists(), "a person said so"


def test_report_without_its_plugins_lists_what_is_left_out(run: Path) -> None:
    done = rogue(run.parent, "report", run.name, ROGUE_FAKE_REPORT="real")
    assert done.code == 0
    assert "left out, for the plug-in shown.py is code that was not named: measure flows_seen, " in done.err
    assert "Flows seen" not in (run / "report.html").read_text()
    done = rogue(run.parent, "report", run.name, "--plugin", str(SHOWN), ROGUE_FAKE_REPORT="real")
    assert "left out" not in done.err
    assert "Flows seen" in (run / "report.html").read_text()


def test_a_plugins_measure_is_exported_and_compared_like_the_others(run: Path) -> None:
    left = "left out, for the plug-in shown.py is code that was not named"
    assert left in rogue(run.parent, "compare", run.name, run.name).err
    named = ("--plugin", str(SHOWN))
    assert "Flows seen" in rogue(run.parent, "compare", run.name, run.name, "--all", *named).out
    assert left in rogue(run.parent, "export", run.name, "--out", "without").err
    done = rogue(run.parent, "export", run.name, "--out", "with", *named)
    assert done.code == 0
    assert left not in done.err
    assert "flows_seen" in (run.parent / "with" / "metrics.csv").read_text()
    assert "flows_seen" not in (run.parent / "without" / "metrics.csv").read_text()


def test_a_plugins_figure_is_written_like_the_others(run: Path) -> None:
    figures = ("figures", run.name, "--only", "empty", "--format", "csv")
    unknown = rogue(run.parent, *figures)
    assert unknown.code == 2
    assert "--only: got 'empty'" in unknown.err
    assert "left out, for the plug-in shown.py is code that was not named" in unknown.err
    named = rogue(run.parent, *figures, "--plugin", str(SHOWN))
    assert "got 'empty'" not in named.err


def test_run_resumes_with_its_own_plugins(run: Path) -> None:
    refused = rogue(run.parent, "run", "--resume", run.name)
    assert refused.code == 2
    assert "plug-in swift.py (control swift; SHA-256" in refused.err
    assert "expected permission to run this code" in refused.err
    named = rogue(run.parent, "run", "--resume", run.name, "--plugin", str(SWIFT), "--plugin", str(SHOWN))
    assert named.code == 0, named.err


def test_a_run_never_mixes_two_versions_of_a_plugin(place: Path, run: Path) -> None:
    """Edited meanwhile it is refused, or said; the cells that are left have the text of the first."""
    edited = run.parent / "swift.py"
    edited.write_text("# edited\n" + SWIFT.read_text())
    refused = rogue(run.parent, "run", "--resume", run.name, "--plugin", "swift.py", "--plugin", str(SHOWN))
    assert refused.code == 2
    assert "--plugin swift.py: got a text that the run was not made with, expected the same" in refused.err
    shutil.rmtree(next(each for each in (run / "cells").iterdir() if each.name.lower().startswith("swift")))
    resumed = rogue(run.parent, "run", "--resume", run.name, "--trust-plugins")
    assert resumed.code == 0, resumed.err
    said = "rogue: swift.py has changed since the run began, which continues with its copy."
    assert said in resumed.err
    kept = json.loads((run / "manifest.json").read_text())
    assert {each["file"]: each["text"] for each in kept["plugins"]}["swift.py"] == SWIFT.read_text()
    assert [cell["status"] for cell in kept["cells"]] == ["ok", "ok"]


MISTAKES = {
    "plugins: [nowhere.py]": "bad.yaml:1: plugins[0]: got 'No such file or directory' on opening nowhere.py,",
    "plugins: [bad.py]": "bad.py:5: got ZeroDivisionError: division by zero, expected a plug-in that loads",
    "plugins: swift.py": "bad.yaml:1: plugins: got 'swift.py', expected a list; correct the value.",
    "plugins: [swift.py, vegas.py]": "vegas.py:4: got a second control vegas, expected a name that no other",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_plugin_that_is_wrong_is_a_sentence(place: Path, line: str) -> None:
    rest = (FOLDER / "swift.yaml").read_text().replace("plugins: [swift.py]\n", "")
    (place / "bad.yaml").write_text(f"{line}\n{rest}")
    (place / "bad.py").write_text(FIXED_TWICE + "1 / 0\n")
    (place / "vegas.py").write_text(FIXED_TWICE.replace("twice", "vegas"))
    done = rogue(place, "plan", "bad.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"rogue: {MISTAKES[line]}"), done.err


def test_a_parameter_of_a_plugin_is_checked_before_the_run(place: Path) -> None:
    transports = "transports=[{name: rogue, cc: swift, beta: 2, decrease_max: .5}]"
    done = rogue(place, "plan", "swift.yaml", "--set", transports)
    assert done.code == 2
    assert "expected a number from 0 to 1" in done.err


def test_lists_name_the_plugin_of_an_entry(place: Path) -> None:
    done = rogue(place, "list", "controls", "--plugin", "swift.py")
    assert done.out.splitlines()[-1].startswith("swift  Constants of Swift")
    assert done.out.splitlines()[-1].endswith("(plug-in swift.py)")
    assert "plug-in" not in rogue(place, "list", "controls").out
    assert "(plug-in shown.py)" in rogue(place, "list", "measures", "--plugin", "shown.py").out


def test_trust_needs_an_existing_run(place: Path) -> None:
    done = rogue(place, "run", "swift.yaml", "--trust-plugins")
    assert done.code == 2
    assert "--trust-plugins: got no --resume" in done.err


SMALL = """\
name: small
plugins: [mine.py]
topology: {kind: star, hosts: 3, rate: 10Gbps}
workload: {kind: incast, senders: 2, size: 1MB}
transports: [roce]
"""
KINDS = {"workload": "{kind: mine, size: 100KB}", "topology": "{kind: mine, hosts: 3, rate: 10Gbps}"}
TRANSPORTS = {"control": "[{name: rogue, cc: mine}]", "nic-control": "[roce+mine]"}


def write_exiting(
    directory: Path, kind: str, function: str, leave: str = "raise SystemExit('numpy is missing')"
) -> None:
    """Write an experiment with a plug-in of which one function ends the program."""
    if kind == "format":
        text = example("how-to/plug-ins.md", "register_format")
    else:
        write_start(kind, "mine", directory, None)
        text = (directory / "mine.py").read_text()
    exits = rf"\g<0>\g<1>    {leave}\n"
    text, count = re.subn(rf"^( *)def {function}\(.*:\n", exits, text, flags=re.MULTILINE)
    assert count == 1
    (directory / "mine.py").write_text(text)
    experiment = SMALL
    if kind in KINDS:
        experiment = re.sub(rf"{kind}: .*", f"{kind}: {KINDS[kind]}", experiment)
    if kind in TRANSPORTS:
        experiment = re.sub(r"transports: .*", f"transports: {TRANSPORTS[kind]}", experiment)
    (directory / "experiment.yaml").write_text(experiment)
    (directory / "pairs.txt").write_text("0 1\n")


@pytest.mark.parametrize(
    ("kind", "function", "command", "code"),
    [
        ("workload", "hosts_min", "plan experiment.yaml", 2),
        ("workload", "flows", "plan experiment.yaml", 2),
        ("workload", "flows", "run experiment.yaml", 2),
        ("topology", "links", "plan experiment.yaml", 2),
        ("nic-control", "__init__", "plan experiment.yaml", 2),
        ("nic-control", "on_cnp", "run experiment.yaml", 1),
        ("control", "for_line_rate", "plan experiment.yaml", 2),
        ("control", "on_sample", "run experiment.yaml", 1),
        ("measure", "mine", "report RUN --plugin mine.py", 3),
        ("measure", "mine", "export RUN --plugin mine.py", 2),
        ("measure", "mine", "compare RUN RUN --plugin mine.py", 2),
        ("figure", "lines", "report RUN --plugin mine.py", 3),
        ("figure", "lines", "figures RUN --plugin mine.py --only mine", 2),
        ("format", "read_pairs", "import pairs pairs.txt --plugin mine.py", 2),
    ],
)
def test_an_exit_of_a_plugin_is_an_error_that_names_it(
    run: Path, tmp_path: Path, kind: str, function: str, command: str, code: int
) -> None:
    write_exiting(tmp_path, kind, function)
    words = command.replace("RUN", str(run)).split()
    done = rogue(tmp_path, *words, ROGUE_FAKE_REPORT="real")
    assert done.code == code, done.err
    assert "mine.py:" in done.err
    assert "SystemExit: numpy is missing" in done.err
    assert "Traceback" not in done.err


FLOWS = "2\n2 1 3 100 5 0\n1 2 3 100 6 0.5\n"


def test_a_file_of_another_simulator_becomes_ours_and_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "flow.txt").write_text(FLOWS)
    import_("hpcc-flows", tmp_path / "flow.txt", tmp_path / "flows.csv", is_back=False)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == (f"{tmp_path / 'flows.csv'}\n", "rogue: ports are left out.\n")
    rows = files_beside(str(tmp_path / "x.yaml")).read(TraceRows, "flows.csv")
    assert isinstance(rows, TraceRows)
    assert rows.sizes_bytes.tolist() == [5, 6]
    import_("hpcc-flows", tmp_path / "flows.csv", None, is_back=True)
    assert capsys.readouterr().out == "2\n2 1 3 100 5 0.000000000\n1 2 3 100 6 0.500000000\n"


def test_invalid_conversion_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(
        "6 2 4\n4 5\n0 4 1Gbps 1ns 0\n1 4 1Gbps 1ns 0\n2 5 1Gbps 1ns 0\n3 5 1Gbps 1ns 0\n"
    )
    with pytest.raises(UsageError, match="expected a network in one piece"):
        import_("hpcc-topology", tmp_path / "t.txt", tmp_path / "net.yaml", is_back=False)
    assert not (tmp_path / "net.yaml").exists()


def test_a_network_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("3 1 2\n2\n0 2 1Gbps 1ns 0\n1 2 1Gbps 1ns 0\n")
    import_("hpcc-topology", tmp_path / "t.txt", tmp_path / "net.yaml", is_back=False)
    assert isinstance(files_beside(str(tmp_path / "x.yaml")).read(LinkList, "net.yaml"), LinkList)


def test_starts_of_a_matrix_may_have_another_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.cm").write_text("Nodes 2\nConnections 1\n0->1 start 16 size 7\n")
    for unit, start_ns, words in ((None, 0, "taken as picoseconds"), ("us", 16_000, "taken as microseconds")):
        import_("htsim-cm", tmp_path / "a.cm", None, is_back=False, start_unit=unit)
        shown = capsys.readouterr()
        assert shown.out == f"start_ns,src,dst,size_bytes\n{start_ns},h0,h1,7\n"
        assert words in shown.err
    for name, unit, expected in (("htsim-cm", "min", "one of ps, us"), ("hpcc-flows", "us", "no unit")):
        with pytest.raises(UsageError, match=f"--start-unit: got '{unit}', expected {expected} for {name}; "):
            import_(name, tmp_path / "a.cm", None, is_back=False, start_unit=unit)


def test_mistakes_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "flow.txt").write_text("1\n2 2 3 100 5 0\n")
    for name, file, is_back, words in (
        ("hpcc-flow", "flow.txt", False, "write hpcc-flows if that is meant"),
        ("hpcc-flows", "flow.txt", False, "got 2 2 3 100 5 0 in line 2 of "),
        ("hpcc-flows", "none.txt", False, "No such file or directory"),
        ("htsim-topo", "flow.txt", True, "--back: got htsim-topo, expected one of hpcc-flows, "),
    ):
        with pytest.raises(UsageError, match=words):
            import_(name, tmp_path / file, None, is_back=is_back)


BAD = """\
from dataclasses import dataclass
from rogue.agent.core.cc.fixed import FixedParameters
from rogue.agent.core.plugins import register_control

@dataclass(frozen=True, slots=True)
class Parameters(FixedParameters):
    "Constants."

register_control("silent", Parameters)
"""


def test_a_start_is_written_and_passes(tmp_path: Path) -> None:
    written = rogue(tmp_path, "new", "control", "mine")
    assert (written.code, written.out) == (0, "mine.py\ntest_mine.py\n")
    checked = rogue(tmp_path, "check-plugin", "mine.py")
    assert (checked.code, checked.out) == (0, "mine.py: control mine keeps the contract\n")
    again = rogue(tmp_path, "new", "control", "mine")
    assert again.code == 2
    assert "mine.py, which is there already" in again.err


def test_new_experiment_is_planned_at_once(tmp_path: Path) -> None:
    written = rogue(tmp_path, "new", "experiment", "mine")
    assert (written.code, written.out) == (0, "mine.yaml\n")
    planned = rogue(tmp_path, "plan", "mine.yaml", "--json")
    assert (planned.code, planned.err) == (0, "")
    document = json.loads(planned.out)
    assert (document["experiment"], len(document["cells"])) == ("mine", 18)
    assert {cell["unsupported"] for cell in document["cells"]} == {None}
    refused = rogue(tmp_path, "new", "experiment", "mine")
    assert (refused.code, "mine.yaml, which is there already" in refused.err) == (2, True)


def test_text_of_a_control_does_not_steer_the_terminal(tmp_path: Path) -> None:
    rogue(tmp_path, "new", "nic-control", "mine", "--language", "c++")
    text = (tmp_path / "mine.h").read_text()
    (tmp_path / "mine.h").write_text(
        text.replace("deadline_ps = now", 'rogue::fail("\\x1b[2J"); deadline_ps = now', 1)
    )
    checked = rogue(tmp_path, "check-plugin", "mine.h")
    assert checked.code == 1
    assert "\ufffd[2J" in checked.out
    assert "\x1b" not in checked.out


def test_broken_contract_is_printed(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    checked = rogue(tmp_path, "check-plugin", "bad.py")
    assert checked.code == 1
    expected = "bad.py: control silent: the docstring of Parameters does not explain window_packets\n"
    assert checked.out == expected
