"""`rogue search` and `rogue weaknesses`, on a testbed where a number follows from the values."""

import json
from pathlib import Path

import pytest
import yaml
from helpers.fake_testbed import OBSTACLE
from helpers.searched import EXPERIMENT, SPACE, Terminal, terminal

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.transport import ParameterMistake
from rogue.harness.errors import ExitCode
from rogue.harness.experiment.find import DIRECTORY, found_files
from rogue.harness.experiment.load import load_experiment
from rogue.harness.results.recorded_run import SO_FAR
from rogue.harness.results.run_directory import TEMPORARY_PREFIX, read_manifest, write_manifest
from rogue.harness.results.verification import compare_run
from rogue.harness.search.candidates import CONTROL_FREE
from rogue.harness.search.finding import MARK, read_criterion
from rogue.harness.search.space import Aim

__all__ = ["terminal"]


def page(run: Path) -> str:
    return (run / "search.html").read_text()


def cells(run: Path) -> list[str]:
    return [cell.id for cell in read_manifest(run).cells]


def test_finding_is_confirmed_simplified_and_written_as_an_experiment(terminal: Terminal) -> None:
    done = terminal.search()
    assert done.code == 0, done.err
    assert done.lines[0] == "fct_mean_ns of own, largest; a finding is at least 5 µs."
    assert done.lines[-2].startswith("Finding: fct_mean_ns of own is ")
    assert f"({CONTROL_FREE}: 600 ns) on seeds 101 to 103 at workload.senders 6" in done.lines[-2]
    file = done.run / "find.yml"
    found = load_experiment(str(file)).experiment
    assert (found.name, found.seed, found.repetitions) == ("hill-found", 101, 3)
    assert len(found.groups[0].workload.flows(found.placement, 1)) == 6, (
        "the fewest that were tried and meet the bound"
    )
    assert found.topology.buffer_bytes == 9_000_000, "the buffer does not matter"
    assert [each.shown for each in found.transports] == ["own", "other"]
    assert file.read_text().splitlines()[1].startswith("# Found by: rogue search hill.yml --space")
    assert read_criterion(file).bound == 5000
    manifest = read_manifest(done.run)
    assert manifest.status == "complete" and compare_run(done.run, manifest).differences == []
    assert {cell.seed for cell in manifest.cells} == {1, 2, 101, 102, 103}
    keys = ["workload.senders", "workload.size", "topology.buffer"]
    assert all(list(cell.factors) == keys for cell in manifest.cells), "a report needs all of them"
    assert "without a number" in done.lines[1], "10 senders need 11 hosts"
    assert "Proposals of tpe" in page(done.run) and "Proposals of random" in page(done.run)
    assert done.lines[-2] in page(done.run)


def test_search_drops_findings_that_also_occur_without_control(terminal: Terminal) -> None:
    terminal.testbed.ns_per_sender[CONTROL_FREE] = 1000
    done = terminal.search()
    assert done.lines[-2] == "No finding within this space and budget."
    assert "met the bound, but no congestion control does as well" in done.lines[-3]
    assert f"none (7 µs, but 7 µs with {CONTROL_FREE})" in done.err
    assert not (done.run / "find.yml").exists()


def test_transport_without_control_is_not_checked(terminal: Terminal) -> None:
    terminal.testbed.ns_per_sender[CONTROL_FREE] = 1000
    done = terminal.search(experiment=EXPERIMENT.replace("name: rogue", "name: roce"))
    assert done.lines[-2].startswith("Finding:") and CONTROL_FREE not in done.lines[-2]


def test_search_drops_findings_that_fail_on_held_out_seeds(terminal: Terminal) -> None:
    terminal.testbed.extra_ns = lambda cell: -3000 if cell.seed == 102 else 0
    space = SPACE.replace("from: 1, to: 12", "from: 6, to: 7")
    done = terminal.search(space=space)
    assert done.lines[-2].startswith("No finding") and not (done.run / "find.yml").exists()
    assert any(line.startswith("Not a finding on the held-out seeds: ") for line in done.lines)


