"""What a hardware switch has in other numbers than a cell asks for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.network_asked import Pauses, PortAsked, PriorityAsked
from rogue.harness.provisioning.switches.settings import Difference, PrioritySettings
from rogue.harness.provisioning.switches.standing import StandingPort
from rogue.harness.testbeds.ssh.declared_numbers import is_same, stated_pause_points


@dataclass(frozen=True, slots=True)
class OtherNumber:
    """One thing that differs."""

    kind: Difference
    asked: str
    has: str
    """A verb first."""

    def words(self, switch: str, interfaces: Sequence[str]) -> str:
        """As a sentence; without interfaces it is about the whole switch."""
        where = f" at {', '.join(interfaces)}" if interfaces else ""
        return f"the experiment asks for {self.asked}, and as read back {switch} {self.has}{where}"


def of_priority(cell: Cell, number: int, stands: PrioritySettings) -> Iterator[OtherNumber]:
    """Marks and pauses of one of a switch's priorities, for the packets of all groups."""
    for asked in cell.network.priorities.values():
        yield from _of_marks(number, asked, stands)
        if (asked.pauses is not None) != stands.pauses:
            has = "pauses" if stands.pauses else "pauses nothing"
            wanted = f"{'' if asked.pauses else 'no '}pauses in priority {number}"
            yield OtherNumber("pauses", wanted, has)
        elif asked.pauses is not None:
            yield from _of_pauses(cell, number, asked.pauses, stands)


def _of_marks(number: int, asked: PriorityAsked, stands: PrioritySettings) -> Iterator[OtherNumber]:
    curve, marks = asked.marks, stands.marks
    if curve is None and marks is None:
        return
    if curve is None or marks is None or not is_same(curve, marks):
        wanted, has = (str(each or "marks nothing") for each in (curve, marks))
        yield OtherNumber("marks", f"a switch that {wanted} in priority {number}", has)


def _of_pauses(cell: Cell, number: int, asked: Pauses, stands: PrioritySettings) -> Iterator[OtherNumber]:
    """Where both pause: at which point, if the experiment states one, and with which headroom."""
    is_stated = "pause_alpha" in stated_pause_points(cell.topology)
    if is_stated and stands.pause_alpha not in (None, asked.alpha):
        wanted = f"pauses beyond {asked.alpha:g} times what is free in priority {number}"
        yield OtherNumber("pauses", wanted, f"pauses beyond {stands.pause_alpha:g} times that")
    if asked.headroom_bytes is not None and stands.headroom_bytes not in (None, asked.headroom_bytes):
        wanted = f"{asked.headroom_bytes} bytes of headroom in priority {number}"
        yield OtherNumber("pauses", wanted, f"keeps {stands.headroom_bytes} bytes")


def of_port(asked: PortAsked, ip_packet_bytes: int, has: StandingPort) -> Iterator[OtherNumber]:
    """Rate and MTU of one egress."""
    if has.rate_bps is not None and has.rate_bps != asked.rate_bps:
        yield OtherNumber("rate", f"{asked.rate_bps / 1e9:g} Gb/s", f"has {has.rate_bps / 1e9:g} Gb/s")
    if has.mtu_bytes is not None and has.mtu_bytes < ip_packet_bytes:
        yield OtherNumber("mtu", f"packets of {ip_packet_bytes} bytes", f"takes {has.mtu_bytes} bytes")


def of_buffer(cell: Cell, buffer_bytes: int | None) -> Iterator[OtherNumber]:
    """The buffer of one switch."""
    for asked_bytes in {port.buffer_bytes for port in cell.network.ports.values()}:
        if buffer_bytes is not None and asked_bytes != buffer_bytes:
            wanted = "an unbounded buffer" if asked_bytes is None else f"a buffer of {asked_bytes} bytes"
            yield OtherNumber("buffer", wanted, f"has one of {buffer_bytes} bytes")
