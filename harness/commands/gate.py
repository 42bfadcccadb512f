"""`rogue gate`: fail if a run is worse than its baseline, or if a control has a new weakness."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rogue.harness.commands import options as opt
from rogue.harness.commands.opening import open_runs, write_output
from rogue.harness.commands.search import tried_weaknesses
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.experiment.find import found_files
from rogue.harness.plugins.trust import Trust
from rogue.harness.results.named_run import DEFAULT_OUT
from rogue.harness.terminal import inform, notify, print_document
from rogue.harness.testbeds import ready_testbed
from rogue.workloads.printable import printable

if TYPE_CHECKING:
    from rogue.reports.comparison.checks import Check


def gate(
    baseline: Annotated[Path, opt.run_argument(metavar="BASELINE")],
    candidate: Annotated[Path, opt.run_argument(metavar="CANDIDATE")],
    margin: opt.Margin = 0.05,
    transport: Annotated[
        str | None, typer.Option(metavar="NAME", help="Also try the known weaknesses with this transport.")
    ] = None,
    findings: Annotated[
        list[str] | None,
        typer.Option("--finding", metavar="FINDING", help="Try only this weakness; repeatable."),
    ] = None,
    shares: Annotated[
        list[str] | None,
        typer.Option(
            "--shares", metavar="FINDING", help="A weakness that the transport may have; repeatable."
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the checks as JUnit XML.", dir_okay=False)
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a summary, with its figure beside it.", dir_okay=False),
    ] = None,
    as_json: opt.AsJson = False,
    out: opt.Out = None,
    jobs: opt.Jobs = None,
    plugins: opt.Plugins = None,
    trusts_plugins: opt.TrustsPlugins = False,
    accepts_damage: opt.AcceptsDamage = False,
) -> ExitCode:
    """Fail if a run is worse than its baseline, or a control has a new weakness.

    The exit code is then 9. Identical tables pass at once. Otherwise each measure of each setting is tested:
    it is worse if it moves in its worse direction by more than the margin, and by more than chance; false
    discoveries are on average at most 1 % of the rows that differ. Also a regression: a setting or a measure
    that only the baseline has, or of which fewer cells finish. A test needs two or more repetitions.

    With --transport, known weaknesses are tried as in `rogue weaknesses`, on the simulator. One that the
    transport shares fails the gate unless --shares names it.

    \b
      rogue gate results/main/* results/branch/*
      rogue gate results/main/* results/branch/* --junit gate.xml --markdown gate.md
      rogue gate results/main/* results/branch/* --transport roce+mine --plugin mine.py --shares oscillation
    """
    from rogue.reports.comparison import checks as shown
    from rogue.reports.comparison.gate import are_identical

    _check_options(transport, findings or [], shares or [])
    trust = Trust(tuple(plugins or ()), trusts_plugins)
    manifests = open_runs([baseline, candidate], trust, accepts_damage=accepts_damage)
    picture = None
    if are_identical(*manifests):
        found = [shown.Check("runs", "tables", shown.State.PASSED, "all tables are identical")]
        sentences = ["All tables are identical."]
    else:
        found, sentences, picture = _compared_checks(baseline, candidate, margin)
    if transport is not None:
        found += _weaknesses(transport, findings or [], shares or [], out or DEFAULT_OUT, plugins or [], jobs)
    if junit is not None:
        write_output(junit, shown.junit_text(found, f"{baseline} and {candidate}"))
        inform(f"JUnit: {junit}")
    if markdown is not None:
        beside = markdown.with_suffix(".svg")
        if picture is not None:
            write_output(beside, picture)
        write_output(markdown, shown.markdown_text(found, sentences, beside.name if picture else None))
        inform(f"summary: {markdown}")
    has_failed = shown.has_failed(found)
    if as_json:
        document = {"baseline": baseline, "candidate": candidate, "margin": margin, "failed": has_failed}
        print_document({**document, "checks": shown.content(found), "sentences": sentences})
    else:
        lines = [f"{each.state}: {each.group}, {each.name}: {each.text}" for each in shown.moved(found)]
        sentences = [*sentences, shown.summary(found), shown.answer(found)]
        typer.echo("\n".join(map(printable, [*lines, *sentences])))
    return ExitCode.REGRESSION if has_failed else ExitCode.OK


def _compared_checks(
    baseline: Path, candidate: Path, margin: float
) -> tuple[list[Check], list[str], str | None]:
    """Compare two runs that differ; return the checks, sentences about them, and a figure as SVG."""
    from rogue.reports.comparison.checks import has_failed
    from rogue.reports.comparison.gate import MovedPicture, checks_of, has_test
    from rogue.reports.comparison.two_runs import compare, conclusions, other_differences
    from rogue.reports.quantities import counted
    from rogue.reports.reading.load import Run
    from rogue.reports.results import Results

    results = Results(Run(baseline)), Results(Run(candidate))
    for each in results:
        for problem in each.run.problems:
            notify(f"{each.run.directory}: {problem}")
    compared = compare(*results, margin)
    if not compared:
        expected = "two runs with a transport and factor point in common that finished in both"
        raise UsageError(f"gate: got {baseline} and {candidate}, expected {expected}.")
    found = checks_of(compared, *results)
    if not has_failed(found) and not has_test(compared):
        runs = min(min(len(each.first), len(each.second)) for each in compared)
        expected = "enough for a test: two, four if their values are equal"
        raise UsageError(
            f"gate: got {counted(runs, 'run')} per setting, expected {expected}; set repetitions."
        )
    sentences = [*other_differences(*results), *conclusions(compared), f"The margin is {margin:.3g}."]
    return found, sentences, MovedPicture(compared, margin).svg()


def _check_options(transport: str | None, findings: list[str], shares: list[str]) -> None:
    """Refuse options about weaknesses that will not be tried."""
    if transport is None and (findings or shares):
        raise UsageError("gate: got --finding or --shares, expected --transport with it; name the transport.")
    names = [Path(each).stem for each in findings] or [each.stem for each in found_files()]
    if unknown := set(shares) - set(names):
        text = f"got --shares {', '.join(sorted(unknown))}, expected one of {', '.join(names)}"
        raise UsageError(f"gate: {text}.")


def _weaknesses(
    transport: str, findings: list[str], shares: list[str], place: Path, plugins: list[Path], jobs: int | None
) -> list[Check]:
    """Try known weaknesses; one that is shared fails unless it may be."""
    from rogue.harness.search.finding import Verdict
    from rogue.reports.comparison.checks import Check, State

    bed = ready_testbed("simulator", None, is_trusted=False, command="gate")
    found = []
    for each in tried_weaknesses(findings, transport, bed, place, (), plugins, jobs):
        state = State.PASSED
        if each.verdict is Verdict.UNKNOWN:
            state = State.OPEN
        elif each.verdict in (Verdict.SHARED, Verdict.PARTLY) and each.name not in shares:
            state = State.FAILED
        found.append(Check("known weaknesses", each.name, state, f"{transport} {each.verdict}; {each.text}"))
    return found
