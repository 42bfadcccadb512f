"""`rogue conformance`."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rogue.harness.commands import options as opt
from rogue.harness.commands.opening import write_output
from rogue.harness.errors import ExitCode, UsageError, termination_as_interrupt
from rogue.harness.results.named_run import DEFAULT_OUT
from rogue.harness.results.provenance import available_cores
from rogue.harness.results.run_directory import locked
from rogue.harness.terminal import align, error_console, inform, notify, print_document
from rogue.harness.testbeds import DEFAULT_TESTBED, ready_testbed
from rogue.reports.quantities import counted
from rogue.workloads.printable import printable
from rogue.workloads.records import CellStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rogue.harness.conformance.check import Outcome

USUAL_NIC: Final = {DEFAULT_TESTBED: "cx3pro"}
"""Profile that a testbed's NICs are compared with; of others it is that of Linux's soft-RoCE."""
OTHER_NIC: Final = "soft_roce"


def conformance(
    nodes: Annotated[
        str, typer.Argument(metavar="NODES", help="Inventory of the nodes to test; the same as --testbed.")
    ] = "",
    testbed: opt.TestbedName = DEFAULT_TESTBED,
    nic: Annotated[
        str | None,
        typer.Option("--nic", metavar="PROFILE", help="NIC profile to compare with: cx3pro, cx4, ideal ..."),
    ] = None,
    pcap: Annotated[
        Path | None,
        typer.Option("--pcap", metavar="FILE", help="Read a capture of RoCEv2 instead of running anything."),
    ] = None,
    write_profile: Annotated[
        Path | None,
        typer.Option("--write-profile", metavar="FILE", help="Write what was measured as a NIC profile."),
    ] = None,
    out: opt.Out = None,
    jobs: opt.Jobs = None,
    as_json: opt.AsJson = False,
    trusts_inventory: opt.TrustsInventory = False,
) -> ExitCode:
    """Test how NICs react to one lost, marked or late packet.

    Each check is an experiment of a few packets. Its result is `as specified`, `as the profile` (of the NIC
    that --nic names), `different`, or `not applicable` with the reason. --json prints
    the `device`, the profile `nic`, and in `checks` the results with their readings.

    \b
      rogue conformance
      rogue conformance --testbed kernel
      rogue conformance --pcap mirror.pcapng
    """
    if pcap is not None:
        stated = {"NODES": nodes, "--testbed": testbed != DEFAULT_TESTBED, "--out": out, "--jobs": jobs,
                  "--trust-inventory": trusts_inventory}  # fmt: skip
        if given := [name for name, value in stated.items() if value]:
            got = f"--pcap: got {', '.join(given)}, expected no option of a run"
            raise UsageError(f"{got}; leave out what a capture does not need.")
    if nodes:
        if testbed != DEFAULT_TESTBED:
            got = f"conformance: got {nodes} and --testbed {testbed}, expected one of them"
            raise UsageError(f"{got}; leave one out.")
        testbed = nodes
    if nic is None and pcap is None:
        nic = USUAL_NIC.get(testbed, OTHER_NIC)
    failed = 0
    if pcap is not None:
        device, outcomes = str(pcap), _read_capture(pcap, nic)
    else:
        device = testbed
        outcomes, failed = _run(testbed, nic, out or DEFAULT_OUT, jobs, is_trusted=trusts_inventory)
    if write_profile is not None:
        from rogue.harness.conformance.profile import measured_text
        from rogue.harness.conformance.run import built_in_name

        write_output(write_profile, measured_text(outcomes, device, built_in_name(nic)))
        inform(f"profile: {write_profile}")
    _print(outcomes, device, nic, as_json=as_json)
    if failed:
        notify(f"{counted(failed, 'cell')} failed, so that their checks have no result.")
    return ExitCode.CELLS_FAILED if failed else ExitCode.OK


def _run(
    testbed: str, nic: str | None, out: Path, jobs: int | None, *, is_trusted: bool
) -> tuple[Sequence[Outcome], int]:
    """Run all checks in one run directory, and write its page; return how many cells failed besides."""
    from rogue.harness.commands.growing_run import write_files
    from rogue.harness.conformance.run import (
        plan_all,
        plan_base,
        planned_cells,
        profile_named,
        read_all,
        run_all,
    )
    from rogue.harness.conformance.summary import JSON_FILE, PAGE, content, page_html
    from rogue.harness.progress import ProgressDisplay
    from rogue.harness.run import begin_run

    profile = profile_named(nic)
    found = ready_testbed(testbed, None, is_trusted=is_trusted, command="conformance")
    simulated = nic if testbed == DEFAULT_TESTBED else None
    plans = plan_all(found, simulated)
    command = ("rogue", *sys.argv[1:])
    run = begin_run(plan_base(found, simulated), out, command, datetime.now(UTC))
    with locked(run.directory), termination_as_interrupt():
        with ProgressDisplay(planned_cells(plans), error_console()) as display:
            run_all(run, plans, found.jobs(jobs or available_cores()), display)
        outcomes = list(read_all(run, plans, profile))
        page = page_html(outcomes, found.name, nic)
        write_files(run, {PAGE: page, JSON_FILE: json.dumps(content(outcomes, found.name, nic), indent=1)})
    inform(f"page: {run.directory / PAGE}")
    return outcomes, sum(cell.status is CellStatus.FAILED for cell in run.manifest.cells)


def _read_capture(file: Path, nic: str | None) -> Sequence[Outcome]:
    """Read the checks from the packets of a capture; UsageError if it has none of RoCEv2."""
    from rogue.harness.conformance.check import all_checks, outcome_of
    from rogue.harness.conformance.run import profile_named
    from rogue.harness.conformance.trace import traces_of
    from rogue.harness.data.capture import Capture
    from rogue.harness.data.captured_packets import packets_of_capture

    profile = profile_named(nic)
    capture = Capture(file)
    packets, undecided = packets_of_capture(capture)
    if capture.is_truncated:
        notify(f"{file}: the file ends within a frame; the {capture.frames_read} frames before it are read.")
    if undecided:
        got = f"{file}: {undecided} flows between the same hosts have the same packet numbers"
        notify(f"{got}; their ACKs are paired in the order of the first packets, which may be wrong.")
    traces = traces_of(packets)
    if not traces:
        got = f"{file}: got {capture.frames_read} frames without a RoCEv2 request over RC or UC"
        raise UsageError(f"{got}, expected packets to UDP port 4791; capture at a NIC or at a mirror port.")
    inform(f"{len(packets)} packets of {counted(len(traces), 'flow')}")
    return [outcome_of(name, traces, profile) for name in all_checks()]


def _print(outcomes: Sequence[Outcome], device: str, nic: str | None, *, as_json: bool) -> None:
    """Print the results: a table, or one JSON document."""
    from rogue.harness.conformance.summary import HEAD, conclusion, content, rows_of

    if as_json:
        print_document(content(outcomes, device, nic))
        return
    lines = align([HEAD, *(row for outcome in outcomes for row in rows_of(outcome))])
    typer.echo("\n".join(map(printable, [*lines, "", conclusion(outcomes)])))
