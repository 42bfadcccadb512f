from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.nodes import write_inventory


@pytest.mark.parametrize("verb", ["plan", "apply", "check", "undo"])
def test_an_inventory_without_switches_is_refused(tmp_path: Path, verb: str) -> None:
    refused = rogue(tmp_path, "switch", verb, str(write_inventory(tmp_path)))
    assert refused.code == 2
    assert "got no hardware switch to log in to" in refused.err


def test_a_plan_without_the_switch(tmp_path: Path) -> None:
    path = write_inventory(tmp_path)
    text = path.read_text()
    start = text.index("    switch:")
    path.write_text(
        text[:start]
        + """\
    hardware_switches:
      hosts:
        tor:
          ansible_host: 127.0.0.1
          switch_platform: eos
          switch_ports: [{bridge: s0, interface: Ethernet1, peer: h0}]
          switch_priorities: {3: {pauses: true}}
"""
    )
    planned = rogue(tmp_path, "switch", "plan", str(path), "--offline")
    assert planned.code == 0, planned.err
    assert "  priority-flow-control priority 3 no-drop\n" in planned.out
    checked = rogue(tmp_path, "inventory", "check", str(path))
    assert "tor" in checked.out
