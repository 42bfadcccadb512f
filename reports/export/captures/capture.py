"""The recorded packets of a cell as a file for Wireshark."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from rogue.reports.errors import ReportError
from rogue.reports.export.captures.addresses import addresses_of
from rogue.reports.export.captures.frames import Frames
from rogue.reports.export.captures.packet import packets_of
from rogue.reports.export.captures.pcapng import CaptureFile

APPLICATION: Final = "rogue export --pcap"
REFUSALS: Final = ("buffer", "marker", "watchdog")
"""Reasons of packets that never left the port, and so are in no capture."""
WENT_ON: Final = ("flooded",)
"""Reasons of packets that were not lost: they went on as copies."""
PS_PER_NS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Written:
    """What a capture has, and what it lacks."""

    frames: int
    refused: int
    """Never left the port."""
    copies: int
    """That switches flooded: nothing but their size is known."""


def write_capture(table: pd.DataFrame, path: Path, title: str) -> Written:
    """Write what left the recorded ports: an interface for each, in order of time, payload all zeros."""
    packets = list(packets_of(table))
    ports = list(dict.fromkeys(packet.port for packet in packets))
    nodes = {node for port in ports for node in port.split("->")}
    nodes |= {node for packet in packets for node in (packet.src, packet.dst) if node}
    addresses = addresses_of(nodes)
    frames = Frames(packets, addresses)
    refused = sum(packet.reason in REFUSALS for packet in packets)
    copies = written = 0
    with path.open("wb") as file:
        capture = CaptureFile(file, APPLICATION, title)
        capture.add_names(addresses.names())
        capture.add_interfaces(ports)
        for packet in packets:
            if packet.reason in REFUSALS:
                continue
            frame = frames.frame(packet)
            if frame is None:
                copies += 1
                continue
            is_lost = packet.reason and packet.reason not in WENT_ON
            lost = f"went no further: {packet.reason}" if is_lost else None
            capture.write(ports.index(packet.port), packet.t_ps // PS_PER_NS, frame, lost)
            written += 1
    return Written(written, refused, copies)


def recorded(table: pd.DataFrame | None, framing: object, cell: str) -> pd.DataFrame:
    """Return a cell's packets; ReportError if it has none, or none of a real format."""
    if table is None or table.empty:
        raise ReportError(
            f"{cell} recorded no packets; expected some: run the experiment with --set measure=[packets]"
        )
    if framing != "rocev2":
        raise ReportError(
            f"{cell} has packets with the headers of {framing}, which no program reads; "
            "expected rocev2: set topology.framing=rocev2"
        )
    return table
