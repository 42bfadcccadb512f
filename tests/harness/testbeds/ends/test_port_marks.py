"""Marks at ports of Linux switches."""

from pathlib import Path

import pytest
from helpers.experiments import carrier, cell_of

from rogue.harness.cell.transport import ParameterError
from rogue.harness.provisioning.ports import PortSettings
from rogue.harness.testbeds.ends.switch_ports import check_marking, marking_ports, unsupported_marking

PORTS = {"s0->h3": PortSettings(rate_bps=10_000_000_000, queue_bytes=500_000)}
TWO = """\
name: x
topology: {kind: star, hosts: 4, rate: 10Gbps}
traffic:
  - {name: one, parameters: {mark_above: 50KB}, workload: {kind: incast, senders: 1, size: 1MB}}
  - {name: two, workload: {kind: incast, senders: 1, size: 1MB}}
transports: [dctcp]
"""


def test_ports_mark_above_k_for_dctcp_alone(tmp_path: Path) -> None:
    """K: 65 frames of 1518 bytes at 10 Gb/s."""
    marking, plain = (
        marking_ports(cell_of(tmp_path, f"transports=[{name}]"), PORTS)["s0->h3"]
        for name in ("dctcp", "cubic")
    )
    assert (marking.red_min_bytes, marking.red_max_bytes) == (65 * 1518 - 1, 65 * 1518)
    assert marking.red_is_prompt
    assert plain == PORTS["s0->h3"]


def test_a_port_marks_no_later_than_it_is_full(tmp_path: Path) -> None:
    port = marking_ports(cell_of(tmp_path, "transports=[{name: dctcp, mark_above: 600KB}]"), PORTS)["s0->h3"]
    assert port.red_max_bytes == port.queue_bytes == 500_000
    assert port.mistake() is None


def test_ports_have_one_threshold(tmp_path: Path) -> None:
    assert unsupported_marking(cell_of(tmp_path, "transports=[dctcp]")) is None
    told = unsupported_marking(cell_of(tmp_path, text=TWO))
    assert told == "the switches have one traffic class: give all groups the same mark_above"


def test_a_queue_too_short_for_red_is_a_mistake(tmp_path: Path) -> None:
    cell = cell_of(tmp_path)
    check_marking(cell, carrier("dctcp", {"mark_above": "3KB"}))
    check_marking(cell, carrier("rogue"))
    with pytest.raises(ParameterError) as caught:
        check_marking(cell, carrier("dctcp", {"mark_above": "2KB"}))
    assert caught.value.mistake.key == "mark_above"
