"""What transports ask of the ports of a kernel's switches."""

from pathlib import Path

from helpers.experiments import cell_of

from rogue.harness.cell.network import OutageAsked
from rogue.harness.testbeds.kernel.network import cell_ports, outages


def test_ports_mark_above_k_for_dctcp_alone(tmp_path: Path) -> None:
    """K: 65 frames of 1518 bytes at 10 Gb/s."""
    marking, plain = (
        cell_ports(cell_of(tmp_path, f"transports=[{name}]"))["s0->h3"] for name in ("dctcp", "cubic")
    )
    assert (marking.red_min_bytes, marking.red_max_bytes) == (65 * 1518 - 1, 65 * 1518)
    assert marking.red_is_prompt
    assert plain.red_max_bytes is None


def test_losses_are_the_ports_from_beginning_to_end(tmp_path: Path) -> None:
    asked = "faults=[{kind: loss, target: h3, model: identification, one_in: 4096}]"
    ports = cell_ports(cell_of(tmp_path, asked))
    assert ports["s0->h3"].lost_ip_id_mask == 0xFFF
    assert ports["s0->h0"].lost_ip_id_mask is None
    assert ports["s0->h3"].loses_what_comes, "acknowledgements of h3, too, as on the simulator"


def test_a_cut_has_a_port_and_a_time(tmp_path: Path) -> None:
    asked = "faults=[{kind: link_cut, target: h3, at: 5ms, duration: 2ms}]"
    assert outages(cell_of(tmp_path, asked)) == [(["s0->h3"], OutageAsked("h3", "s0", 5_000_000, 2_000_000))]
