from pathlib import Path

import pytest
from helpers.fake_switch import wanted
from pydantic import ValidationError

from rogue.harness.provisioning.switches.platform import switch_problems
from rogue.harness.provisioning.switches.settings import Marking, PrioritySettings


def test_they_are_told_in_words() -> None:
    told = str(wanted("eos"))
    assert told == "priority 3: marks from 150000 to 1500000 bytes, then with 0.1, pauses"
    step = wanted("eos", switch_priorities={"0": {"marks": {"from_bytes": 9, "to_bytes": 9}}})
    assert str(step) == "priority 0: marks beyond 9 bytes"
    assert str(wanted("eos", switch_priorities={})) == "no marks and no pauses"
    share = wanted("sonic", switch_priorities={"3": {"pauses": True, "pause_alpha": 0.5}})
    assert str(share) == "priority 3: pauses, pauses beyond 0.5 times the free buffer"


def test_what_says_more_than_whose_packets_it_is_about_asks() -> None:
    alone, pauses = ({"dscp": [26]}, {"dscp": [26], "pauses": True})
    assert [PrioritySettings.model_validate(each).has_settings for each in (alone, pauses)] == [False, True]


def test_whose_packets_a_priority_has() -> None:
    variables = wanted("eos", switch_priorities={"3": {"dscp": [26]}, "4": {}, "5": {}})
    assert (variables.numbers_of(26), variables.numbers_of(0)) == ((3,), (4, 5))
    assert variables.of_dscp(26) == (variables.switch_priorities[3],)


def test_interfaces_come_once() -> None:
    ports = [{"bridge": "s0", "interface": "Ethernet1", "peer": peer} for peer in ("h0", "h1")]
    variables = wanted("eos", switch_ports=ports)
    assert variables.interfaces == ("Ethernet1",)
    assert [port.name for port in variables.switch_ports] == ["s0->h0", "s0->h1"]
    assert (variables.pausing, [number for number, _ in variables.marking]) == ((3,), [3])


@pytest.mark.parametrize(
    "marks",
    [
        {"from_bytes": 2, "to_bytes": 1},
        {"from_bytes": 0, "to_bytes": 1},
        {"from_bytes": 1, "to_bytes": 1, "probability": 0},
        {"from_bytes": 1, "to_bytes": 1, "percent": 3},
    ],
)
def test_marks_that_make_no_sense(marks: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Marking.model_validate(marks)


PORTS = [{"bridge": "s0", "interface": "Ethernet1", "peer": "h0"}]


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"switch_platform": "declared"}, None),
        ({"switch_platform": "eos", "switch_ports": PORTS}, None),
        (
            {"switch_platform": "fboss"},
            "rack.yaml: tor.switch_platform: got 'fboss', expected one of declared, comware, cumulus, eos, "
            "onyx, sonic, or the folder of a platform such as ./mine; docs/SWITCHES.md describes such "
            "a folder.",
        ),
        (
            {"switch_platform": "eos"},
            "rack.yaml: tor.switch_ports: got nothing, expected the ports that experiments use; "
            "docs/SWITCHES.md says what each platform takes.",
        ),
        (
            {
                "switch_platform": "eos",
                "switch_ports": PORTS,
                "switch_priorities": {"3": {"headroom_bytes": 9}},
            },
            "rack.yaml: tor.switch_priorities, priority 3: got headroom_bytes, expected none, as EOS sizes "
            "it by itself; docs/SWITCHES.md says what each platform takes.",
        ),
        (
            {
                "switch_platform": "eos",
                "switch_ports": PORTS,
                "switch_priorities": {"3": {"pauses": True, "pause_alpha": 0.5}},
            },
            "rack.yaml: tor.switch_priorities, priority 3: got pause_alpha 0.5, expected none, as EOS "
            "cannot be told when to pause; docs/SWITCHES.md says what each platform takes.",
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
def test_a_problem_names_its_place(variables: dict[str, object], told: str | None) -> None:
    found = [str(problem) for problem in switch_problems(Path("rack.yaml"), "tor", variables)]
    assert found == ([] if told is None else [told])
