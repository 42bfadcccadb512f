"""HPE Comware. Commands as in the FlexFabric 11900 ACL and QoS Configuration Guide."""

from pathlib import Path

import pytest
from helpers.fake_comware import FakeComware
from helpers.fake_switch import wanted
from helpers.switch_contract import SwitchContract

from rogue.harness.provisioning.switches.readback import marking_reported, priority_reported
from rogue.harness.provisioning.switches.registry import PLATFORMS

Comware = type(PLATFORMS["comware"])

STEP = {"from_bytes": 20_800, "to_bytes": 20_800}
PORT = "Ten-GigabitEthernet1/0/1"
WANTED = wanted(
    "comware",
    (PORT,),
    switch_priorities={"3": {"dscp": [26], "marks": STEP, "pauses": True}},
    switch_cell_bytes=208,
)
GOLDEN = """\
qos wred queue table rogue
quit
qos wred queue table rogue
queue 3 weighting-constant 0
queue 3 drop-level 0 low-limit 100 high-limit 101 discard-probability 100
queue 3 drop-level 1 low-limit 100 high-limit 101 discard-probability 100
queue 3 drop-level 2 low-limit 100 high-limit 101 discard-probability 100
queue 3 ecn
quit
interface Ten-GigabitEthernet1/0/1
qos trust dscp
qos wred apply rogue
priority-flow-control enable
priority-flow-control no-drop dot1p 3
quit
"""


@pytest.fixture
def switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeComware:
    """Somebody's own table is on the port."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    comware = FakeComware()
    comware.running.open(("qos wred queue table theirs",))
    comware.running.put((f"interface {PORT}",), "qos wred apply", "qos wred apply theirs")
    return comware


class TestContract(SwitchContract):
    wanted, golden = WANTED, GOLDEN
    rejected = ("queue 3 ecn", "priority-flow-control no-drop dot1p 3")
    lost = "priority-flow-control enable"


@pytest.mark.parametrize(
    ("settings", "cell_bytes", "mistake"),
    [
        ({"dscp": [26], "marks": STEP, "pauses": True}, 208, None),
        ({"headroom_bytes": 1}, 208, "got headroom_bytes, expected none, as Comware sizes it by itself"),
        ({"dscp": [0]}, 208, "got dscp 0, expected 24 to 31, which Comware puts there by itself"),
        (
            {"marks": STEP},
            None,
            "got marks without switch_cell_bytes, expected the size of the switch's cells",
        ),
        (
            {"marks": {**STEP, "to_bytes": 41_600}},
            208,
            "got marks with a slope, expected a step, as manuals contradict each other on probabilities",
        ),
        ({"marks": STEP}, 144, "got 20800 bytes, expected a multiple of 144"),
        ({"marks": STEP}, 1, "got 20800 bytes, expected fewer than 16000 cells"),
    ],
)
def test_what_it_cannot(settings: dict[str, object], cell_bytes: int | None, mistake: str | None) -> None:
    told = Comware().mistake(
        wanted("comware", switch_priorities={"3": settings}, switch_cell_bytes=cell_bytes)
    )
    assert told == (None if mistake is None else f"priority 3: {mistake}")


def test_what_others_have_bound_goes_without_its_name() -> None:
    found = {(f"interface {PORT}",): ("qos wred apply theirs", "priority-flow-control no-drop dot1p 4")}
    less = wanted("comware", (PORT,), switch_priorities={})
    assert [change.command for change in Comware().changes(less, found)] == [
        "undo qos wred apply",
        "undo priority-flow-control no-drop dot1p",
    ]


LEVELS = tuple(
    f"queue 5 drop-level {each} low-limit 10 high-limit 11 discard-probability 100" for each in range(3)
)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ((*LEVELS, "queue 5 ecn"), {5: priority_reported(marks=marking_reported(2_080, 2_080, 100))}),
        (LEVELS, None),
        ((*LEVELS[:2], "queue 5 ecn"), None),
        ((*LEVELS[:2], LEVELS[2].replace("low-limit 10", "low-limit 9"), "queue 5 ecn"), None),
        (tuple(line.replace("high-limit 11", "high-limit 90") for line in (*LEVELS, "queue 5 ecn")), None),
        ((), None),
    ],
)
def test_tables_of_others_are_read_in_numbers_or_not_at_all(
    table: tuple[str, ...], expected: dict[int, object] | None
) -> None:
    found: dict[tuple[str, ...], tuple[str, ...]] = {
        (f"interface {PORT}",): ("qos wred apply theirs",),
        ("qos wred queue table theirs",): table,
    }
    assert Comware().standing(found, "", WANTED).ports[PORT].priorities == expected
    unknown = wanted("comware", (PORT,), switch_priorities={}, switch_cell_bytes=None)
    assert Comware().standing(found, "", unknown).ports[PORT].priorities is None, "no size of a cell"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("enable", {3: priority_reported(pauses=True), 4: priority_reported(pauses=True)}),
        ("auto", None),
        ("", {}),
    ],
)
def test_a_port_pauses_where_it_is_enabled(state: str, expected: dict[int, object] | None) -> None:
    lines = (f"priority-flow-control {state}".strip(), "priority-flow-control no-drop dot1p 3,4")
    found = {(f"interface {PORT}",): lines}
    assert Comware().standing(found, "", WANTED).ports[PORT].priorities == expected