def test_jobs_do_not_change_a_search(terminal: Terminal) -> None:
    one, several = terminal.search("--no-baseline"), terminal.search("--no-baseline", "--jobs", "3")
    assert page(one.run) == page(several.run) and cells(one.run) == cells(several.run)


def test_resumed_search_gives_the_same_result(terminal: Terminal) -> None:
    straight = terminal.search()
    count = len(terminal.testbed.ran)
    terminal.testbed.ran.clear()
    terminal.stop_after(2)
    stopped = terminal.search()
    for share in (3, 5):
        assert stopped.code == ExitCode.INTERRUPTED and "--resume" in stopped.err
        assert "Stopped before it was over; --resume continues." in stopped.lines
        assert read_manifest(stopped.run).status == "partial"
        assert compare_run(stopped.run, read_manifest(stopped.run)).differences == []
        terminal.stop_after(count * share // 6)
        stopped = terminal.rogue("search", "--resume", str(stopped.run))
    terminal.let_run()
    resumed = terminal.rogue("search", "--resume", str(stopped.run))
    assert resumed.code == 0 and len(terminal.testbed.ran) == count, "no cell ran twice"
    assert page(resumed.run) == page(straight.run) and cells(resumed.run) == cells(straight.run)
    assert resumed.lines[:-1] == straight.lines[:-1]
    assert compare_run(resumed.run, read_manifest(resumed.run)).differences == [], "also Optuna's record"


def test_resumed_search_writes_through_no_link(terminal: Terminal) -> None:
    terminal.stop_after(2)
    stopped = terminal.search("--no-baseline")
    mine = terminal.place / "mine"
    mine.write_text("mine")
    for name in (SO_FAR, f"{TEMPORARY_PREFIX}{SO_FAR}"):
        (stopped.run / name).unlink(missing_ok=True)
        (stopped.run / name).symlink_to(mine)
    terminal.let_run()
    assert terminal.rogue("search", "--resume", str(stopped.run)).code == 0
    assert mine.read_text() == "mine"
    assert not [file for file in stopped.run.iterdir() if file.name.startswith(SO_FAR)]


def test_search_of_an_earlier_version_is_refused(terminal: Terminal) -> None:
    done = terminal.search("--no-baseline")
    (done.run / "search.json").write_text('{"space_file": "x", "space_sha256": "y", "space": {}}')
    refused = terminal.rogue("search", "--resume", str(done.run))
    assert refused.code == ExitCode.USAGE
    assert "`rogue report` opens others; begin a new search" in refused.err
    assert "search --resume" in terminal.rogue("run", "--resume", str(done.run)).err


def test_against_another_transport_the_measure_is_a_ratio(terminal: Terminal) -> None:
    done = terminal.search("--against", "other", space=SPACE.replace("bound: 5000", "bound: 3"))
    assert done.lines[0] == "fct_mean_ns of own over that of other, largest; a finding is at least 3 times."
    assert "furthest 2 times at 1" in done.lines[1] and done.lines[-2].startswith("No finding")
    text = EXPERIMENT.replace("name: irn, label: other", "name: roce")
    beside = terminal.search("--against", "roce", "--no-baseline", experiment=text)
    resumed = terminal.rogue("search", "--resume", str(beside.run))
    assert resumed.lines == beside.lines, "the transport without congestion control is roce as well"


def test_a_plan_runs_nothing(terminal: Terminal) -> None:
    done = terminal.search("--plan", "--jobs", "100", "--against", "other")
    assert "workload.senders: 1 to 12 hosts, linear; a test" in done.lines
    assert "at most 24 cells, about 3 s with 12 at once" in done.lines[-1], "3 values, 2 seeds, 2 transports"
    assert terminal.testbed.ran == [] and not (terminal.place / "results").exists()


def test_the_last_batch_fits_the_budget(terminal: Terminal) -> None:
    text = SPACE.replace("cells: 12, batch: 3", "cells: 5, batch: 50").replace("bound: 5000, ", "")
    done = terminal.search("--no-baseline", space=text.replace("to: 12", "to: 8"))
    assert len(cells(done.run)) == 6, "each value has two seeds"
    assert done.lines[0].endswith("the aim has no bound, so nothing is a finding.")


def test_keys_with_equal_last_words_have_separate_cells(terminal: Terminal) -> None:
    experiment = EXPERIMENT.replace(
        "workload: {kind: incast, senders: 2, size: 1MB}",
        "traffic: [{name: a, workload: {kind: incast, senders: 2, size: 1MB}},"
        " {name: b, workload: {kind: incast, senders: 2, size: 1MB}}]",
    )
    ranges = "{from: 1, to: 4, unit: hosts, source: a test}"
    keys = f"keys:\n  traffic[0].workload.senders: {ranges}\n  traffic[1].workload.senders: {ranges}\n"
    space = SPACE[: SPACE.index("keys:")] + keys + SPACE[SPACE.index("budget:") :]
    done = terminal.search("--no-baseline", space=space.replace("bound: 5000, ", ""), experiment=experiment)
    assert done.code == 0, done.err
    factors = {(cell.seed, *cell.factors.values()): cell.id for cell in read_manifest(done.run).cells}
    assert len(set(factors.values())) == len(factors) == len(terminal.testbed.ran)


def test_resumed_search_does_not_repeat_failed_cells(terminal: Terminal) -> None:
    space = SPACE.replace("cells: 12, batch: 3", "cells: 2, batch: 1").replace("bound: 5000, ", "")

    def fail(_: Cell) -> None:
        raise ZeroDivisionError

    terminal.testbed.before_cell = fail
    done = terminal.search("--no-baseline", space=space)
    assert "without a number" in done.lines[1]
    manifest = read_manifest(done.run)
    assert {cell.status for cell in manifest.cells} == {"failed"}
    terminal.let_run()
    terminal.rogue("search", "--resume", str(done.run))
    assert terminal.testbed.ran == []


def test_testbed_that_cannot_measure_is_an_error(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OBSTACLE, "a node is gone")
    for done in (terminal.search(), terminal.sensitivity()):
        assert "cannot measure, so nothing was run" in done.err and "a node is gone" in done.err
    assert not (terminal.place / "results").exists()


def test_inventory_named_by_the_run_alone_is_refused(terminal: Terminal) -> None:
    for done, command in ((terminal.search(), "search"), (terminal.sensitivity(), "sensitivity")):
        manifest = read_manifest(done.run)
        manifest.testbed = "inventory.yml"
        write_manifest(done.run, manifest)
        refused = terminal.rogue(command, "--resume", str(done.run))
        assert "--resume: got no --testbed, expected the inventory" in refused.err


@pytest.mark.parametrize(
    ("space", "options", "words"),
    [
        (SPACE.replace(", transport: own", ""), (), "got 2 transports and no name"),
        (SPACE.replace("transport: own", "transport: owl"), (), "write own if that is meant"),
        (SPACE.replace("topology.buffer", '"faults[0].one_in"'), (), "has no faults"),
        (SPACE, ("--set", "factors={workload.senders: [1, 2]}"), "got factors"),
        (SPACE[SPACE.index("keys:") :], (), "got no aim"),
        (SPACE.replace("fct_mean_ns", "fct_men_ns"), (), "write fct_mean_ns if that is meant"),
        (SPACE, ("--worst", "fct_men_ns"), "write fct_mean_ns if that is meant"),
        (SPACE.replace("cells: 12", "cells: 0"), (), "at least 1"),
        (SPACE.replace("held_out_first: 101", "held_out_first: 2"), (), "expected seeds above 2"),
        (SPACE.replace("workload.senders", "budget.senders"), (), "dotted keys that start with topology"),
        (SPACE.replace("metric: fct_mean_ns", "metrics: x"), (), "write metric if that is meant"),
        ("x", (), "expected a mapping"),
    ],
)
def test_wrong_space_is_an_error(
    terminal: Terminal, space: str, options: tuple[str, ...], words: str
) -> None:
    refused = terminal.search(*options, space=space)
    assert refused.code == ExitCode.USAGE and words in refused.err, refused.err
    assert not (terminal.place / "results").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("search", "got no experiment"),
        ("search hill.yml", "got no --space"),
        ("search hill.yml --space none.yml", "none.yml"),
        ("search hill.yml --resume results/x", "expected the search alone"),
        ("search --plan --resume results/x", "expected the search alone"),
        ("search --no-baseline --resume results/x", "expected the search alone"),
        ("sensitivity", "got no experiment"),
        ("sensitivity hill.yml", "got no --vary"),
        ("sensitivity --claim X-2-10 --resume results/x", "--resume: got"),
    ],
)
def test_wrong_arguments_are_an_error(terminal: Terminal, words: str, message: str) -> None:
    terminal.write("hill.yml", EXPERIMENT)
    refused = terminal.rogue(*words.split())
    assert refused.code == ExitCode.USAGE and message in refused.err


