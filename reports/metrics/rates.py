"""Rates as hardware papers give them: frames per second, and bits on the wire.

Each flow's goodput is divided by the payload's share of its transport's full packets, so that flows on one
link add up to at most the rate of the link.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rogue.reports.cells.bottleneck import packets_of_flows
from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.metrics.metric import SAMPLED, Metric, metric
from rogue.reports.quantities import Unit
from rogue.workloads.framing import Packets

Rates = NDArray[np.float64]


@once_per_cell
def full_packet_rates(view: CellView) -> list[tuple[float, Packets]] | None:
    """Return the full packets per second of each flow over the window, with their sizes."""
    delivered_bytes, window, packets = view.delivered_bytes_of_flows, view.window, packets_of_flows(view)
    if delivered_bytes is None or window is None or not packets:
        return None
    per_second = 1e9 / window.duration_ns
    return [
        (float(payload_bytes) * per_second / own.payload_bytes, own)
        for payload_bytes, own in zip(delivered_bytes, packets.values(), strict=True)
    ]


@once_per_cell
def wire_rates_bps(view: CellView) -> Rates | None:
    """Return each flow's mean wire rate over the second half of the window; None where flows come and go."""
    packets, window = packets_of_flows(view), view.window
    if not packets or window is None or not view.is_simultaneous:
        return None
    goodput = view.goodput(window.duration_ns // 2)
    if goodput is None:
        return None
    fractions = np.array([float(each.payload_fraction) for each in packets.values()])
    rates: Rates = goodput.iloc[-1].to_numpy(dtype=np.float64) / fractions
    return rates


METRICS: Final[list[Metric]] = []


@metric(METRICS, "frames_bps", "Frames, all flows", Unit.RATE, needs=SAMPLED, better="higher")
def frames_bps(view: CellView, _interval_ns: int) -> float | None:
    """Rate of all flows together in frames: payload and the headers of the transport’s full packets."""
    rates = full_packet_rates(view)
    return None if rates is None else sum(rate * 8 * packets.frame_bytes for rate, packets in rates)


@metric(METRICS, "frames_per_second", "Frames per second", Unit.COUNT, needs=SAMPLED, better="higher")
def frames_per_second(view: CellView, _interval_ns: int) -> float | None:
    """Full packets that arrive per second, all flows together."""
    rates = full_packet_rates(view)
    return None if rates is None else sum(rate for rate, _ in rates)


@metric(METRICS, "sender_frames_bps", "Frames, per sender", Unit.RATE, needs=SAMPLED, better="higher")
def sender_frames_bps(view: CellView, interval_ns: int) -> float | None:
    """Rate in frames of a host that sends, mean over these hosts."""
    rows, rate_bps = view.deliveries, frames_bps(view, interval_ns)
    return None if rows is None or rate_bps is None else rate_bps / rows["src"].nunique()


@metric(
    METRICS, "least_flow_wire_bps", "Slowest flow, on the wire", Unit.RATE, needs=SAMPLED, better="higher"
)
def least_flow_wire_bps(view: CellView, _interval_ns: int) -> float | None:
    """Smallest wire rate of a flow over the second half of the window."""
    rates = wire_rates_bps(view)
    return None if rates is None else float(rates.min())


@metric(METRICS, "median_flow_wire_bps", "Median flow, on the wire", Unit.RATE, needs=SAMPLED, better="near")
def median_flow_wire_bps(view: CellView, _interval_ns: int) -> float | None:
    """Median wire rate of the flows over the second half of the window."""
    rates = wire_rates_bps(view)
    return None if rates is None else float(np.median(rates))


@metric(METRICS, "most_flow_wire_bps", "Fastest flow, on the wire", Unit.RATE, needs=SAMPLED, better="near")
def most_flow_wire_bps(view: CellView, _interval_ns: int) -> float | None:
    """Largest wire rate of a flow over the second half of the window."""
    rates = wire_rates_bps(view)
    return None if rates is None else float(rates.max())
