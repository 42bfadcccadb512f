from pathlib import Path

import pytest

from rogue.harness.provisioning.switches.problems import switch_problems

PORTS = [{"bridge": "s0", "interface": "Ethernet1", "peer": "h0"}]


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"switch_platform": "declared"}, None),
        ({"switch_platform": "eos", "switch_ports": PORTS}, None),
        ({"switch_platform": "os10", "switch_ports": PORTS}, None),
        (
            {"switch_platform": "fboss"},
            "rack.yaml: tor.switch_platform: got 'fboss', expected one of declared, comware, cumulus, eos, "
            "mlxsw, onyx, os10, sonic; name the plug-in that has it with --plugin.",
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
            "rack.yaml: tor.switch_priorities, priority 3: got pause_alpha 0.5, expected none, as nobody "
            "here can tell eos when to pause; docs/SWITCHES.md says what each platform takes.",
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
            "rack.yaml: tor.switch_priorities, priority 3: got pauses, expected dscp alone, as an experiment "
            "says the rest; leave switch_follows_experiments out, or correct it.",
        ),
        (
            {"switch_platform": "declared", "switch_follows_experiments": True},
            "rack.yaml: tor.switch_platform: got 'declared', expected a platform that is set here, as nobody "
            "logs in to a declared switch; leave switch_follows_experiments out, or correct it.",
        ),
    ],
)
def test_each_has_its_place(variables: dict[str, object], told: str | None) -> None:
    found = [str(problem) for problem in switch_problems(Path("rack.yaml"), "tor", variables)]
    assert found == ([] if told is None else [told])
