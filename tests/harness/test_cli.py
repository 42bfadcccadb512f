"""The command line from outside: exit codes, what goes to which stream, what is written."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command_line import Finished, rogue
from helpers.experiments import WRONG_EXPERIMENTS, write_experiment

from rogue.harness.cli import COMMANDS, SYNONYMS, app, run_guarded
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.testbeds.base import TestbedError
from rogue.workloads.records import FailureKind
from rogue.workloads.topologies.shortest_paths import NoPathError

HARD = (
    "unknown-key", "wrong-unit", "negative-size", "too-few-hosts", "too-many-hosts", "unknown-transport",
    "yaml-bomb", "yaml-tag", "not-a-number",
)  # fmt: skip
ROOT = Path(__file__).parents[2]


class Here:
    """The command line in this process: where only arguments, messages and files matter."""

    def __init__(
        self, directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(directory)
        self.capsys = capsys

    def __call__(self, *arguments: str) -> Finished:
        code = run_guarded(lambda: app(arguments, prog_name="rogue", standalone_mode=False))
        said = self.capsys.readouterr()
        return Finished(code, said.out, said.err)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


def test_help_teaches_with_examples(here: Here) -> None:
    done = here("--help")
    assert done.code == 0
    assert "rogue run experiments/quickstart.yaml" in done.out
    shown = " ".join(done.out.split())
    for command, (_, description) in COMMANDS.items():
        assert f" {command} {description}" in shown, "its whole description"
        helped = here(command, "--help")
        assert (helped.code, f"rogue {command} " in helped.out) == (0, True)
        assert description in " ".join(helped.out.split()), "the line of `rogue --help`"


def test_each_synonym_leads_to_a_command() -> None:
    assert {meant.split()[0] for meant in SYNONYMS.values()} <= set(COMMANDS)
    assert not set(SYNONYMS) & set(COMMANDS)


def test_descriptions_of_subcommands_are_whole(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    shown = " ".join(here("switch", "--help").out.split())
    sentence = (
        "Compare the settings of the switches with those of the inventory; each difference is a sentence."
    )
    assert sentence in shown


@pytest.mark.parametrize("arguments", [("-v", "plan", "{}"), ("plan", "{}", "--verbose")])
def test_verbose_logs_before_or_after_the_command(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = write_experiment(tmp_path)
    done = rogue(tmp_path, *(word.format(file) for word in arguments))
    assert re.search(rf"\[ *\d+ ms\] rogue\.harness\.experiment\.document: reads {file}\n", done.err)
    assert "rogue.harness.plan.plan: plans 2 cells on simulator\n" in done.err
    assert done.out == rogue(tmp_path, "plan", file).out


def test_verbose_is_an_option_of_subcommands(here: Here) -> None:
    assert here("testbed", "kernel", "build", "--help").out.count("--verbose") == 1


@pytest.mark.parametrize("arguments", [("-q", "run"), ("run", "--quiet")])
def test_quiet_run_prints_its_result_alone(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = write_experiment(tmp_path)
    done = rogue(tmp_path, *arguments, file, "--testbed", "fake")
    assert (done.code, done.err, len(done.out.splitlines())) == (0, "", 1)


def test_quiet_keeps_errors(tmp_path: Path) -> None:
    done = rogue(tmp_path, "--quiet", "run", "nowhere.yaml")
    assert (done.code, done.err.startswith("rogue: nowhere.yaml: got")) == (2, True)


def test_version(here: Here) -> None:
    done = here("--version")
    assert (done.code, re.fullmatch(r"rogue \d+\.\d+\.\d+\n", done.out) is not None) == (0, True)


@pytest.mark.parametrize("name", HARD)
def test_wrong_experiment_is_one_sentence(tmp_path: Path, name: str) -> None:
    file = write_experiment(tmp_path, WRONG_EXPERIMENTS[name].text)
    here = tmp_path / "here"
    here.mkdir()
    done = rogue(here, "run", file)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"rogue: {file}:")
    assert "Traceback" not in done.err
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run",), "run: got no experiment"),
        (("run", "nowhere.yaml"), "nowhere.yaml: got 'No such file or directory' on opening it"),
        (("run", "."), "got a directory, expected an experiment file"),
        (("run", "/proc/self/mem"), "on opening it"),
        (("run", "latin.yaml"), "expected UTF-8 text"),
        (("run", "quickstart", "--set", "topology.hosts=100000000000"), "expected a number of at most 65536"),
        (("run", "quickstart", "--set", "seed"), "expected key=value"),
        (
            ("run", "quickstart", "--testbed", "nowhere"),
            "--testbed: got 'nowhere', expected simulator, kernel, virtual, or the file of an inventory",
        ),
        (("run", "quickstart", "--only-cell", "rogue-r9"), "expected a cell of the plan"),
        (("run", "quickstart", "--only-failed"), "--only-failed: got no --resume"),
        (("run", "quickstart", "--resume", "."), "--resume: got an experiment"),
        (("run", "--resume", "."), "expected a run's manifest"),
        (("run", "--resume", ".", "--out", "other"), "--resume: got --out other, expected the run alone"),
        (("run", "quickstart", "--jobs", "0"), "--jobs"),
        (("run", "--colour"), "No such option: --colour"),
        (("rnu",), "No such command 'rnu'"),
        (("run", "--resume", ".", "--dry-run"), "--resume: got --dry-run, expected the run alone"),
        (("report", "."), "expected a run's manifest"),
        (("verify", "nowhere"), "nowhere: got no run of that name, expected the directory of a run, its id,"),
        (
            ("compare", "results/nowhere", "."),
            "nowhere/manifest.json: got 'No such file or directory', expected a run's",
        ),
        (("export", "nowhere/"), "expected a run's manifest"),
        (("figures", "./nowhere"), "expected a run's manifest"),
        (("compare", "."), "Missing argument 'RUN_B'"),
        (("show", "quikstart"), "write quickstart if that is meant"),
        (("list", "nothing"), "list: got 'nothing', expected one of transports"),
        (
            ("list",),
            "list: got nothing, expected one of transports, controls, switch-controls, receiver-controls,",
        ),
    ],
)
def test_wrong_command_is_one_sentence(
    tmp_path: Path, here: Here, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "latin.yaml").write_bytes("name: é".encode("latin-1"))
    before = sorted(tmp_path.iterdir())
    done = here(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("rogue: ")
    assert words in done.err
    assert "Traceback" not in done.err
    assert sorted(tmp_path.iterdir()) == before


def test_nothing_to_run(tmp_path: Path, here: Here) -> None:
    done = here("run", "quickstart", "--set", "measure=[{kind: queues, interval: 1ns}]")
    assert (done.code, done.out, list(tmp_path.iterdir())) == (4, "", [])
    assert "raise its interval" in done.err


def test_results_that_cannot_be_written(tmp_path: Path, here: Here) -> None:
    (tmp_path / "results").write_text("in the way")
    done = here("run", "quickstart")
    assert (done.code, done.out) == (6, "")
    assert "expected a place for results; name another with --out" in done.err


@pytest.mark.parametrize(
    ("words", "sentences"),
    [
        (["run", "--no-report"], "No such option: --no-report. See `rogue run --help`.\n"),
        (["compare", "."], "Missing argument 'RUN_B'. See `rogue compare --help`.\n"),
        (["switch", "plam"], "See `rogue switch --help`.\n"),
        (["rnu"], "No such command 'rnu'. Did you mean 'run'? See `rogue --help`.\n"),
        (["delete"], "No such command 'delete'. Did you mean 'rm'? See `rogue --help`.\n"),
        (["runs"], "No such command 'runs'. Did you mean 'list runs'? See `rogue --help`.\n"),
    ],
)
def test_wrong_arguments_name_the_help_of_their_command(here: Here, words: list[str], sentences: str) -> None:
    assert here(*words).err.endswith(sentences)


@pytest.mark.parametrize("group", [[], ["switch"], ["inventory"], ["testbed"], ["testbed", "kernel"]])
def test_a_group_without_a_command_shows_its_help(
    group: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_guarded(lambda: app(group, prog_name="rogue", standalone_mode=False)) is ExitCode.USAGE
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith(" ".join(["Usage: rogue", *group]))
    assert "Commands:" in said or (not group and "Machines:" in said)


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (UsageError("x: got y."), ExitCode.USAGE, "rogue: x: got y."),
        (
            PermissionError(13, "Permission denied", "results"),
            ExitCode.STORAGE,
            "rogue: results: Permission denied.",
        ),
        (
            TestbedError(FailureKind.SWITCH, "s0: not everything could be put back\n  s0: port 1"),
            ExitCode.TESTBED,
            "rogue: s0: not everything could be put back\n  s0: port 1\n",
        ),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED, "stopped by Ctrl-C"),
        (MemoryError(), ExitCode.MEMORY, "rogue: this process could get no more memory; end other programs"),
        (ImportError("l.so: failed to map segment from shared object"), ExitCode.MEMORY, "no more memory"),
        (OSError(12, "Cannot allocate memory"), ExitCode.MEMORY, "no more memory"),
        (ImportError("l.so: no such file"), ExitCode.BUG, "this is a bug of rogue"),
        (
            NoPathError("h0", "h3"),
            ExitCode.USAGE,
            "rogue: topology: got no path from h0 to h3, expected links",
        ),
        (ValueError("x"), ExitCode.BUG, "this is a bug of rogue"),
        (SystemExit("x"), ExitCode.BUG, "this is a bug of rogue"),
        (ZeroDivisionError("x"), ExitCode.BUG, "this is a bug of rogue"),
    ],
)
def test_every_error_becomes_a_message_and_a_code(
    error: BaseException, code: ExitCode, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    assert run_guarded(fail) is code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "seconds"), [("-v report x", "7200"), ("watch report", "-1")])
def test_commands_that_read_runs_are_limited(arguments: str, seconds: str) -> None:
    program = (
        "import resource, sys\nfrom rogue.harness import cli\n"
        "cli.app = lambda *_, **__: print(resource.getrlimit(resource.RLIMIT_CPU)[0])\ncli.main()\n"
    )
    command = [sys.executable, "-c", program, *arguments.split()]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"{seconds}\n"


def test_a_warning_of_a_library_is_no_line_on_the_terminal() -> None:
    program = (
        "import warnings\nfrom rogue.harness import cli\n"
        "cli.app = lambda *_, **__: warnings.warn('for programmers')\ncli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
