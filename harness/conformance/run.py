"""Run the experiments of all checks as the cells of one run, and read their packets."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import pandas as pd
from pydantic_core import PydanticCustomError

from rogue.harness.cell.cell import Cell
from rogue.harness.conformance.check import Check, Outcome, all_checks, outcome_of
from rogue.harness.conformance.trace import Network, Trace, traces_of
from rogue.harness.data.nic_profile import read_nic_profile
from rogue.harness.data.source import read_source
from rogue.harness.errors import UsageError
from rogue.harness.execution.scheduler import Watcher
from rogue.harness.execution.task import Task
from rogue.harness.experiment.find import load_named
from rogue.harness.plan.plan import Plan, PlannedCell, make_plan
from rogue.harness.results.recorded_run import Run
from rogue.harness.run import Workers, tasks_of, work_through
from rogue.harness.testbeds import DEFAULT_TESTBED
from rogue.harness.testbeds.base import Testbed
from rogue.harness.testbeds.simulator.nics import measured_profile
from rogue.reports.reading.load import Run as ReadRun
from rogue.simulator import PROFILES, NicProfile
from rogue.workloads.printable import did_you_mean
from rogue.workloads.records import CellStatus
from rogue.workloads.topologies.nic_file import SUFFIXES
from rogue.workloads.topologies.small_networks import Star

EXPERIMENT: Final = "conformance.yml"
TIMEOUT_EXPONENT: Final = 14
"""The experiment's timeout attribute: 67 ms, a common default of NICs."""
RETRY_COUNT: Final = 7
TIMEOUT_UNIT_NS: Final = 4_096.0
"""Source: InfiniBand Architecture, volume 1, 9.7.6.1.3."""
SLOW_TESTBED: Final = "virtual"
SLOW_TIMEOUT_EXPONENT: Final = 17
"""537 ms, because emulated processors pause for longer than 67 ms."""


def profile_named(nic: str | None) -> NicProfile | None:
    """Return the profile of that name; UsageError if there is none."""
    if nic is None or nic in PROFILES:
        return PROFILES[nic] if nic else None
    if nic.endswith(SUFFIXES):
        try:
            return measured_profile(read_nic_profile(read_source(Path(nic), nic)))
        except PydanticCustomError as error:
            words = error.context or {}
            got = f"--nic: got {words['got']}, expected {words['expected']}"
            raise UsageError(f"{got}; {words['advice']}.") from error
    advice = did_you_mean(nic, PROFILES, "leave it out for the usual one")
    raise UsageError(f"--nic: got {nic!r}, expected one of {', '.join(PROFILES)}, or a YAML file; {advice}.")


def built_in_name(nic: str | None) -> str | None:
    """Return the profile of the simulator that a profile is, or is like; `nic` has been read before."""
    if nic is None or nic in PROFILES:
        return nic
    return read_nic_profile(read_source(Path(nic), nic)).like


def plan_base(testbed: Testbed, nic: str | None) -> Plan:
    """Plan the experiment that all checks start from; its own cell does not run."""
    return replace(make_plan(load_named(EXPERIMENT, _settings({}, nic, testbed)), testbed), cells=())


def plan_check(check: Check, testbed: Testbed, nic: str | None) -> Plan:
    """Plan the one cell of a check."""
    return make_plan(load_named(EXPERIMENT, _settings(check.settings, nic, testbed)), testbed)


def _settings(settings: Mapping[str, object], nic: str | None, testbed: Testbed) -> tuple[str, ...]:
    named = str(Path(nic).resolve()) if nic and nic.endswith(SUFFIXES) else nic
    own: dict[str, object] = {"topology.nic": named} if named else {}  # nodes have their own
    if testbed.name.partition(":")[0] == SLOW_TESTBED:
        timing = {"timeout_exponent": SLOW_TIMEOUT_EXPONENT, "retry_count": RETRY_COUNT}
        own["transports"] = [{"name": "roce", "label": "roce", **timing}]
    return tuple(f"{key}={json.dumps(value)}" for key, value in {**own, **settings}.items())


def plan_all(testbed: Testbed, nic: str | None) -> dict[str, Plan]:
    """Plan each check that has an experiment, by name."""
    own = {name: check for name, check in all_checks().items() if check.unavailable is None}
    return {name: plan_check(check, testbed, nic) for name, check in own.items()}


def planned_cells(plans: Mapping[str, Plan]) -> list[PlannedCell]:
    """Return the cells that run, under the names of their checks."""
    own = [(name, planned) for name, plan in plans.items() for planned in plan.runnable]
    return [replace(planned, cell=replace(planned.cell, id=name)) for name, planned in own]


def run_all(run: Run, plans: Mapping[str, Plan], jobs: int, watcher: Watcher) -> None:
    """Run the cells of all plans, each under the name of its check; the caller holds the lock of the run."""
    tasks = [_named(task, name) for name, plan in plans.items() for task in tasks_of(run, plan)]
    run.manifest.cells.extend(task.record.model_copy(deep=True) for task in tasks)
    runnable = [task for task in tasks if task.record.status is not CellStatus.UNSUPPORTED]
    work_through(run, runnable, Workers(jobs), watcher)


def _named(task: Task, name: str) -> Task:
    record = task.record.model_copy(update={"id": name, "factors": {"check": name}})
    return replace(task, cell=replace(task.cell, id=name), record=record)


def read_all(run: Run, plans: Mapping[str, Plan], nic: NicProfile | None) -> Iterator[Outcome]:
    """Read the packets of each check's cell."""
    read = ReadRun(run.directory, run.manifest)
    records = {cell.id: cell for cell in run.manifest.cells}
    for name, check in all_checks().items():
        reason = check.unavailable
        if reason is None and records[name].status is not CellStatus.OK:
            reason = records[name].message or str(records[name].status)
        if reason is not None:
            yield Outcome(name, check, reason=reason)
        else:
            tables = {table: read.table(name, table) for table in TABLES}
            cell = plans[name].cells[0].cell
            traces = check_traces(cell, tables, is_simulated=run.manifest.testbed == DEFAULT_TESTBED)
            yield outcome_of(name, traces, nic)


TABLES: Final = ("packets", "flows", "throughput")
"""Tables that checks read."""


def check_traces(
    cell: Cell, tables: Mapping[str, pd.DataFrame | None], *, is_simulated: bool = True
) -> list[Trace]:
    """Return the traces of a check's cell, with what its tables say besides.

    A Linux switch records a packet when it forwards it, behind the delay of the link before.
    """
    packets, flows, throughput = (tables.get(name) for name in TABLES)
    topology = cell.topology
    assert isinstance(topology, Star), "the experiment of all checks"
    if packets is None:
        return []
    exponent = cell.transport.parameters.get("timeout_exponent", TIMEOUT_EXPONENT)
    assert isinstance(exponent, int)
    network = Network(topology.rate_bps, topology.delay_ns) if is_simulated else None
    found = traces_of(packets, network, flows)
    delivered = None if throughput is None else int(throughput["delivered_bytes"].sum())  # of the only flow
    return [
        replace(
            trace,
            timeout_ns=TIMEOUT_UNIT_NS * 2**exponent,
            retry_count=RETRY_COUNT,
            delivered_bytes=delivered,
        )
        for trace in found
    ]
