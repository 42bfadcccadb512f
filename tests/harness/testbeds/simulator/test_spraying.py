"""How transports are sprayed: what experiments state, and what is refused."""

from pathlib import Path

import pytest
from helpers.experiments import carrier, cell_of

from rogue.harness.testbeds.simulator.controls import parameter_mistake
from rogue.harness.testbeds.simulator.network import build_network
from rogue.harness.testbeds.simulator.reliability import nic_spraying, spraying_facts, spraying_parameters
from rogue.harness.testbeds.simulator.testbed import SimulatorTestbed
from rogue.simulator import Spraying
from rogue.workloads.transports import parse_transport


@pytest.mark.parametrize(
    ("transport", "parameters", "expected"),
    [
        ("roce", {}, None),
        ("irn+pfc", {}, None),
        ("roce+spray", {}, Spraying(64)),
        ("irn+dcqcn+pfc+spray", {"paths": 8}, Spraying(8)),
    ],
)
def test_what_is_asked_for(transport: str, parameters: dict[str, int], expected: Spraying | None) -> None:
    assert nic_spraying(carrier(transport, parameters)) == expected


def test_paths_are_a_parameter_of_what_is_sprayed() -> None:
    assert spraying_parameters(parse_transport("irn")) == ()
    assert spraying_parameters(parse_transport("irn+spray")) == ("paths",)


@pytest.mark.parametrize(
    ("transport", "key", "expected"),
    [
        ("{name: irn+spray, paths: 0}", "paths", "from 1 to 65536"),
        ("{name: irn+spray, paths: 1e9}", "paths", "from 1 to 65536"),
        ("{name: irn+spray, paths: 2.5}", "paths", "a whole number"),
        ("{name: irn+spray, paths: many}", "paths", "a number"),
        ("{name: roce+spray, paths: 48}", "paths", "paths as a power of two from 1 to 65536, got 48"),
        ("{name: irn, paths: 64}", "paths", "one of the parameters"),
        ("{name: irn+spray, threshold_nacks: 1.5}", "threshold_nacks", "a whole number"),
        ("{name: irn+spray, threshold_nacks: 0}", "threshold_nacks", "from 1 to"),
        ("{name: roce+spray, threshold_nacks: 3}", "threshold_nacks", "one of the parameters"),
    ],
)
def test_mistakes(tmp_path: Path, transport: str, key: str, expected: str) -> None:
    mistake = parameter_mistake(cell_of(tmp_path, f"transports=[{transport}]"))
    assert mistake is not None
    assert mistake.key == key
    assert mistake.expected.startswith(expected)


def test_connections_are_sprayed_and_the_cell_says_so(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[{name: irn+spray, paths: 16, threshold_nacks: 3}]")
    assert SimulatorTestbed().unsupported(cell) is None
    assert parameter_mistake(cell) is None
    flow = build_network(cell).flows[0]
    assert flow.asked.spraying == Spraying(16)
    assert flow.asked.reliability is not None
    assert flow.asked.reliability.parameters["threshold_nacks"] == 3
    assert spraying_facts(cell) == {"paths": 16}
    assert spraying_facts(cell_of(tmp_path)) == {}


def test_a_host_that_switches_have_a_rule_for_is_refused(tmp_path: Path) -> None:
    fault = "faults=[{kind: flooding, target: s0, destination: h3}]"
    cell = cell_of(tmp_path, "transports=[irn+spray]", fault)
    assert "no rule (forward, flood) for 'h3'" in str(SimulatorTestbed().unsupported(cell))
