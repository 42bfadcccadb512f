"""Derive the marking curves that transports request of switches."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Final, Literal

from rogue.harness.cell.transport import (
    ParameterError,
    ParameterMistake,
    SwitchParameter,
    values_of,
)
from rogue.harness.experiment.choices import Scalar
from rogue.workloads.ideal import longest_round_trip_ns
from rogue.workloads.topologies import Topology
from rogue.workloads.transports import TransportName

MARK_ABOVE: Final = "mark_above_bytes"
FRAME_BYTES: Final = 1518
MARKED_FRAMES: Final = 65
MARKED_FRAMES_RATE_BPS: Final = 10_000_000_000
MARKED_FRAMES_MIN: Final = 20
"""K: 20 frames at 1 Gb/s, 65 at 10 Gb/s, then in proportion. Source: Alizadeh et al., SIGCOMM 2010, §3.4."""
THRESHOLD: Final = SwitchParameter(
    MARK_ABOVE, 0, 0, 1e12, "packets that find more than this waiting are marked"
)


@dataclass(frozen=True, slots=True)
class MarkingCurve:
    """Marking by queue length: none up to `kmin_bytes`, all above `kmax_bytes`, between with up to `pmax`."""

    kmin_bytes: int
    kmax_bytes: int
    pmax: float
    at: Literal["departure", "arrival"] = "departure"
    """Which instant's queue counts for a packet."""
    average_weight: float = 1.0
    """Of each arrival's sight of the queue; 1: no average."""
    drops_above: bool = False
    """Packets above `kmax_bytes` are dropped."""
    drops_instead: bool = False
    """Packets that it would mark are dropped."""
    spares_hosts: bool = False
    """Ports towards hosts mark nothing."""

    def __str__(self) -> str:
        if self.kmin_bytes == self.kmax_bytes:
            return f"marks beyond {self.kmax_bytes} bytes"
        return f"marks from {self.kmin_bytes} to {self.kmax_bytes} bytes, then with {self.pmax:g}"


DCQCN_CURVE: Final = MarkingCurve(kmin_bytes=5_000, kmax_bytes=200_000, pmax=0.01)
"""Source: Zhu, Ghobadi, Misra and Padhye, "ECN or delay", CoNEXT 2016, table 1."""
CURVE_PARAMETERS: Final = (
    SwitchParameter("kmin_bytes", 5_000, 0, 1e12, "queues up to this are not marked"),
    SwitchParameter("kmax_bytes", 200_000, 0, 1e12, "above this all packets are"),
    SwitchParameter("pmax", 0.01, 1e-9, 1, "probability just below that"),
    SwitchParameter("average_weight", 1, 1e-9, 1, "of each arrival's sight of the queue; 1: no average"),
    SwitchParameter("drops_above", 0, 0, 1, "1: what comes above kmax is dropped, as WRED does"),
    SwitchParameter("drops_instead", 0, 0, 1, "1: drops what it would mark, as queues without ECN"),
)
"""Parameters of that curve that an experiment may state."""


def requested_marking(
    topology: Topology, transport: TransportName, parameters: Mapping[str, Scalar]
) -> MarkingCurve | None:
    """Return the curve that a transport requests, None if it needs no marks.

    Raises ParameterError if a parameter of the curve cannot be.
    """
    if transport.wants_marks:
        above_bytes = _marked_above_bytes(topology, parameters)
        return MarkingCurve(above_bytes, above_bytes, pmax=1.0, at="arrival")
    if transport.wants_curve:
        curve = replace(round_trip_curve(topology), spares_hosts=transport.has_credits)
        return _changed(curve, parameters)
    return _changed(DCQCN_CURVE, parameters) if transport.has_marked_control else None


def round_trip_curve(topology: Topology) -> MarkingCurve:
    """Return a curve from a fifth to four fifths of the bytes of the longest round trip, in full packets.

    Source: uet-htsim, datacenter/main_uec.cpp (ecn_low, ecn_high), commit 40ccb05.
    """
    packets, frame_bytes = round_trip_packets(topology), topology.mtu_bytes + topology.frames.header_bytes
    return MarkingCurve(
        kmin_bytes=ceil(packets / 5) * frame_bytes, kmax_bytes=ceil(packets * 4 / 5) * frame_bytes, pmax=1.0
    )


def round_trip_packets(topology: Topology) -> int:
    """Return how many full packets at line rate fill the longest round trip of the empty network."""
    frames = topology.frames
    wire_bytes = topology.mtu_bytes + frames.header_bytes + frames.gap_bytes
    round_trip_ns = longest_round_trip_ns(
        topology, wire_bytes, frames.acknowledgement_bytes + frames.gap_bytes
    )
    rate_bps = topology.host_rate_max_bps
    return -(-round_trip_ns * rate_bps // (wire_bytes * 8 * 10**9))


def _marked_above_bytes(topology: Topology, parameters: Mapping[str, Scalar]) -> int:
    """Return K: the parameter's value, or in proportion to the hosts' line rate."""
    stated = values_of((THRESHOLD,), parameters)
    if stated:
        return int(stated[MARK_ABOVE])
    rate_bps = topology.host_rate_max_bps
    return FRAME_BYTES * max(MARKED_FRAMES_MIN, round(MARKED_FRAMES * rate_bps / MARKED_FRAMES_RATE_BPS))


def _changed(curve: MarkingCurve, parameters: Mapping[str, Scalar]) -> MarkingCurve:
    """Return the curve with the values that an experiment sets."""
    values: dict[str, Any] = {}
    for name, value in values_of(CURVE_PARAMETERS, parameters).items():
        if name.startswith("drops_") and value not in (0, 1):
            raise ParameterError(ParameterMistake(name, "0 or 1", "choose one of them"))
        values[name] = type(getattr(curve, name))(value)
    found = replace(curve, **values)
    if found.kmin_bytes > found.kmax_bytes:
        mistake = ParameterMistake(
            "kmax", f"from kmin on, {found.kmin_bytes}", "correct it, or state kmin too"
        )
        if "kmin" in parameters:
            mistake = ParameterMistake("kmin", f"up to kmax, {found.kmax_bytes}", "correct one of them")
        raise ParameterError(mistake)
    return found
