"""`rogue claims`: write every claim with its best evidence over many runs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands.opening import is_as_noted, refuse_damage, refuse_unread, write_output
from rogue.harness.commands.options import AcceptsDamage, AsJson
from rogue.harness.commands.report import note_report_files
from rogue.harness.errors import ExitCode, HarnessError, UsageError
from rogue.harness.results.named_run import DEFAULT_OUT
from rogue.harness.results.run_directory import locked, write_whole
from rogue.harness.terminal import CountDisplay, align, inform, notify, print_document
from rogue.reports.errors import ReportError
from rogue.reports.reading.files import read_manifest
from rogue.workloads.manifest import MANIFEST
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.reports.board import BoardClaim, BoardRun, Earlier, StoredOutcome


PAGE: Final = "claims.html"
CONTENT: Final = "claims.json"


def claims(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RESULTS...",
            help="Directories with runs, or claims.json of an earlier board; by default results.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The page; claims.json is written beside it. By default claims.html below RESULTS.",
        ),
    ] = None,
    readme: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the headline between its marks in this file.")
    ] = None,
    as_json: AsJson = False,
    accepts_damage: AcceptsDamage = False,
) -> ExitCode:
    """Compare all runs with all claims, and write the claims board.

    The board has the best evidence for each claim: real hardware, then the experiment that was written for
    the claim, then the number of seeds, then a commit without changes, then the newest run; the verdict plays
    no part. The headline counts only claims that are published, unfitted and not vacuous alone, and whose
    tolerance leaves more than the order of magnitude; the others have badges. Each verdict names its seeds,
    its commit and its day. The claims.json of an earlier board keeps the evidence of runs that are not on
    this computer. --json prints the new claims.json, and the path of the page as `page`.

    \b
      rogue claims
      rogue claims results docs/claims/claims.json --out docs/claims/index.html --readme README.md
      rogue claims results elsewhere/results --out claims.html
    """
    from rogue.reports.board import best_evidence, board_content, board_page
    from rogue.reports.claims import read_claims

    named = tuple(results or ()) or (DEFAULT_OUT,)
    earlier = _earlier([each for each in named if each.is_file()])
    page = out or _default_page(named[0])
    if (page.parent / MANIFEST).exists():
        got = f"{page}, which is in the directory of a run"
        raise UsageError(f"claims --out: got {got}, expected a place outside of runs; name another.")
    runs = find_runs([each for each in named if not each.is_file()])
    if not runs and not earlier:
        got = ", ".join(map(str, named))
        raise UsageError(f"claims: got {got} without any run, expected some; `rogue run` makes them.")
    runs = refuse_unread(runs, is_accepted=accepts_damage)
    refuse_damage(runs, is_accepted=accepts_damage)
    judged = [each for found in earlier.values() for each in found.judged]
    board = best_evidence(read_claims(), [*judged, *_judged(runs)])
    _check_left_out(earlier, board, page.with_name(CONTENT))
    write_output(page, board_page(board, page.parent))
    content = board_content(board)
    write_output(page.with_name(CONTENT), json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    if readme is not None:
        _put_tally(readme, board)
    if as_json:
        print_document({**content, "page": page})
    else:
        _print(board)
        typer.echo(page)
    return ExitCode.OK


def _default_page(place: Path) -> Path:

    if place.is_file():
        return place.parent / PAGE
    return (place.resolve().parent if (place / MANIFEST).exists() else place) / PAGE


def find_runs(places: Sequence[Path]) -> list[Path]:
    """Return the run directories at and below some places, each once, in the order of their names."""

    found: dict[Path, Path] = {}
    for place in places:
        if not place.is_dir():
            raise UsageError(f"claims: got {place}, expected a directory with runs; `rogue run` makes them.")
        for directory, below, files in os.walk(place):
            below.sort()
            if MANIFEST in files:
                below.clear()
                found.setdefault(Path(directory).resolve(), Path(directory))
    return list(found.values())


def _earlier(boards: Sequence[Path]) -> dict[Path, Earlier]:
    """Read the verdicts of earlier boards."""
    from rogue.reports.board import read_earlier
    from rogue.reports.claims import read_claims

    try:
        return {board.resolve(): read_earlier(board, read_claims()) for board in boards}
    except ReportError as error:
        raise UsageError(f"claims: {error}") from error


def _check_left_out(earlier: dict[Path, Earlier], board: Sequence[BoardClaim], target: Path) -> None:
    """Report claims that lose their earlier verdict; UsageError if the new board replaces the only copy."""
    without_run = {each.claim.id for each in board if each.run is None}
    for path, each in earlier.items():
        left_out = ", ".join(name for name in each.left_out if name in without_run)
        if left_out and path == target.resolve():
            got = f"got {path}, and the new board would lose its verdicts of {left_out}"
            advice = "whose definition has changed; expected another file; name one."
            raise UsageError(f"claims --out: {got}, {advice}")
        if left_out:
            notify(f"{path}: left out, since their definition has changed: {left_out}")


def _judged(runs: Sequence[Path]) -> Iterator[tuple[BoardRun, list[StoredOutcome]]]:
    """Read the outcomes of each run; evaluate the claims again if the stored outcomes are old or missing."""
    from rogue.reports.board import BoardRun, stored_outcomes

    with CountDisplay(sys.stderr) as counted:
        for number, run in enumerate(runs, start=1):
            try:
                facts = BoardRun.of(run, read_manifest(run))
                outcomes = stored_outcomes(run) if is_as_noted(run, CONTENT) else None
                if outcomes is None:
                    inform(f"run {number} of {len(runs)}: {run} is evaluated")
                    outcomes = _evaluated(run)
                yield facts, outcomes
            except ReportError as error:
                notify(f"left out: {error}")
            counted(number, len(runs), "reading runs")


def _evaluated(run: Path) -> list[StoredOutcome]:
    """Compare a run with the claims; store the outcome in the run if it is writable and not locked."""
    from rogue.reports.board import evaluated

    text, outcomes = evaluated(run)
    try:
        with locked(run):
            write_whole(run / CONTENT, text.encode())
            note_report_files(run)
    except (OSError, HarnessError):
        pass  # another user's run: its verdicts are shown, and it stays as it is
    return outcomes


def _put_tally(readme: Path, board: Sequence[BoardClaim]) -> None:
    from rogue.reports.board import Counts, markdown, with_tally

    try:
        written = with_tally(readme.read_text(encoding="utf-8"), markdown(Counts.of(board)))
        write_output(readme, written)
    except (OSError, ReportError) as error:
        raise UsageError(f"claims --readme: {readme}: {error}") from error


def _print(board: Sequence[BoardClaim]) -> None:
    from rogue.reports.board import Counts, tally
    from rogue.reports.board.page import claim_lines

    counts = Counts.of(board)
    papers = list(tally.papers_of(each.claim for each in board))
    for table in (claim_lines(board), tally.tally_table(counts.headline, papers), tally.badge_table(counts)):
        typer.echo("\n".join(map(printable, align(table))) + "\n")
    typer.echo(tally.runs_sentence(board))
    typer.echo(tally.headline_sentence(counts))
    typer.echo(tally.badged_sentence(counts))
