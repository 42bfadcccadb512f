"""What transports ask of the ports of a kernel's switches."""

from pathlib import Path

from helpers.experiments import cell_of

from harness.testbeds.kernel.ports import cell_ports


def test_ports_mark_above_k_for_dctcp_alone(tmp_path: Path) -> None:
    """K: 65 frames of 1518 bytes at 10 Gb/s."""
    marking, plain = (
        cell_ports(cell_of(tmp_path, f"transports=[{name}]"))["s0->h3"] for name in ("dctcp", "cubic")
    )
    assert (marking.red_min_bytes, marking.red_max_bytes) == (65 * 1518 - 1, 65 * 1518)
    assert marking.red_is_prompt
    assert plain.red_max_bytes is None


def test_a_port_marks_no_later_than_it_is_full(tmp_path: Path) -> None:
    asked = ("transports=[{name: dctcp, mark_above: 600KB}]", "topology.buffer=1MB", "topology.alpha=1")
    port = cell_ports(cell_of(tmp_path, *asked))["s0->h3"]
    assert port.red_max_bytes == port.queue_bytes == 500_000
    assert port.mistake() is None
