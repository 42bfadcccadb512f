"""Test that files of `rogue new` work unchanged."""

from pathlib import Path

import pytest
from helpers.sample_run import Sample, write_sample_run

import rogue
from rogue.harness.commands.plugins import COMPILED, KINDS, ONLY_COMPILED, STARTS, write_start
from rogue.harness.errors import UsageError
from rogue.harness.plugins.contract import contract_faults
from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.reports.drawing.panels import figure_look
from rogue.reports.figures import FIGURES
from rogue.reports.reading.load import Run
from rogue.reports.results import Results

IN_PYTHON = tuple(kind for kind in KINDS if kind not in ONLY_COMPILED)


@pytest.mark.parametrize(
    ("kind", "language"), [*((kind, "python") for kind in IN_PYTHON), *((kind, "c++") for kind in COMPILED)]
)
def test_template_keeps_the_contract(kind: str, language: str, tmp_path: Path) -> None:
    file, test = write_start(kind, "my_own", tmp_path, language)
    (loaded,) = load_plugins([read_plugin(str(file), "")])
    added = f"{kind.replace('-', '_')} my_own"
    assert loaded.adds == (added,)
    assert contract_faults(loaded) == []
    assert f'("{added}",)' in test.read_text()
    assert f'with_name("{file.name}")' in test.read_text()
    assert max(len(line) for line in file.read_text().splitlines()) <= 110


def test_language_defaults_to_cpp_where_it_is_the_only_one(tmp_path: Path) -> None:
    assert [file.name for file in write_start("switch-control", "mine", tmp_path)] == [
        "mine.h",
        "test_mine.py",
    ]


def test_each_kind_has_a_template() -> None:
    assert {path.stem for path in STARTS.iterdir()} == {
        *IN_PYTHON,
        *(f"{kind}-compiled" for kind in COMPILED),
        "experiment",
        "test",
    }


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        (
            "contrl",
            "x",
            "got 'contrl', expected one of control, workload, topology, nic-control, "
            "switch-control, receiver-control, measure, figure, experiment; write",
        ),
        ("control", "My Own", "got the name 'My Own', expected lower-case letters"),
        ("control", "../x", "got the name '../x'"),
    ],
)
def test_wrong_kind_or_name_is_an_error(kind: str, name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        write_start(kind, name, tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("precious")
    with pytest.raises(UsageError, match=r"test_mine\.py, which is there already"):
        write_start("control", "mine", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["test_mine.py"]


@pytest.mark.parametrize(
    ("kind", "language", "words"),
    [
        ("nic-control", "rust", "got the language 'rust', expected one of python, c"),
        (
            "workload",
            "c++",
            r"got a workload in c\+\+, expected python; only nic-control, switch-control and receiver",
        ),
        ("switch-control", "python", r"got a switch-control in python, expected c\+\+; leave --language out"),
    ],
)
def test_wrong_language_is_an_error(kind: str, language: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        write_start(kind, "mine", tmp_path, language)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("kind", ["measure", "figure"])
def test_report_templates_work_on_a_run(kind: str, tmp_path: Path) -> None:
    file, _ = write_start(kind, "my_own", tmp_path)
    run = write_sample_run(tmp_path / "run", Sample(senders=(2, 4), repetitions=2, seconds=0.5))
    loaded = rogue.load(run, plugins=[file])
    if kind == "measure":
        own = loaded.metrics.query("metric == 'my_own'")
        assert len(own) == len(loaded.cells)
        return
    results, figure = Results(Run(run)), FIGURES["my_own"]()
    with figure_look():
        axes = figure.draw(results).axes
    assert [len(axis.lines) for axis in axes] == [2, 2]
    assert "RoGUE, senders 2: median " in figure.describe(results)
