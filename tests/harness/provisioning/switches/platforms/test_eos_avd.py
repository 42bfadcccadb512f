"""Our lines for EOS against those that Arista's own generator of configurations writes for the same settings.

It brings 40 packages, some in versions of its own, so it stays outside of this project's environment:

    python3 -m venv avd && avd/bin/pip install pyavd
    EOS_AVD=avd/bin/python pytest tests/.../test_eos_avd.py

Passed with pyavd 6.4.0 on 24 November 2026.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from typing import Any

import pytest
from helpers.fake_switch import LOSSLESS, wanted

from rogue.harness.provisioning.switches.change import indented
from rogue.harness.provisioning.switches.platforms.eos import Eos
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables, PrioritySettings

PYTHON = os.environ.get("EOS_AVD")
pytestmark = pytest.mark.skipif(not PYTHON, reason="needs EOS_AVD, a Python with pyavd")
PROGRAM = """\
import json, sys
from pyavd import get_device_config, validate_structured_config
config = json.load(sys.stdin)
found = validate_structured_config(config)
assert not found.validation_result.violations, found.validation_result.violations
print(get_device_config(config))
"""
STEP = {"0": {"dscp": [0], "marks": {"from_bytes": 98_670, "to_bytes": 98_670}}}


@pytest.mark.parametrize(
    "priorities", [LOSSLESS, STEP, {**STEP, "4": {"dscp": [26], "pauses": True}}, {"3": {"pauses": True}}]
)
def test_it_writes_the_same_lines(priorities: Mapping[str, Any]) -> None:
    """DSCP 26 in priority 3 is EOS's own map, of which we write no line."""
    variables = wanted("eos", switch_priorities=priorities)
    generated = {
        (context, line)
        for context, lines in indented(_generated(_structured(variables))).items()
        for line in lines
        if not line.startswith(("hostname ", "interface ", "uc-tx-queue "))
    }
    assert generated == {(line.context, line.text) for line in Eos().lines(variables)}


def test_what_its_schema_does_not_know_is_found() -> None:
    config = _structured(wanted("eos"))
    (queue,) = config["ethernet_interfaces"][0]["uc_tx_queues"]
    queue["random_detect"]["ecn"]["threshold"]["units"] = "pages"
    with pytest.raises(subprocess.CalledProcessError):
        _generated(config)


def _generated(config: Mapping[str, Any]) -> str:
    assert PYTHON is not None
    told = subprocess.run(
        [PYTHON, "-c", PROGRAM], input=json.dumps(config), capture_output=True, text=True, check=True
    )
    return told.stdout


def _structured(variables: HardwareSwitchVariables) -> dict[str, Any]:
    """In the words of its schema, eos_cli_config_gen."""
    own = {(dscp, dscp // 8) for dscp in range(16, 64)}
    map_ = [
        f"{dscp} to traffic-class {number}"
        for number, each in variables.switch_priorities.items()
        for dscp in each.dscp
        if (dscp, number) not in own
    ]
    ports = [_port(name, variables) for name in variables.interfaces]
    return {
        "hostname": "tor",
        "ethernet_interfaces": ports,
        **({"qos": {"map": {"dscp": map_}}} if map_ else {}),
    }


def _port(name: str, variables: HardwareSwitchVariables) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name}
    if any(each.dscp for each in variables.switch_priorities.values()):
        found["qos"] = {"trust": "dscp"}
    if variables.pausing:
        priorities = [{"priority": number, "no_drop": True} for number in variables.pausing]
        found["priority_flow_control"] = {"enabled": True, "priorities": priorities}
    queues = [
        {"id": number, "random_detect": {"ecn": {"count": False, "threshold": _threshold(each)}}}
        for number, each in variables.switch_priorities.items()
        if each.marks is not None
    ]
    return {**found, **({"uc_tx_queues": queues} if queues else {})}


def _threshold(settings: PrioritySettings) -> dict[str, Any]:
    marks = settings.marks
    assert marks is not None
    return {
        "units": "bytes",
        "min": marks.from_bytes,
        "max": marks.to_bytes,
        "max_probability": round(100 * marks.probability),
        "weight": 0,
    }
