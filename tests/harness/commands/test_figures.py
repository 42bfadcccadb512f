"""`rogue figures`: what it writes, and what each mistake costs."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from helpers.sample_run import Sample, write_sample_run
from helpers.small_runs import FIELDS

from rogue.harness.commands.export import figures, parsed_formats, parsed_width
from rogue.harness.errors import DamagedRunError, ExitCode, HarnessError
from rogue.reports.claims import Claim


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("results") / "run"
    return write_sample_run(directory, Sample(repetitions=1, seconds=1.0))


@pytest.fixture
def asked(run: Path, tmp_path: Path) -> dict[str, Any]:
    return {"run": run, "only": ["throughput"], "formats": "csv", "out": tmp_path / "out"}


def test_files_stand_beside_the_run_by_default(
    run: Path, asked: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(run.rglob("*"))
    assert figures(**(asked | {"formats": "csv,pdf", "out": None})) is ExitCode.OK
    out, err = capsys.readouterr()
    directory = Path(out.splitlines()[-1])
    assert directory.parent == run.parent
    assert directory.name.endswith("-figures")
    assert {path.name for path in directory.iterdir()} == {
        f"throughput.{kind}" for kind in ("csv", "pdf", "txt", "tex")
    }
    assert "[1/1] throughput: 3.30 x " in err
    assert "text from 7.0 pt" in err
    assert sorted(run.rglob("*")) == before


def test_a_damaged_run_has_no_figures_unless_it_is_asked_for(asked: dict[str, Any], tmp_path: Path) -> None:
    run = Path(shutil.copytree(asked["run"], tmp_path / "run"))
    table = next(run.rglob("throughput.parquet"))
    table.chmod(0o644)
    table.write_bytes(table.read_bytes() + b"x")
    with pytest.raises(DamagedRunError, match=r"throughput\.parquet"):
        figures(**(asked | {"run": run}))
    assert not asked["out"].exists()


def test_all_that_can_be_drawn_and_why_others_cannot(
    asked: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert figures(**(asked | {"only": ()})) is ExitCode.OK
    assert "cpu_load: not drawn. No finished cell has rows in cpu.parquet" in capsys.readouterr().err
    assert (asked["out"] / "queue_over_time.csv").exists()
    assert not (asked["out"] / "cpu_load.csv").exists()


def test_tables_are_a_format(asked: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert figures(**(asked | {"formats": "tex"})) is ExitCode.OK
    table = (asked["out"] / "table-delay-and-queue.tex").read_text()
    assert "\\toprule" in table
    assert not list(asked["out"].glob("*.pdf"))
    assert "of 1 figure and " in capsys.readouterr().err


def test_figures_know_the_published_numbers(asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rogue.reports.claims.read_claims", lambda: [Claim.model_validate(FIELDS)])
    assert figures(**(asked | {"only": ("published_beside",)})) is ExitCode.OK
    assert "X-1" in (asked["out"] / "published_beside.csv").read_text()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"only": ("troughput",)},
            "--only: got 'troughput', expected one of published_beside, factor_sweep,",
        ),
        ({"only": ("troughput",)}, "write throughput if that is meant"),
        ({"only": ("cpu_load",)}, "figures: the run cannot draw this figure; leave it out:\n  cpu_load: No"),
        ({"formats": "pdf,eps"}, "--format: got 'eps', expected some of pdf,svg,png,csv,tex; write"),
        ({"formats": ""}, "--format: got '', expected some of"),
        ({"width": "3.3"}, "--width: got '3.3', expected a number and one of in, cm, mm, pt; a column"),
        ({"width": "wide"}, "--width: got 'wide', expected a number"),
        ({"width": "-3in"}, "--width: got '-3in', expected a number"),
        ({"width": "1mm"}, "--width: got 1mm, expected 1.5in to 30in; choose a width between."),
        ({"style": Path("none.mplstyle")}, "--style: none.mplstyle: expected a matplotlib style sheet"),
        ({"run": Path("nowhere")}, "expected a run's manifest"),
        ({"out": Path()}, "figures: . is there already, expected a new directory; name one with --out."),
    ],
)
def test_mistakes_are_sentences_and_leave_nothing(
    asked: dict[str, Any], tmp_path: Path, changed: dict[str, object], words: str
) -> None:
    with pytest.raises(HarnessError) as caught:
        figures(**(asked | changed))
    assert words in str(caught.value)
    assert caught.value.exit_code is ExitCode.USAGE
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "inches"), [("3.3in", 3.3), ("84mm", 84 / 25.4), ("8.4 cm", 8.4 / 2.54), ("241.14pt", 3.3367)]
)
def test_widths(text: str, inches: float) -> None:
    assert parsed_width(text) == pytest.approx(inches, rel=1e-4)


def test_formats_in_any_order_and_once() -> None:
    assert parsed_formats("PNG, pdf,png") == ("png", "pdf")
