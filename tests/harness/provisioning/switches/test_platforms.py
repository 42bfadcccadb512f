"""Every platform keeps the same contract: exact commands, read back, rolled back, undone."""

import re
from pathlib import Path
from typing import Any

import pytest
from helpers.fake_switch import hardware, served_switch, wanted
from helpers.stand_in_switches import STAND_INS, StandIn
from pydantic import ValidationError

from rogue.harness.provisioning.switches import platform as module
from rogue.harness.provisioning.switches.operations import (
    OpenSwitch,
    apply,
    differences,
    open_switch,
    plan,
    plan_from_nothing,
    undo,
)
from rogue.harness.provisioning.switches.platform import PLATFORMS, Command, load_platform
from rogue.remote.errors import NodeError, RejectedError

PLANS = Path(__file__).parent / "plans"
DATA = Path(module.__file__).parent / "platforms"


@pytest.fixture(params=PLATFORMS)
def sample(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return STAND_INS[request.param]


def golden(sample: StandIn) -> list[str]:
    """Return the commands for a switch without settings, for one with settings of its owner, and of undo."""
    text = (PLANS / f"{sample.wanted.switch_platform}.txt").read_text()
    return re.split(r"^# .*\n", text, flags=re.MULTILINE)[1:]


def shown(commands: list[Command]) -> str:
    return "".join(f"{each}\n" for each in commands)


def check_numbers(opened: OpenSwitch, sample: StandIn) -> None:
    state = opened.state(sample.wanted)
    for interface in sample.wanted.interfaces:
        for number, requested in sample.wanted.switch_priorities.items():
            found = state.port(interface).of_priority(number)
            assert found is not None
            assert (found.marks, found.pauses) == (requested.marks, requested.pauses)


def test_a_switch_is_planned_set_read_back_and_undone(sample: StandIn, tmp_path: Path) -> None:
    without, over, back = golden(sample)
    assert shown(plan_from_nothing(load_platform(sample.wanted.switch_platform), sample.wanted)) == without
    switch = sample.make()
    before = sample.state(switch)
    with (
        served_switch(tmp_path / "tor", switch) as served,
        open_switch(hardware(sample.wanted, served.login)) as opened,
    ):
        assert shown(plan(opened, sample.wanted)) == over
        assert sample.state(switch) == before, "a plan changes nothing"
        heard = len(switch.heard)
        commands = apply(opened, sample.wanted)
        assert shown(commands) == over
        read = opened.platform.data.read
        assert [each for each in switch.heard[heard:] if each != read] == [each.text for each in commands]
        assert (differences(opened, sample.wanted), apply(opened, sample.wanted)) == ([], [])
        check_numbers(opened, sample)
        assert shown(undo(opened)) == back
        assert sample.state(switch) == before
        assert (opened.ledger.changes(), undo(opened)) == ([], [])


def test_a_rejected_command_is_rolled_back(sample: StandIn, tmp_path: Path) -> None:
    for command in sample.rejected:
        switch = sample.make()
        before = sample.state(switch)
        with (
            served_switch(tmp_path / "tor", switch) as served,
            open_switch(hardware(sample.wanted, served.login)) as opened,
        ):
            switch.rejects = command
            with pytest.raises(RejectedError, match=re.escape(command)) as raised:
                apply(opened, sample.wanted)
            assert str(raised.value).endswith("; what came before it was put back")
            assert (sample.state(switch), opened.ledger.changes()) == (before, [])


def test_a_lost_session_is_undone_later(sample: StandIn, tmp_path: Path) -> None:
    switch = sample.make()
    before, switch.drops = sample.state(switch), sample.lost
    with served_switch(tmp_path / "tor", switch) as served:
        with (
            pytest.raises(NodeError, match="`rogue switch undo` puts them back"),
            open_switch(hardware(sample.wanted, served.login)) as opened,
        ):
            apply(opened, sample.wanted)
        with open_switch(hardware(sample.wanted, served.login)) as opened:
            undo(opened)
            assert (sample.state(switch), opened.ledger.changes()) == (before, [])


@pytest.mark.parametrize("platform", PLATFORMS)
def test_platform_file_cites_units_and_sources(platform: str) -> None:
    text = (DATA / platform / "platform.yaml").read_text()
    assert all(re.search(words, text) for words in ("# Units: ", "# Source: ", r"has run this\."))


MARKS = {"from_bytes": 208_000, "to_bytes": 208_000}
SLOPE = {**MARKS, "to_bytes": 416_000, "probability": 0.1}
WRED = {**MARKS, "drops_above": True}
PERCENT = "expected whole percent, such as 0.01"
POWER = "expected a power of two from 1/256 to 64, such as 0.0625"
NO_HEADROOM = "got headroom_bytes, expected none, as {} sizes it by itself"
PAUSE = {"pauses": True, "headroom_bytes": 9}


@pytest.mark.parametrize(
    ("platform", "settings", "mistake"),
    [
        *((each, {"dscp": [26], "marks": MARKS}, None) for each in PLATFORMS if each != "comware"),
        ("comware", {"dscp": [26], "marks": WRED}, None),
        ("comware", {"marks": {**WRED, "to_bytes": 416_000, "average_weight": 2**-9}}, None),
        *(
            (
                each,
                {"marks": WRED},
                f"got drops_above True, expected none, because {each} has no such setting",
            )
            for each in PLATFORMS
            if each != "comware"
        ),
        (
            "eos",
            {"marks": {**MARKS, "average_weight": 0.5}},
            "got average_weight 0.5, expected none, because eos has no such setting",
        ),
        *(
            (platform, {"marks": {**MARKS, "probability": 0.005}}, f"got probability 0.005, {PERCENT}")
            for platform in ("cumulus", "eos", "sonic")
        ),
        ("eos", {"marks": {**MARKS, "probability": 0.29}, "pauses": True}, None),
        ("eos", {"headroom_bytes": 9}, NO_HEADROOM.format("EOS")),
        (
            "eos",
            {"pause_alpha": 0.5},
            "got pause_alpha 0.5, expected none, because EOS has no such setting",
        ),
        (
            "eos",
            {"marks": {**MARKS, "to_bytes": 256_000_001}},
            "got 256000001 bytes, expected 256000000 at most",
        ),
        ("cumulus", {"headroom_bytes": 9}, NO_HEADROOM.format("Cumulus")),
        ("comware", {"headroom_bytes": 9}, NO_HEADROOM.format("Comware")),
        ("comware", {"dscp": [26, 0]}, "got dscp 0, expected 24 to 31, which Comware puts there by itself"),
        (
            "comware",
            {"marks": SLOPE},
            "got marks without drops_above, expected drops_above, because Comware drops all packets beyond "
            "to_bytes, also ECN-capable ones",
        ),
        (
            "comware",
            {"marks": {**WRED, "to_bytes": 7_904_001}},
            "got 7904001 bytes, expected at most 38000 cells, 7904000 bytes",
        ),
        ("comware", {"marks": {**WRED, "from_bytes": 37_999 * 208, "to_bytes": 38_000 * 208}}, None),
        (
            "comware",
            {"marks": {**WRED, "from_bytes": 38_000 * 208, "to_bytes": 38_000 * 208}},
            "got 7904000 bytes, expected at most 37999 cells, 7903792 bytes, as the high limit is a cell "
            "above",
        ),
        (
            "comware",
            {"marks": {**WRED, "from_bytes": 103}},
            "got 103 bytes, expected at least a cell, 208 bytes",
        ),
        (
            "comware",
            {"marks": {**WRED, "probability": 0.004}},
            "got probability 0.004, expected at least 0.01",
        ),
        (
            "comware",
            {"marks": {**WRED, "average_weight": 2**-16}},
            "got average_weight 1.52588e-05, expected at least 2^-15",
        ),
        ("onyx", {"dscp": [32]}, "got dscp 32, expected 24 to 31, which Onyx puts there by itself"),
        ("onyx", {"marks": SLOPE}, "got probability 0.1, expected 1, Onyx's own"),
        (
            "onyx",
            {"marks": {"from_bytes": 1500, "to_bytes": 2000}},
            "got 1500 bytes, expected a multiple of 1000",
        ),
        ("sonic", {"headroom_bytes": 9}, "got headroom_bytes without pauses, expected both"),
        ("sonic", {**PAUSE, "pause_alpha": 1 / 256}, None),
        ("sonic", {**PAUSE, "pause_alpha": 0.3}, f"got pause_alpha 0.3, {POWER}"),
        ("sonic", {**PAUSE, "pause_alpha": 1 / 512}, f"got pause_alpha 0.00195312, {POWER}"),
        (
            "sonic",
            {"pauses": True, "pause_alpha": 0.5},
            "got pause_alpha 0.5 without headroom_bytes, expected both, which are one profile",
        ),
    ],
)
def test_limits(platform: str, settings: dict[str, Any], mistake: str | None) -> None:
    found = load_platform(platform).mistake(wanted(platform, switch_priorities={"3": settings}))
    assert (found and f"got {found[1]}, expected {found[2]}") == mistake


def test_marks_in_cells_need_the_cell_size() -> None:
    without = wanted("comware", switch_priorities={"3": {"marks": MARKS}}, switch_cell_bytes=None)
    assert load_platform("comware").mistake(without) == (
        "priority 3", "marks without switch_cell_bytes", "the size of the switch's cells"
    )  # fmt: skip


@pytest.mark.parametrize("interface", ["Ethernet1; reload", "Ethernet1\nreload", "", "Ethernet 1", "$(id)"])
def test_interface_is_one_word(interface: str) -> None:
    with pytest.raises(ValidationError):
        wanted("eos", interfaces=(interface,))


@pytest.mark.parametrize("name", ["theirs; reboot", "`id`", '"a b"', "theirs|sh", "$(id)", "~", "*"])
def test_text_from_a_switch_is_checked_before_it_becomes_a_command(name: str) -> None:
    """A profile that undo could not bind again is refused before any change."""
    cumulus = load_platform("cumulus")
    variables = wanted("cumulus", ("swp1",))
    found = {(): (f"nv set interface swp1 qos pfc profile {name}",)}
    with pytest.raises(NodeError, match="expected"):
        cumulus.commands(cumulus.changes(variables, found), found)


def test_only_lines_of_inventory_ports_are_removed() -> None:
    pauses = ("priority-flow-control priority 5 no-drop",)
    found = {(f"interface Ethernet{number}",): pauses for number in (1, 2, 9)}
    changes = load_platform("eos").changes(wanted("eos", switch_priorities={}), found)
    assert [(change.context[0], change.off) for change in changes] == [
        ("interface Ethernet1", f"no {pauses[0]}"),
        ("interface Ethernet2", f"no {pauses[0]}"),
    ]


def test_default_dscps_of_eos_have_no_line() -> None:
    eos = load_platform("eos")
    requested = wanted("eos", switch_priorities={"3": {"dscp": [26, 0, 40]}})
    commands = [each.text for each in plan_from_nothing(eos, requested) if "map" in each.text]
    assert commands == ["qos map dscp 0 to traffic-class 3", "qos map dscp 40 to traffic-class 3"]
    found = {(): ("qos map dscp 26 to traffic-class 3", "qos map dscp 40 to traffic-class 3")}
    assert not any("dscp 26" in str(each) or "dscp 40" in str(each) for each in eos.changes(requested, found))


def test_unrequested_profiles_are_removed() -> None:
    found = {(): ("nv set qos pfc rogue switch-priority 5", "nv set interface swp1 qos pfc profile theirs")}
    less = wanted("cumulus", ("swp1",), switch_priorities={})
    assert [change.off for change in load_platform("cumulus").changes(less, found)] == [
        "nv unset qos pfc rogue switch-priority 5",
        "nv unset interface swp1 qos pfc profile",
    ]


@pytest.mark.parametrize(
    ("platform", "reply", "lines"),
    [
        (
            "cumulus",
            "nv set interface swp1-2,swp5s0 qos pfc profile a\nnv set qos pfc a switch-priority 3,5-6\nno\n",
            [
                *(f"nv set interface {each} qos pfc profile a" for each in ("swp1", "swp2", "swp5s0")),
                *(f"nv set qos pfc a switch-priority {each}" for each in (3, 5, 6)),
            ],
        ),
        (
            "onyx",
            "   interface ethernet 1/1-1/3 qos trust L3\n   lldp\n",
            [*(f"interface ethernet 1/{each} qos trust L3" for each in (1, 2, 3)), "lldp"],
        ),
    ],
)
def test_lists_and_ranges_of_ports_are_expanded(platform: str, reply: str, lines: list[str]) -> None:
    assert load_platform(platform).configuration(reply) == {(): tuple(lines)}


def test_comware_rounds_to_its_units_and_says_so() -> None:
    """Cells, percent and an exponent of the average: 720.2 of 208 bytes, 33.3 % and 2^-8.97."""
    marks = {"from_bytes": 149_800, "to_bytes": 1_500_000, "probability": 1 / 3, "average_weight": 0.002}
    comware, drops = load_platform("comware"), {"drops_above": True}
    asked = wanted("comware", switch_priorities={"3": {"marks": {**marks, **drops}}})
    assert comware.roundings(asked) == [
        "priority 3: got `marks from 149800 to 1500000 bytes, then with 0.333333 of an average with weight "
        "0.002, drops beyond`, rounded to `marks from 149760 to 1500096 bytes, then with 0.33 of an average "
        "with weight 0.00195312, drops beyond`"
    ]
    commands = {each.text for each in plan_from_nothing(comware, asked)}
    assert "queue 3 weighting-constant 9" in commands
    assert "queue 3 drop-level 0 low-limit 720 high-limit 7212 discard-probability 33" in commands
    exact = wanted("comware", switch_priorities={"3": {"marks": {**MARKS, **drops}}})
    assert comware.roundings(exact) == []


@pytest.mark.parametrize(("cells", "to_cells"), [(0.4, 0), (1, 0), (1.4, 0), (2, 2)])
def test_a_slope_of_one_comware_cell_is_a_step(cells: float, to_cells: int) -> None:
    """A step's high limit is one cell above its low limit, so it reads back as a slope of one cell does."""
    marks = {**WRED, "to_bytes": 208_000 + round(208 * cells), "probability": 0.5}
    requested = wanted("comware", switch_priorities={"3": {"marks": marks}})
    ((_, found),) = requested.marking
    assert load_platform("comware").rounded(found, 208).to_bytes == 208_000 + 208 * to_cells


@pytest.mark.parametrize("platform", [each for each in PLATFORMS if each != "comware"])
def test_losses_by_ip_id_are_refused_by_name(platform: str) -> None:
    asked = wanted(platform, switch_loses_one_in={"Ethernet1": 4096}, switch_priorities={})
    expected = f"none, because no documented command of {platform} matches the IP ID"
    assert load_platform(platform).mistake(asked) == ("switch_loses_one_in", "losses by IP ID", expected)


@pytest.mark.parametrize("losses", [{"Ethernet1": 1000}, {"Ethernet9": 4096}, {"Ethernet1": 2**17}])
def test_losses_are_a_power_of_two_at_a_known_port(losses: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        wanted("comware", switch_loses_one_in=losses)


def test_losses_of_another_experiment_are_removed() -> None:
    comware = load_platform("comware")
    asked = wanted("comware", switch_loses_one_in={"Ethernet1": 65_536}, switch_priorities={})
    found = {("interface Ethernet1",): ("packet-filter 5012 outbound", "packet-filter 3000 outbound")}
    assert [each.text for each in comware.commands(comware.changes(asked, found), found)] == [
        "interface Ethernet1",
        "undo packet-filter 5012 outbound",
        "quit",
        "acl number 5016",
        "quit",
        "acl number 5016",
        "rule 0 deny ipv4 ffff ffff 4 l4 12b7 ffff 2",
        "quit",
        "interface Ethernet1",
        "packet-filter 5016 outbound",
        "quit",
    ]
