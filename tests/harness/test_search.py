"""A search from the experiment to the find, on a testbed where a number follows from the values."""

from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.searched import SPACE, HillTestbed, hill, space_document, testbed

from rogue.harness.commands.search import SearchOptions, run_search
from rogue.harness.errors import ConfigError, ExitCode, StoppedError, UsageError
from rogue.harness.experiment.load import load_experiment
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.recorded_run import SO_FAR
from rogue.harness.results.verification import compare_run

__all__ = ["testbed"]


def options(tmp_path: Path, text: str = SPACE, *settings: str, jobs: int = 1) -> SearchOptions:
    return SearchOptions(
        loaded=hill(tmp_path, *settings),
        space=space_document(tmp_path, text),
        arguments=("search", "experiment.yaml", "--space", "space.yml"),
        out=tmp_path / "results",
        jobs=jobs,
    )


def without_baseline(tmp_path: Path, jobs: int = 1) -> SearchOptions:
    return replace(options(tmp_path, jobs=jobs), has_baseline=False)


def searched(asked: SearchOptions, capsys: pytest.CaptureFixture[str]) -> tuple[Path, list[str]]:
    """Search; the directory, and what was printed before it."""
    assert run_search(asked) is ExitCode.OK
    *lines, directory = capsys.readouterr().out.splitlines()
    return Path(directory), lines


