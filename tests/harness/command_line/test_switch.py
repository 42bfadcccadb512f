from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.nodes import write_inventory


def rack(directory: Path, priority: str) -> Path:
    """Two hosts on a switch of Arista's."""
    path = write_inventory(directory)
    text = path.read_text()
    tor = f"""\
    hardware_switches:
      hosts:
        tor:
          ansible_host: 127.0.0.1
          switch_platform: eos
          switch_ports: [{{bridge: s0, interface: Ethernet1, peer: h0}}]
          switch_priorities: {{3: {priority}}}
"""
    path.write_text(text[: text.index("    switch:")] + tor)
    return path


@pytest.mark.parametrize("verb", ["plan", "apply", "check", "undo"])
def test_an_inventory_without_switches_is_refused(tmp_path: Path, verb: str) -> None:
    refused = rogue(tmp_path, "switch", verb, str(write_inventory(tmp_path)))
    assert refused.code == 2
    assert "got no hardware switch to log in to" in refused.err


def test_a_plan_without_the_switch(tmp_path: Path) -> None:
    path = rack(tmp_path, "{pauses: true}")
    planned = rogue(tmp_path, "switch", "plan", str(path), "--offline")
    assert planned.code == 0, planned.err
    assert "  priority-flow-control priority 3 no-drop\n" in planned.out
    checked = rogue(tmp_path, "inventory", "check", str(path))
    assert "tor" in checked.out


def test_a_cell_belongs_to_an_experiment(tmp_path: Path) -> None:
    refused = rogue(tmp_path, "switch", "plan", str(write_inventory(tmp_path)), "--cell", "dctcp-r1")
    expected = "switch: got --cell without an experiment, expected both; name one after the inventory."
    assert (refused.code, expected in refused.err) == (2, True)


def test_a_plan_for_an_experiment_asks_for_its_k(tmp_path: Path) -> None:
    path = rack(tmp_path, "{dscp: [0]}")
    planned = rogue(tmp_path, "switch", "plan", str(path), "quickstart", "--cell", "dctcp-r1", "--offline")
    assert planned.code == 0, planned.err
    assert "minimum-threshold 98670 bytes maximum-threshold 98670 bytes" in planned.out
