"""Tests: settings of switches in an inventory, and platforms from outside."""

import re
from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.fake_switch import wanted
from helpers.nodes import write_inventory
from pydantic import ValidationError

from rogue.harness.errors import ConfigError
from rogue.harness.provisioning.switches.change import Configuration, requested_changes
from rogue.harness.provisioning.switches.platform import Platform, switch_problems
from rogue.harness.provisioning.switches.readback import marking_reported, priority_reported
from rogue.harness.provisioning.switches.settings import Marking


def test_settings_in_words() -> None:
    message = str(wanted("eos"))
    assert message == "priority 3: marks from 150000 to 1500000 bytes, then with 0.1, pauses"
    step = wanted("eos", switch_priorities={"0": {"marks": {"from_bytes": 9, "to_bytes": 9}}})
    assert str(step) == "priority 0: marks beyond 9 bytes"
    assert str(wanted("eos", switch_priorities={})) == "no marks and no pauses"
    share = wanted("sonic", switch_priorities={"3": {"pauses": True, "pause_alpha": 0.5}})
    assert str(share) == "priority 3: pauses, pauses beyond 0.5 times the free buffer"


def test_priorities_of_a_dscp() -> None:
    variables = wanted("eos", switch_priorities={"3": {"dscp": [26]}, "4": {}, "5": {}})
    assert (variables.numbers_of(26), variables.numbers_of(0)) == ((3,), (4, 5))
    assert variables.of_dscp(26) == (variables.switch_priorities[3],)


@pytest.mark.parametrize(
    "marks",
    [
        {"from_bytes": 2, "to_bytes": 1},
        {"from_bytes": 0, "to_bytes": 1},
        {"from_bytes": 1, "to_bytes": 1, "probability": 0},
        {"from_bytes": 1, "to_bytes": 1, "percent": 3},
    ],
)
def test_invalid_marks_are_refused(marks: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Marking.model_validate(marks)


PORTS = [{"bridge": "s0", "interface": "Ethernet1", "peer": "h0"}]


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"switch_platform": "declared"}, None),
        ({"switch_platform": "eos", "switch_ports": PORTS}, None),
        (
            {"switch_platform": "eos"},
            "rack.yaml: tor.switch_ports: got nothing, expected the ports that experiments use; "
            "docs/how-to/hardware-switches.md says what each platform takes.",
        ),
        (
            {
                "switch_platform": "eos",
                "switch_ports": PORTS,
                "switch_priorities": {"3": {"headroom_bytes": 9}},
            },
            "rack.yaml: tor.switch_priorities, priority 3: got headroom_bytes, expected none, as EOS sizes "
            "it by itself; docs/how-to/hardware-switches.md says what each platform takes.",
        ),
        (
            {
                "switch_platform": "eos",
                "switch_ports": PORTS,
                "switch_follows_experiments": True,
                "switch_priorities": {"3": {"dscp": [26]}},
            },
            None,
        ),
        (
            {
                "switch_platform": "eos",
                "switch_ports": PORTS,
                "switch_follows_experiments": True,
                "switch_priorities": {"3": {"pauses": True}},
            },
            "rack.yaml: tor.switch_priorities, priority 3: got pauses, expected dscp alone, because the "
            "experiment has the other settings; leave switch_follows_experiments out, or correct it.",
        ),
        (
            {"switch_platform": "declared", "switch_follows_experiments": True},
            "rack.yaml: tor.switch_platform: got 'declared', expected a platform with a login, because only "
            "such a switch can be set; leave switch_follows_experiments out, or correct it.",
        ),
    ],
)
def test_switch_problems(variables: dict[str, object], message: str | None) -> None:
    found = [str(problem) for problem in switch_problems(Path("rack.yaml"), "tor", variables)]
    assert found == ([] if message is None else [message])


