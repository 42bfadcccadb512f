"""Dell OS10. Commands as in the SmartFabric OS10 User Guide, chapter Quality of Service."""

from pathlib import Path

import pytest
from helpers.fake_os10 import FakeOs10
from helpers.fake_switch import wanted
from helpers.switch_contract import SwitchContract

from rogue.harness.provisioning.switches.readback import marking_reported, priority_reported
from rogue.harness.provisioning.switches.registry import PLATFORMS

Os10 = type(PLATFORMS["os10"])

WANTED = wanted("os10", ("ethernet1/1/1",))
GOLDEN = """\
configure terminal
trust dscp-map rogue-dscp
exit
trust dscp-map rogue-dscp
qos-group 3 dscp 26
exit
wred rogue-3
exit
wred rogue-3
random-detect color green minimum-threshold 150 maximum-threshold 1500 drop-probability 10
random-detect ecn
exit
class-map type queuing rogue-queue-3
exit
class-map type queuing rogue-queue-3
match queue 3
exit
policy-map type queuing rogue-queues
exit
policy-map type queuing rogue-queues
class rogue-queue-3
exit
exit
policy-map type queuing rogue-queues
class rogue-queue-3
random-detect rogue-3
exit
exit
class-map type network-qos rogue-pause-3
exit
class-map type network-qos rogue-pause-3
match qos-group 3
exit
policy-map type network-qos rogue-pauses
exit
policy-map type network-qos rogue-pauses
class rogue-pause-3
exit
exit
policy-map type network-qos rogue-pauses
class rogue-pause-3
pause
pfc-cos 3
exit
exit
interface ethernet1/1/1
trust-map dscp rogue-dscp
service-policy output type queuing rogue-queues
flowcontrol receive off
priority-flow-control mode on
service-policy input type network-qos rogue-pauses
exit
end
"""
PORT = ("interface ethernet1/1/1",)


@pytest.fixture
def switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeOs10:
    """Somebody's own policy is on the port."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    os10 = FakeOs10()
    os10.running.open(("policy-map type queuing ets",))
    os10.running.put(PORT, "service-policy output type queuing", "service-policy output type queuing ets")
    os10.running.put(PORT, "flowcontrol receive", "flowcontrol receive on")
    return os10


class TestContract(SwitchContract):
    wanted, golden = WANTED, GOLDEN
    rejected = ("match queue 3", "service-policy input type network-qos rogue-pauses")
    lost = "pfc-cos 3"


@pytest.mark.parametrize(
    ("settings", "mistake"),
    [
        ({"headroom_bytes": 1}, "got headroom_bytes, expected none, as OS10 sizes it by itself"),
        ({"marks": {"from_bytes": 1, "to_bytes": 2000}}, "got 1 bytes, expected a multiple of 1000"),
        (
            {"marks": {"from_bytes": 1000, "to_bytes": 12_481_000}},
            "got 12481000 bytes, expected 12480 KB at most",
        ),
        (
            {"marks": {"from_bytes": 1000, "to_bytes": 2000, "probability": 0.001}},
            "got probability 0.001, expected whole percent, such as 0.01",
        ),
    ],
)
def test_what_it_cannot(settings: dict[str, object], mistake: str) -> None:
    assert Os10().mistake(wanted("os10", switch_priorities={"3": settings})) == f"priority 3: {mistake}"
    assert Os10().mistake(WANTED) is None


PORT = ("interface ethernet1/1/1",)
THEIRS: dict[tuple[str, ...], tuple[str, ...]] = {
    PORT: ("service-policy output type queuing theirs",),
    ("policy-map type queuing theirs", "class lossless"): ("random-detect steep",),
    ("class-map type queuing lossless",): ("match queue 4",),
    ("wred steep",): (
        "random-detect color green minimum-threshold 100 maximum-threshold 200 drop-probability 50",
        "random-detect ecn",
    ),
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, {4: priority_reported(marks=marking_reported(100_000, 200_000, 50))}),
        ({("wred steep",): ("random-detect ecn",)}, None),
        ({("wred steep",): THEIRS["wred steep",][:1]}, None),
        ({("class-map type queuing lossless",): ("match qos-group 4",)}, None),
        ({("policy-map type queuing theirs", "class lossless"): ("bandwidth percent 30",)}, {}),
        ({PORT: ()}, {}),
        ({PORT: ("channel-group 5 mode active",)}, None),
        ({PORT: ("service-policy output type queuing elsewhere",)}, None),
    ],
)
def test_policies_of_others_are_read_in_numbers_or_not_at_all(
    changed: dict[tuple[str, ...], tuple[str, ...]], expected: dict[int, object] | None
) -> None:
    assert Os10().standing({**THEIRS, **changed}, "", WANTED).ports["ethernet1/1/1"].priorities == expected


def test_without_pfc_on_the_port_nothing_pauses() -> None:
    pauses: dict[tuple[str, ...], tuple[str, ...]] = {
        PORT: ("service-policy input type network-qos p", "priority-flow-control mode on"),
        ("policy-map type network-qos p", "class c"): ("pause", "pfc-cos 3"),
        ("class-map type network-qos c",): ("match qos-group 3",),
    }
    assert Os10().standing(pauses, "", WANTED).ports["ethernet1/1/1"].priorities == {
        3: priority_reported(pauses=True)
    }
    without = {**pauses, PORT: pauses[PORT][:1]}
    assert Os10().standing(without, "", WANTED).ports["ethernet1/1/1"].priorities == {}
