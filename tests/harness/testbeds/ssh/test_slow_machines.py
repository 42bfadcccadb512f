"""What emulated machines have instead of K."""

from dataclasses import replace
from pathlib import Path

from helpers.experiments import cell_of
from helpers.fake_agents import fake_inventory

from rogue.harness.provisioning.ports import PortSettings
from rogue.harness.testbeds.ssh.switch_machine import has_marks_of_its_own, later_marks, marks_differ

DCTCP = "transports=[dctcp]"
STATED = "transports=[{name: dctcp, mark_above: 60KB}]"


def test_marks_go_by_the_time_that_a_port_sends() -> None:
    """2.4 and 7.2 ms at 100 Mb/s are 30 and 90 KB."""
    ports = {"s0->h0": PortSettings(rate_bps=100_000_000, queue_bytes=500_000), "s0->h1": PortSettings()}
    port, unlimited = later_marks(ports).values()
    assert (port.red_min_bytes, port.red_max_bytes, port.red_is_prompt) == (30_000, 90_000, False)
    assert unlimited == PortSettings()


def test_they_end_where_a_port_is_full() -> None:
    small = PortSettings(rate_bps=100_000_000, queue_bytes=50_000)
    (port,) = later_marks({"s0->h0": small}).values()
    assert (port.red_min_bytes, port.red_max_bytes) == (25_000, 50_000)
    assert port.mistake() is None


def test_only_emulated_machines_have_them_and_no_stated_k(tmp_path: Path) -> None:
    emulated = fake_inventory()
    assert has_marks_of_its_own(cell_of(tmp_path, DCTCP), emulated)
    assert not has_marks_of_its_own(cell_of(tmp_path, DCTCP), replace(emulated, kind="nodes"))
    assert not has_marks_of_its_own(cell_of(tmp_path, STATED), emulated)
    assert not has_marks_of_its_own(cell_of(tmp_path, "transports=[cubic]"), emulated)


def test_both_numbers_are_said(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, DCTCP)
    assert marks_differ(cell, fake_inventory()) == (
        "emulated machines take 17 ms for a round trip, so ports mark from 2.4 to 7.2 ms of their rate; "
        "the experiment asks for 98670 bytes: state mark_above to have that"
    )
    assert marks_differ(cell, replace(fake_inventory(), kind="nodes")) is None
    assert marks_differ(cell, replace(fake_inventory(), switch=None)) is None