PAGE = (
    (Path(__file__).parents[4] / "docs/how-to/hardware-switches.md")
    .read_text()
    .partition("## A platform of your own")[2]
)
FILES = {"configuration.j2": "jinja", "platform.yaml": "yaml", "numbers.textfsm": "textfsm"}
SWITCH = """\
    hardware_switches:
      hosts:
        tor:
          ansible_host: 127.0.0.1
          switch_platform: PLATFORM
          switch_ports: [{bridge: s0, interface: Ethernet1, peer: h0}]
          switch_priorities: {3: {dscp: [26], marks: {from_bytes: 9000, to_bytes: 9000}}}
"""
STEP = {"3": {"dscp": [26], "marks": {"from_bytes": 9000, "to_bytes": 9000}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write the three files of the documentation."""
    made = tmp_path / "plain"
    made.mkdir()
    for name, language in FILES.items():
        found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
        assert found is not None
        (made / name).write_text(found[1])
    return made


def inventory(directory: Path, platform: str) -> str:
    path = write_inventory(directory)
    text = path.read_text()
    path.write_text(text[: text.index("    switch:")] + SWITCH.replace("PLATFORM", platform))
    return str(path)


def test_an_inventory_names_a_folder(tmp_path: Path, folder: Path) -> None:
    named = inventory(tmp_path, "./plain")
    planned = rogue(tmp_path, "switch", "plan", named, "--offline")
    assert planned.code == 0, planned.err
    lines = ["configure terminal", "dscp 26 queue 3", "interface Ethernet1", "ecn 3 9000", "exit", "end"]
    assert planned.out.splitlines() == ["tor (plain) would receive:", *(f"  {each}" for each in lines)]
    assert rogue(tmp_path, "inventory", "check", named).code == 0


def test_a_plan_states_what_the_switch_rounds(tmp_path: Path) -> None:
    named = Path(inventory(tmp_path, "comware"))
    marks = "marks: {from_bytes: 9000, to_bytes: 416000, average_weight: 0.002, drops_above: true}"
    text = named.read_text().replace("marks: {from_bytes: 9000, to_bytes: 9000}", marks)
    named.write_text(text.replace("switch_platform", "switch_cell_bytes: 208\n          switch_platform"))
    planned = rogue(tmp_path, "switch", "plan", str(named), "--offline")
    assert planned.code == 0, planned.err
    commands = planned.out.splitlines()
    assert "  queue 3 drop-level 0 low-limit 43 high-limit 2000 discard-probability 100" in commands
    assert commands[-1] == (
        "  priority 3: got `marks from 9000 to 416000 bytes, then with 1 of an average with weight 0.002, "
        "drops beyond`, rounded to `marks from 8944 to 416000 bytes, then with 1 of an average with weight "
        "0.00195312, drops beyond`"
    )


@pytest.mark.parametrize("platform", ["plain", "os10"])
def test_unknown_platform_lists_the_known_ones(tmp_path: Path, platform: str) -> None:
    refused = rogue(tmp_path, "switch", "plan", inventory(tmp_path, platform), "--offline")
    assert refused.code == 2
    known = "declared, comware, cumulus, eos, onyx, sonic, or the folder of a platform such as ./mine"
    assert f"tor.switch_platform: got '{platform}', expected one of {known}; " in refused.err


def test_lines_are_read_back_as_set(folder: Path) -> None:
    plain, requested = Platform(folder), wanted("eos", switch_priorities=STEP)
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for line in plain.lines(requested):
        found[line.context] = (*found.get(line.context, ()), line.text)
    configuration: Configuration = found
    assert requested_changes(plain.lines(requested), configuration) == []
    port = plain.state(configuration, "", requested).ports["Ethernet1"]
    assert port.priorities == {3: priority_reported(marks=marking_reported(9000, 9000, 100))}
    pauses = wanted("eos", switch_priorities={"3": {"pauses": True}})
    assert plain.mistake(pauses) == ("priority 3", "pauses", "marks alone")
    less = plain.changes(wanted("eos", switch_priorities={}), configuration)
    assert [change.off for change in less] == ["no ecn 3", "no ecn 3"]


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("platform.yaml", "read:", "reads:", "platform.yaml: read: got "),
        ("platform.yaml", "[0-7]'", "[0-7'", "platform.yaml: lines.0.match: got "),
        ("platform.yaml", "from_bytes: K", "from_bytes: K +", "platform.yaml: numbers.from_bytes: got "),
        ("platform.yaml", "lines:", "lines: [", "platform.yaml: got "),
        ("platform.yaml", "?P<interface>", "", "expected Value error, a group `interface` in `match`"),
        ("platform.yaml", "no {{ key }}", "no {{ keys }}", "plain: got 'keys' is undefined"),
        ("configuration.j2", "{% endif %}", "", "configuration.j2: got "),
        ("configuration.j2", "{{ dscp }}", "{{ dscps }}", "plain: got 'dscps' is undefined"),
        (
            "configuration.j2",
            "dscp {{",
            "dscps {{",
            "got the line `dscps 26 queue 3`, expected a line of a kind",
        ),
        ("configuration.j2", "{{ dscp }}", "{{ ''.__class__ }}", "access to attribute '__class__'"),
        ("numbers.textfsm", "Start", "", "numbers.textfsm: got "),
    ],
)
def test_mistake_in_a_platform_folder_is_an_error(
    folder: Path, file: str, old: str, new: str, words: str
) -> None:
    text = (folder / file).read_text()
    if old == "{% endif %}":
        text, old, new = text + "{% if", "{% if", "{% if"
    (folder / file).write_text(text.replace(old, new))
    with pytest.raises(ConfigError) as raised:
        Platform(folder).lines(wanted("eos", switch_priorities=STEP))
    assert words in str(raised.value)


def test_missing_platform_folder_is_an_error(tmp_path: Path) -> None:
    refused = rogue(tmp_path, "switch", "plan", inventory(tmp_path, "./none"), "--offline")
    assert refused.code == 2
    assert (
        "none/platform.yaml: got No such file or directory, expected the data of a switch platform"
        in refused.err
    )
