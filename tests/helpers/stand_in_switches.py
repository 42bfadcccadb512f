"""A stand-in of each platform's switch with settings of its owner, and the settings that tests request."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from helpers.fake_command_lines import FakeComware, FakeEos, FakeOnyx
from helpers.fake_shell_switches import FakeNvue, FakeSonic
from helpers.fake_switch import LOSSLESS, wanted

from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables


@dataclass(frozen=True)
class StandIn:
    """A stand-in with its requested settings and the commands that fail."""

    make: Callable[[], Any]
    wanted: HardwareSwitchVariables
    rejected: tuple[str, ...]
    """Commands that the switch rejects, one each time."""
    lost: str
    """The command during which the session ends."""
    state: Callable[[Any], Any] = field(default=lambda switch: sorted(switch.running.shown()))
    """What is to be as before after undo."""


def eos() -> FakeEos:
    """Queue 3 marks from another threshold, priority 4 pauses, and DSCP 26 is in another class."""
    switch, port = FakeEos(), ("interface Ethernet1",)
    threshold = "9 bytes maximum-threshold 9 bytes max-mark-probability 100 weight 0"
    marks = f"random-detect ecn minimum-threshold {threshold}"
    switch.running.open((*port, "uc-tx-queue 3"))
    switch.running.put((*port, "uc-tx-queue 3"), "random-detect ecn minimum-threshold", marks)
    pauses = "priority-flow-control priority 4 no-drop"
    switch.running.put(port, pauses, pauses)
    switch.running.put((), "qos map dscp 26", "qos map dscp 26 to traffic-class 5")
    switch.running.put(("interface Ethernet2",), "qos trust", "no qos trust")
    return switch


def comware() -> FakeComware:
    """The port has another table."""
    switch = FakeComware()
    switch.running.open(("qos wred queue table theirs",))
    switch.running.put(("interface Ten-GigabitEthernet1/0/1",), "qos wred apply", "qos wred apply theirs")
    return switch


def cumulus() -> FakeNvue:
    """Both ports have another profile."""
    switch = FakeNvue()
    for port in ("swp1", "swp2"):
        key = f"interface {port} qos congestion-control profile"
        switch.applied[key] = f"{key} theirs"
    return switch


def onyx() -> FakeOnyx:
    """Port 1/2 marks from another threshold, and priority 5 of all ports pauses."""
    switch = FakeOnyx()
    key = "interface ethernet 1/2 traffic-class 3 congestion-control"
    switch.running[key] = f"{key} ecn minimum-absolute 70 maximum-absolute 70"
    pauses = "dcb priority-flow-control priority 5 enable"
    switch.running[pauses] = pauses
    return switch


def sonic() -> FakeSonic:
    """Another profile marks queue 4, and priority 4 pauses as well."""
    switch = FakeSonic()
    switch.tables["WRED_PROFILE"] = {"AZURE": {"ecn": "ecn_all"}}
    switch.tables["QUEUE"]["Ethernet4|4"] = {"scheduler": "scheduler.1", "wred_profile": "AZURE"}
    switch.tables["PORT_QOS_MAP"] = {"Ethernet4": {"pfc_enable": "3,4", "pfcwd_sw_enable": "3,4"}}
    return switch


def _priority_3(**settings: Any) -> dict[str, Any]:
    return {"3": {**LOSSLESS["3"], **settings}}


PAPERS_RED = {
    "from_bytes": 99 * 2110,
    "to_bytes": 38_000 * 2110,
    "average_weight": 2**-9,
    "drops_above": True,
}
"""RoGUE (SoCC 2018), section 4, in packets of 2110 bytes; the average is that of HPE's manuals."""
_SURE = {"from_bytes": 150_000, "to_bytes": 1_500_000}
PATCH = "sudo config apply-patch /dev/stdin"
STAND_INS = {
    "comware": StandIn(
        comware,
        wanted(
            "comware",
            ("Ten-GigabitEthernet1/0/1",),
            switch_priorities=_priority_3(marks=PAPERS_RED),
            switch_cell_bytes=2110,
            switch_loses_one_in={"Ten-GigabitEthernet1/0/1": 4096},
        ),
        ("queue 3 ecn", "priority-flow-control no-drop dot1p 3"),
        "priority-flow-control enable",
    ),
    "cumulus": StandIn(
        cumulus,
        wanted("cumulus", ("swp1", "swp2")),
        (
            "nv set qos mapping rogue trust l3",
            "nv set qos congestion-control rogue traffic-class 3 max-threshold 1500000",
            "nv config apply -y",
        ),
        "nv set qos congestion-control rogue traffic-class 3 min-threshold 150000",
        lambda switch: sorted(switch.applied.values()),
    ),
    "eos": StandIn(
        eos, wanted("eos"), ("uc-tx-queue 3", "priority-flow-control on"), "priority-flow-control on"
    ),
    "onyx": StandIn(
        onyx,
        wanted("onyx", ("1/1", "1/2"), switch_priorities=_priority_3(marks=_SURE)),
        ("dcb priority-flow-control enable force", "interface ethernet 1/1 qos trust L3"),
        "interface ethernet 1/1 dcb priority-flow-control mode on force",
        lambda switch: sorted(switch.shown()),
    ),
    "sonic": StandIn(
        sonic,
        wanted("sonic", ("Ethernet0", "Ethernet4"), switch_priorities=_priority_3(headroom_bytes=35_776)),
        (PATCH,),
        PATCH,
        lambda switch: deepcopy(switch.tables),
    ),
}
