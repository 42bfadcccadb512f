"""Open runs and output files, and report, compare, export and draw runs."""

from pathlib import Path
from typing import Any

import pytest
from helpers.sample_run import Sample, write_sample_run, write_table
from helpers.sample_run import write_manifest as write_sample_manifest
from helpers.small_runs import SECOND, cell, claim_of, filled, manifest, transfer

from rogue.harness.commands.export import export, figures, parsed_formats, parsed_width
from rogue.harness.commands.opening import refuse_damage, write_output
from rogue.harness.commands.report import compare, report
from rogue.harness.errors import DamagedRunError, ExitCode, HarnessError, StorageError, UsageError
from rogue.harness.results.run_directory import checksums, write_manifest
from rogue.workloads.manifest import Manifest
from rogue.workloads.records import CellStatus


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    directory = tmp_path / "run"
    (directory / "cells" / "a").mkdir(parents=True)
    (directory / "cells" / "a" / "flows.parquet").write_bytes(b"table")
    made = Manifest.model_validate(manifest([cell()]))
    made.files = checksums(directory)
    write_manifest(directory, made)
    return directory


@pytest.mark.parametrize("damage", ["changed", "unlisted", "gone"])
def test_a_damaged_run_is_refused(stored: Path, damage: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = stored / "cells" / "a" / "flows.parquet"
    if damage == "changed":
        file.write_bytes(b"tabld")
    elif damage == "gone":
        file.unlink()
    else:
        write_manifest(stored, Manifest.model_validate(manifest([cell()])))
    words = r"1 file is not as .*\n.*flows\.parquet.*\n.*--accept-damage"
    for command in (lambda: report([stored]), lambda: export(stored), lambda: compare(stored, stored)):
        with pytest.raises(DamagedRunError, match=words):
            command()
    refuse_damage([stored], is_accepted=True)
    assert "flows.parquet" in capsys.readouterr().err


def test_files_of_reports_and_of_the_user_are_no_damage(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = (
        ".report.html.17.partial",
        ".claims.json.1.partial",
        "manifest.json.sig",
        ".writing-manifest.json",
    )
    for name in (*names, "notes.txt", "report.html"):
        (stored / name).write_text("x")
    refuse_damage([stored], is_accepted=True)
    assert capsys.readouterr().err == "", "accepted damage is named"


def test_a_run_that_was_killed_is_not_damaged(stored: Path) -> None:
    """Its last cells are in no manifest yet."""
    made = Manifest.model_validate(manifest([cell()], status="running"))
    record = made.cells[0].model_dump_json()
    made.cells[0].status = CellStatus.PENDING
    write_manifest(stored, made)
    directory = stored / "cells" / made.cells[0].id
    (stored / "cells" / "a").rename(directory)
    (directory / "cell.json").write_text(record)
    refuse_damage([stored], is_accepted=False)


def test_two_files_are_counted_and_named(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (stored / "cells" / "a" / "flows.parquet").unlink()
    (stored / "cells" / "a" / "more.parquet").write_bytes(b"")
    refuse_damage([stored], is_accepted=True)
    printed = capsys.readouterr().err
    assert printed.startswith(f"rogue: {stored}: 2 files are not as the run wrote them:\n  cells/a/")


def test_an_output_file_is_written_with_its_directories_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "new/below/claims.json"
    for text in ("earlier\n", "µs\n"):
        write_output(file, text)
    assert file.read_text(encoding="utf-8") == "µs\n"
    assert [each.name for each in file.parent.iterdir()] == ["claims.json"]
    with pytest.raises(StorageError, match="got 'File exists', expected a file to write; name another"):
        write_output(file / "cards.json", "{}")


FILE = "cells/rogue-r1/flows.parquet"


def written(directory: Path, *, is_readable: bool = True) -> Path:
    """A run of one cell, whose manifest promises the table that is there."""
    write_table(directory / FILE, "flows", filled("flows", [transfer("main/h0->h1", fct_ns=SECOND)]))
    if not is_readable:
        (directory / FILE).write_bytes(b"PAR1 or not")
    write_sample_manifest(directory, manifest([cell()]))
    return directory


def test_unreadable_table_is_reported_before_the_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its checksum is right: nothing but reading finds it."""
    runs = written(tmp_path / "a"), written(tmp_path / "b", is_readable=False)
    with pytest.raises(UsageError, match="expected two runs with a transport and factor point in common"):
        compare(*runs, everything=True)
    said = capsys.readouterr().err
    assert said.startswith(f"rogue: {runs[1]}: {FILE} is not a readable Parquet file (")
    assert said.count("\n") == 1


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("results") / "run"
    return write_sample_run(directory, Sample(repetitions=1, seconds=1.0))


@pytest.fixture
def asked(run: Path, tmp_path: Path) -> dict[str, Any]:
    return {"run": run, "only": ["throughput"], "formats": "csv", "out": tmp_path / "out"}


def test_files_are_written_beside_the_run_by_default(
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
    monkeypatch.setattr("rogue.reports.claims.read_claims", lambda: [claim_of(experiments=["quickstart"])])
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
