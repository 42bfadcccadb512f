"""When a program of messages and computing is done."""

from pathlib import Path

import pytest
from helpers.experiments import SMALL, cell_of

from rogue.harness.execution.task import program_facts
from rogue.harness.testbeds.simulator import SimulatorTestbed

GOAL = "workload={kind: goal, file: own.goal}"
SEND = "num_ranks 2\nrank 0 {\ns: send 100000b to 1\nMORE0}\nrank 1 {\nr: recv 100000b from 0\nMORE1}\n"
US = 1_000


def measured(tmp_path: Path, text: str, *settings: str) -> tuple[dict[str, object], dict[str, list[object]]]:
    (tmp_path / "own.goal").write_text(text)
    cell = cell_of(tmp_path, "probe=null", "transports=[roce]", GOAL, *settings, text=SMALL)
    tables = SimulatorTestbed().run(cell, lambda _fraction: None).tables
    flows = {name: list(values) for name, values in tables["flows"].items()}
    return dict(program_facts(cell, {"flows": flows})), flows


def test_a_program_without_dependent_transfers_has_a_completion_time(tmp_path: Path) -> None:
    facts, flows = measured(tmp_path, SEND.replace("MORE0", "").replace("MORE1", ""))
    assert flows["arrived_ns"] == [None]
    assert facts == {"program_ns": flows["end_ns"][0] - flows["start_ns"][0]}  # type: ignore[operator]


@pytest.mark.parametrize(
    ("more0", "more1", "moment", "pause_ns"),
    [
        ("", "c: calc 700000\nc requires r\n", "end_ns", 700 * US),
        ("c: calc 700000\nc irequires s\n", "", "start_ns", 700 * US),
        ("", "c: calc 700000\nd: calc 300000\nc requires r\nd requires c\n", "end_ns", 1000 * US),
    ],
    ids=["after what arrived", "after a start", "twice"],
)
def test_the_last_computing_counts(
    tmp_path: Path, more0: str, more1: str, moment: str, pause_ns: int
) -> None:
    facts, flows = measured(tmp_path, SEND.replace("MORE0", more0).replace("MORE1", more1))
    whole_ns = int(str(flows[moment][0])) + pause_ns - int(str(flows["start_ns"][0]))
    assert facts == {"program_ns": whole_ns}


def test_computing_that_nothing_precedes_counts_from_the_start_of_its_host(tmp_path: Path) -> None:
    facts, flows = measured(tmp_path, SEND.replace("MORE0", "").replace("MORE1", "calc 5000000\n"))
    start_ns = int(str(flows["start_ns"][0]))
    assert 5_000 * US - start_ns <= int(str(facts["program_ns"])) <= 5_020 * US


def test_where_something_never_arrived_the_program_never_ended(tmp_path: Path) -> None:
    facts, _ = measured(tmp_path, SEND.replace("MORE0", "").replace("MORE1", ""), "time_limit=20us")
    assert facts == {"program_ns": None}


def test_other_traffic_has_no_such_time(tmp_path: Path) -> None:
    assert program_facts(cell_of(tmp_path), {"flows": {}}) == {}
