"""Options of the agent's driver."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.agent.node.messages import Prepare
from rogue.harness.cell.transport import (
    DriverOptions,
    agent_overrides,
    driver_options,
    option_mistake,
    without_options,
)

POLLING = "transports=[{name: rogue, completions: polling, record_inputs: true, segment: 16KiB}]"


def test_options_are_told_from_the_transports_own_parameters(tmp_path: Path) -> None:
    parameters = cell_of(tmp_path, POLLING).transport.parameters
    assert driver_options(parameters) == DriverOptions("polling", True)
    assert without_options(parameters) == {"segment": "16KiB"}
    assert agent_overrides("rogue", 10**10, parameters) == {"segment_bytes": 16_384}
    assert option_mistake(parameters) is None


def test_defaults_are_the_agents() -> None:
    asked = Prepare("a", 1, "requester", "10.9.0.1", "rogue", 1)
    assert driver_options({}) == DriverOptions(asked.completions, asked.record_inputs)


@pytest.mark.parametrize(
    ("option", "key", "expected"),
    [
        ("completions: sometimes", "completions", "event or polling"),
        ("record_inputs: 1", "record_inputs", "false or true"),
        ("record_inputs: maybe", "record_inputs", "false or true"),
    ],
)
def test_a_value_that_an_option_does_not_take(option: str, key: str, expected: str) -> None:
    name, _, value = option.partition(": ")
    mistake = option_mistake({name: 1 if value == "1" else value})
    assert mistake is not None
    assert (mistake.key, mistake.expected) == (key, expected)