@pytest.mark.parametrize("end", ["\n", "\x85", "\u2028", "\x1b"])
def test_quoted_text_starts_no_line_in_a_finding(terminal: Terminal, end: str) -> None:
    name, label = f"space{end}seed: 7.yml", "own\nseed: 6"
    experiment = terminal.write("hill.yml", EXPERIMENT.replace("label: own", f"label: {json.dumps(label)}"))
    space = SPACE.replace("transport: own", f"transport: {json.dumps(label)}")
    terminal.testbed.ns_per_sender[label] = 1000
    done = terminal.rogue("search", experiment, "--space", terminal.write(name, space), "--no-baseline")
    text = (done.run / "find.yml").read_text()
    head = text.partition("\nname: ")[0]
    assert all(line.startswith("# ") for line in head.splitlines())
    assert yaml.safe_load(text)["seed"] == 101


AIM = '# aim: {"metric": "fct_mean_ns", "direction": "most", "bound": %s, "transport": "own"}\n'


def finding(terminal: Terminal, name: str, bound: int) -> str:
    """A finding from this number of nanoseconds on; two senders take 2000 ns, with other transports 1000."""
    return terminal.write(f"{name}.yml", AIM % bound + EXPERIMENT)


def test_weaknesses_judges_own_and_other_transports(terminal: Terminal) -> None:
    files = finding(terminal, "slow", 1500), finding(terminal, "slower", 2500)
    done = terminal.rogue("weaknesses", *files)
    bound = f"fct_mean_ns is 2 µs on 1 seed, {CONTROL_FREE}: 200 ns; a finding is at least 1.5 µs"
    assert done.lines[0] == f"slow: shares it; {bound}"
    assert done.lines[1].startswith("slower: does not share it; fct_mean_ns is 2 µs on 1 seed; a finding")
    assert done.lines[2] == "The transport of each finding on simulator, 2 findings: 1 shared, 1 not shared."
    assert done.lines[0].partition("; ")[2] in Path(done.lines[3]).read_text()
    other = terminal.rogue("weaknesses", files[0], "--transport", "irn")
    assert other.lines[0].startswith("slow: does not share it")
    assert other.lines[1].startswith("irn on simulator")
    assert Path(other.lines[2]).name == "weaknesses-irn-simulator.html"
    runs = sorted((terminal.place / "results").glob("hill/*/manifest.json"))
    assert [read_manifest(run.parent).status for run in runs] == ["complete"] * 3


