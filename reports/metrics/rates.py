"""Rates as the papers of hardware give them: frames per second, and bits on the wire.

The wire rate of a flow is its goodput over the payload's share of a full packet, so that flows that share a
link add up to the rate of the link.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from reports.metrics.goodput import aggregate_bps
from reports.metrics.metric import Metric
from reports.quantities import Unit
from reports.view import CellView

# Ethernet, IPv4, UDP, BTH, invariant CRC and frame check sequence of a packet of RoCEv2.
HEADERS_BYTES = 62


def frames_bps(view: CellView, interval_ns: int) -> float | None:
    """Return the rate of all flows in frames of full packets, without preamble and gap."""
    rate_bps, mtu_bytes = aggregate_bps(view, interval_ns), view.entry.number("mtu_bytes")
    return rate_bps * (mtu_bytes + HEADERS_BYTES) / mtu_bytes if rate_bps is not None and mtu_bytes else None


def frames_per_second(view: CellView, interval_ns: int) -> float | None:
    """Return how many full packets arrive per second, of all flows together."""
    rate_bps, mtu_bytes = aggregate_bps(view, interval_ns), view.entry.number("mtu_bytes")
    return rate_bps / (8 * mtu_bytes) if rate_bps is not None and mtu_bytes else None


def sender_frames_bps(view: CellView, interval_ns: int) -> float | None:
    """Return the same per host that sends."""
    rows, rate_bps = view.deliveries, frames_bps(view, interval_ns)
    return None if rows is None or rate_bps is None else rate_bps / rows["src"].nunique()


def wire_rates_bps(view: CellView) -> NDArray[np.float64] | None:
    """Return each flow's mean wire rate over the second half of the window; none where flows come and go."""
    fraction, window = view.entry.number("payload_fraction"), view.window
    if not fraction or window is None or not view.is_simultaneous:
        return None
    half_ns = window.duration_ns // 2
    goodput = view.goodput(half_ns)
    return None if goodput is None else goodput.iloc[-1].to_numpy(dtype=np.float64) / fraction


def over_flows(
    choose: Callable[[NDArray[np.float64]], float],
) -> Callable[[CellView, int], float | None]:
    """Return a metric: one number of the wire rates of all flows."""

    def of_cell(view: CellView, _interval_ns: int) -> float | None:
        rates = wire_rates_bps(view)
        return None if rates is None else float(choose(rates))

    return of_cell


METRICS = (
    Metric(
        "frames_bps",
        "Frames, all flows",
        Unit.RATE,
        "Rate of all flows together in frames: payload and 62 bytes of headers per full packet.",
        ("flows", "throughput"),
        frames_bps,
        better="higher",
    ),
    Metric(
        "frames_per_second",
        "Frames per second",
        Unit.COUNT,
        "Full packets that arrive per second, all flows together.",
        ("flows", "throughput"),
        frames_per_second,
        better="higher",
    ),
    Metric(
        "sender_frames_bps",
        "Frames, per sender",
        Unit.RATE,
        "Rate in frames of a host that sends, mean over these hosts.",
        ("flows", "throughput"),
        sender_frames_bps,
        better="higher",
    ),
    Metric(
        "least_flow_wire_bps",
        "Slowest flow, on the wire",
        Unit.RATE,
        "Smallest wire rate of a flow over the second half of the window.",
        ("flows", "throughput"),
        over_flows(np.min),
        better="higher",
    ),
    Metric(
        "median_flow_wire_bps",
        "Median flow, on the wire",
        Unit.RATE,
        "Median wire rate of the flows over the second half of the window.",
        ("flows", "throughput"),
        over_flows(np.median),
        better="near",
    ),
    Metric(
        "most_flow_wire_bps",
        "Fastest flow, on the wire",
        Unit.RATE,
        "Largest wire rate of a flow over the second half of the window.",
        ("flows", "throughput"),
        over_flows(np.max),
        better="near",
    ),
)