def test_a_find_is_confirmed_shrunk_and_an_experiment(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    run, lines = searched(options(tmp_path, f"{SPACE}sampler_seed: 2\n"), capsys)
    assert lines[0] == "fct_mean_ns of own, largest; a find is at least 5 µs."
    assert lines[-1].startswith("Find: fct_mean_ns of own is ")
    found = load_experiment(str(run / "find.yml"))
    assert (found.experiment.name, found.experiment.seed, found.experiment.repetitions) == (
        "hill-found",
        101,
        3,
    )
    senders = len(found.experiment.groups[0].workload.flows(found.experiment.placement, 1))
    assert 5 <= senders <= 6, "the fewest senders that were tried and meet the bound"
    assert found.experiment.topology.buffer_bytes == 9_000_000, "the buffer does not matter"
    head = (run / "find.yml").read_text().splitlines()
    assert "on seeds 101 to 103 at workload.senders" in head[0]
    assert compare_run(run, read_manifest(run)).differences == []
    assert "12 cells" in lines[1] and "without a number" in lines[1], "12 senders need 13 hosts; there are 9"
    keys = ["workload.senders", "workload.size", "topology.buffer"]
    assert all(list(cell.factors) == keys for cell in read_manifest(run).cells), "a report needs all of them"
    assert read_manifest(run).cells[-1].factors["topology.buffer"] == "9MB"
    assert {1, 2, 101, 102, 103} == {cell.seed for cell in read_manifest(run).cells}
    assert (run / "search.html").read_text().count("Proposals of ") == 4


def test_workers_change_no_cell_and_no_order(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    one, _ = searched(without_baseline(tmp_path), capsys)
    several, _ = searched(without_baseline(tmp_path, jobs=3), capsys)
    assert (one / "search.html").read_text() == (several / "search.html").read_text()
    assert [cell.id for cell in read_manifest(one).cells] == [
        cell.id for cell in read_manifest(several).cells
    ]


def test_a_search_that_was_stopped_goes_on_to_the_same_end(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = searched(without_baseline(tmp_path), capsys)
    count = len(testbed.ran)
    testbed.ran.clear()
    run_cell, said = HillTestbed.run, list[str]()

    def stops(self: HillTestbed, *given: object) -> object:
        if len(self.ran) == 9:
            (file,) = (tmp_path / "results").glob(f"*/*/{SO_FAR}")
            said.extend(file.read_text().splitlines())
            raise KeyboardInterrupt
        return run_cell(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(HillTestbed, "run", stops)
    with pytest.raises(StoppedError, match="search --resume") as stopped:
        run_search(without_baseline(tmp_path))
    assert stopped.value.exit_code is ExitCode.INTERRUPTED
    monkeypatch.setattr(HillTestbed, "run", run_cell)
    *_, last, printed = capsys.readouterr().out.splitlines()
    assert last == "Stopped before it was over; --resume goes on."
    directory = Path(printed)
    assert read_manifest(directory).status == "partial"
    assert compare_run(directory, read_manifest(directory)).differences == []
    again = SearchOptions(arguments=("search", "--resume"), jobs=1, resume=directory)
    resumed, _ = searched(again, capsys)
    assert resumed == directory and len(testbed.ran) == count, "nothing ran twice"
    assert (whole / "search.html").read_text() == (directory / "search.html").read_text()
    assert read_manifest(directory).status == "complete"
    assert said[1].startswith("tpe: 3 proposals") and said[2].startswith("tpe 3: "), "for whoever watched"
    assert not (directory / SO_FAR).exists()


def test_beside_another_transport_the_number_is_a_ratio(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SPACE.replace("bound: 5000, transport: own", "bound: 3")
    _, lines = searched(replace(options(tmp_path, text), against="other"), capsys)
    assert lines[0] == "fct_mean_ns of own over that of other, largest; a find is at least 3 times."
    assert "furthest 2 times at proposal 1" in lines[1] and lines[-1].startswith("No find")


def test_what_does_not_hold_on_the_held_out_seeds_is_no_find(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_cell = HillTestbed.run

    def unlucky(self: HillTestbed, cell: object, progress: object) -> object:
        result = run_cell(self, cell, progress)  # type: ignore[arg-type]
        if cell.seed == 102:  # type: ignore[attr-defined]
            table = result.tables["flows"]
            result.tables = {"flows": {**table, "fct_ns": [1], "end_ns": [table["start_ns"][0] + 1]}}
        return result

    monkeypatch.setattr(HillTestbed, "run", unlucky)
    run, lines = searched(options(tmp_path), capsys)
    assert not (run / "find.yml").exists() and lines[-1].startswith("No find")
    assert sum(line.startswith("Not a find: 1 ns on the held-out seeds") for line in lines) == 3


def test_a_plan_runs_nothing(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_search(replace(options(tmp_path), is_plan=True)) is ExitCode.OK
    told = capsys.readouterr().out
    assert "workload.senders: 1 to 12 hosts, linear; a test" in told
    assert "24 cells in all for 2 samplers" in told and "at least" in told
    assert "with 1 at once" in told
    assert testbed.ran == [] and not (tmp_path / "results").exists()


def test_a_batch_has_a_cell_for_each_seed_and_transport(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    run_search(replace(options(tmp_path), against="other", is_plan=True, jobs=100))
    assert "with 12 at once" in capsys.readouterr().out, "3 values, 2 seeds, 2 transports"


@pytest.mark.parametrize(("cells", "ran"), [(1, 2), (4, 4), (5, 6)])
def test_the_last_batch_fits_the_budget(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str], cells: int, ran: int
) -> None:
    text = SPACE.replace("cells: 12, batch: 3", f"cells: {cells}, batch: 50").replace("bound: 5000, ", "")
    text = text.replace("to: 12", "to: 8")
    run, _ = searched(replace(options(tmp_path, text), has_baseline=False), capsys)
    assert len(read_manifest(run).cells) == ran, "each value has two seeds"


@pytest.mark.parametrize(
    ("text", "settings", "words"),
    [
        (SPACE.replace(", transport: own", ""), (), "got 2 transports and no name"),
        (SPACE.replace("transport: own", "transport: owl"), (), "write own if that is meant"),
        (SPACE.replace("topology.buffer", '"transports[0].segment"'), ("transports=[roce]",), "write it in"),
        (SPACE, ("factors={workload.senders: [1, 2]}",), "got factors"),
        (SPACE.partition("keys:")[2].join(("keys:", "")), (), "got no aim"),
    ],
)  # fmt: skip
def test_what_cannot_be_searched_is_a_sentence(
    tmp_path: Path, testbed: HillTestbed, text: str, settings: tuple[str, ...], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        run_search(options(tmp_path, text, *settings))
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"worst": "jain"}, "got --worst jain, expected metric fct_mean_ns as the aim says"),
        ({"against": "other"}, "got --against other, expected against own as the aim says"),
    ],
)
def test_the_command_line_does_not_say_otherwise_than_the_aim(
    tmp_path: Path, testbed: HillTestbed, changed: dict[str, str], words: str
) -> None:
    asked = options(tmp_path, SPACE.replace("transport: own", "transport: own, against: own"))
    with pytest.raises(UsageError, match=rf"space\.yml: {words}; leave the option out"):
        run_search(replace(asked, **changed))  # type: ignore[arg-type]


def test_a_search_without_time_for_its_cells_is_not_complete(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = chain([0.0, 0.0], repeat(10.0))
    monkeypatch.setattr("rogue.harness.commands.search.time", SimpleNamespace(monotonic=lambda: next(clock)))
    text = SPACE.replace("batch: 3", "batch: 3, for: 10s")
    run, lines = searched(replace(options(tmp_path, text), has_baseline=False), capsys)
    assert lines[1].startswith("tpe: 3 proposals"), "one batch, and no other after ten seconds"
    assert "The time of the budget was over before its cells were; --resume goes on." in lines
    assert read_manifest(run).status == "partial"


def test_a_find_is_run_on_another_testbed_too(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    run, lines = searched(replace(options(tmp_path), confirm="fake"), capsys)
    told = next(line for line in lines if line.startswith("On "))
    assert "shares it: fct_mean_ns is" in told and told.endswith("a find is at least 5 µs.")
    assert f"# {told}" in "\n".join((run / "find.yml").read_text().splitlines())
    assert told in (run / "search.html").read_text()
    (confirmed,) = (tmp_path / "results").glob("hill-found/*/manifest.json")
    assert [cell.seed for cell in read_manifest(confirmed.parent).cells] == [101, 102, 103]


def test_a_measure_that_no_value_has_ends_the_search_early(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    space = SPACE.replace("fct_mean_ns", "probe_p50_ns").replace("cells: 12", "cells: 1000")
    run, lines = searched(options(tmp_path, space), capsys)
    assert lines[1].startswith("tpe: 36 proposals, 42 cells, 36 without a number") and not lines[
        2
    ].startswith("random")
    words = "Given up: no value had a number (probe_p50_ns was not measured); choose a measure"
    assert lines[-1].startswith(words)
    assert read_manifest(run).status == "complete", "there is nothing to go on with"


def test_two_aims_have_a_front(
    tmp_path: Path, testbed: HillTestbed, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = list[str]()
    monkeypatch.setattr("rogue.harness.results.files.write_whole", lambda _, text: said.append(text.decode()))
    second = "also: {metric: transfer_rate_mean_bps, direction: most, bound: 1e9}\nsampler: nsga2\n"
    run, lines = searched(options(tmp_path, SPACE + second), capsys)
    assert "On the front: " in said[-1], "for whoever watches"
    front = [line for line in lines if line.startswith("On the front: ")]
    assert front and all("transfer_rate_mean_bps" in line for line in front)
    assert "transfer_rate_mean_bps" in (run / "search.html").read_text()


def test_only_who_knows_two_aims_takes_them(tmp_path: Path, testbed: HillTestbed) -> None:
    with pytest.raises(ConfigError, match="expected nsga2 or random, for there are two aims"):
        run_search(options(tmp_path, SPACE + "also: {metric: jain}\n"))