def test_transport_with_parameters_is_tried(terminal: Terminal) -> None:
    done = terminal.rogue("weaknesses", finding(terminal, "slow", 1500), "--transport", "{name: irn}")
    assert done.lines[0].startswith("slow: does not share it")
    assert Path(done.lines[2]).name == "weaknesses-name-irn-simulator.html"
    broken = terminal.rogue("weaknesses", finding(terminal, "slow", 1500), "--transport", "{name: irn")
    assert "Traceback" not in broken.err
    assert broken.code == ExitCode.USAGE or broken.lines[0].startswith("slow: cannot be tried")


def test_gate_fails_on_a_weakness_that_is_not_accepted(terminal: Terminal) -> None:
    file = finding(terminal, "slow", 1500)
    terminal.rogue("weaknesses", file)
    run = str(next((terminal.place / "results/hill").iterdir()))
    own = "{name: rogue, label: own}"
    words = ("gate", run, run, "--transport", own, "--finding", file, "--junit", "gate.xml")
    failed = terminal.rogue(*words)
    assert failed.code == ExitCode.REGRESSION
    assert any(line.startswith(f"failed: known weaknesses, slow: {own} shares it; ") for line in failed.lines)
    accepted = terminal.rogue(*words, "--shares", "slow")
    assert (accepted.code, accepted.lines[-1]) == (ExitCode.OK, "no regression")
    unknown = terminal.rogue(*words, "--shares", "slwo")
    assert unknown.code == ExitCode.USAGE and "got --shares slwo, expected one of slow" in unknown.err


def test_finding_shared_without_control_is_no_weakness(terminal: Terminal) -> None:
    terminal.testbed.ns_per_sender[CONTROL_FREE] = 1000
    done = terminal.rogue("weaknesses", finding(terminal, "slow", 1500))
    assert done.lines[0].startswith(
        f"slow: is no weakness of the control; fct_mean_ns is 2 µs on 1 seed, {CONTROL_FREE}: 2 µs"
    )
    assert done.lines[1].endswith("1 finding: 1 shared without congestion control as well.")


def test_each_finding_that_cannot_run_has_its_reason(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = finding(terminal, "slow", 1500), finding(terminal, "fast", 500)
    done = terminal.rogue("weaknesses", *files, "--transport", "nothing")
    assert [line.partition(";")[0] for line in done.lines[:2]] == [
        "slow: cannot be tried",
        "fast: cannot be tried",
    ]
    assert "got 'nothing'" in done.lines[0] and done.lines[2].endswith("2 findings: 2 that cannot be tried.")
    mistake = ParameterMistake("initial_rate", "no initial rate", "remove it")
    monkeypatch.setattr(type(terminal.testbed), "parameter_mistake", lambda _self, _cell: mistake)
    done = terminal.rogue("weaknesses", files[0], "--transport", "rogue")
    assert done.lines[0].startswith("slow: cannot be tried") and "no initial rate" in done.lines[0]
    assert not terminal.testbed.ran


def test_ctrl_c_stops_weaknesses_without_a_page(terminal: Terminal) -> None:
    terminal.stop_after(0)
    done = terminal.rogue("weaknesses", finding(terminal, "slow", 1500))
    assert done.code == ExitCode.INTERRUPTED and "stopped; no page was written." in done.err


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("", "got no aim"),
        (f"{MARK}{{\n", "got an aim that cannot be read"),
        (f'{MARK}{{"metric": "jain", "bounds": 1}}\n', "got an aim that cannot be read"),
        (f'{MARK}{{"metric": "jain"}}\n', "got an aim without bound"),
    ],
)
def test_file_without_a_valid_aim_is_an_error(terminal: Terminal, head: str, words: str) -> None:
    mine = terminal.write("mine.yml", head + EXPERIMENT)
    refused = terminal.rogue("weaknesses", finding(terminal, "slow", 1500), mine)
    assert refused.code == ExitCode.USAGE and f"mine.yml: {words}" in refused.err
    assert not terminal.testbed.ran


@pytest.mark.parametrize("file", found_files(), ids=lambda file: file.stem)
def test_shipped_findings_have_the_aim_of_their_space(file: Path) -> None:
    space = yaml.safe_load((DIRECTORY / "found/spaces" / file.name).read_text())
    assert read_criterion(file) == Aim.model_validate(space["aim"])
