"""Recovery times of congestion controls: the time to grow from half of the fair share to the share.

A run of few such times shows a start, not a steady state. Controls that jump to a measured or computed rate
(HPCC, PowerTCP, RoCC, Ultra Ethernet), CUBIC and plug-ins have no such time here.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from rogue.agent.core.cc.vegas import VegasParameters
from rogue.agent.core.settings import TransportSettings
from rogue.harness.cell.group_settings import GroupSettings, control_values
from rogue.workloads.framing import TCP_SEGMENTS
from rogue.workloads.transports import TransportName


class Share(NamedTuple):
    """The rate that a flow grows back to, and its path."""

    rate_bps: float
    round_trip_ns: float
    """Of the empty network."""
    packet_bytes: int

    @property
    def missing_bps(self) -> float:
        """Return the rate that it lacks at half of the share."""
        return self.rate_bps / 2

    @property
    def bits_per_ns(self) -> float:
        """Return the mean rate while it grows: three quarters of the share."""
        return 0.75 * self.rate_bps / 1e9


def recovery_ns(
    transport: TransportName, settings: GroupSettings, line_rate_bps: int, share: Share
) -> float | None:
    """Return the time in which a transport grows from half of a share to it; None if it has no rule."""
    if transport.base in _TCP_WINDOWS:
        queue_bits = 8 * settings.marking.kmin_bytes if settings.marking else 0
        return _packet_per_round_trip(share, share.round_trip_ns + queue_bits * 1e9 / line_rate_bps)
    if settings.control is not None:
        rule = _NIC_CONTROLS.get(transport.control or "")
        return rule(control_values(settings.control), share) if rule else None
    agent = settings.agents.get(line_rate_bps)
    return None if agent is None else _vegas(agent, share)


_TCP_WINDOWS: Final = ("reno", "dctcp")


def _packet_per_round_trip(share: Share, round_trip_ns: float) -> float:
    """Return the time of growth by one segment per round trip. Source: RFC 5681, section 3.1."""
    packets = share.missing_bps * round_trip_ns / 1e9 / 8 / TCP_SEGMENTS.payload_bytes
    return packets * round_trip_ns


def _dcqcn(values: Mapping[str, float], share: Share) -> float | None:
    """Return the time of all fast recoveries and of the additive increases after them, by the timer alone.

    Source: Zhu et al., SIGCOMM 2015, section 3.1.
    """
    if not values["additive_increase_bps"]:
        return None
    steps = values["recoveries"] + share.missing_bps / values["additive_increase_bps"]
    return steps * values["rate_timer_ns"]


def _timely(values: Mapping[str, float], share: Share) -> float | None:
    """Return the time of one increase per segment, larger ones after `hyper_after` of them.

    Source: Mittal et al., SIGCOMM 2015, section 4.3.
    """
    if not values["additive_increase_bps"]:
        return None
    plain = share.missing_bps / values["additive_increase_bps"]
    slow = min(plain, values["hyper_after"])
    segment_ns = values["segment_bytes"] * 8 / share.bits_per_ns
    return (slow + (plain - slow) / values["hyper_factor"]) * max(segment_ns, share.round_trip_ns)


def _swift(values: Mapping[str, float], share: Share) -> float | None:
    """Return the time in which the window grows by its increase per round trip of the target delay.

    Source: Kumar et al., SIGCOMM 2020, section 3.2.
    """
    delay_ns = max(values["base_target_ns"], share.round_trip_ns)
    packets = share.missing_bps * delay_ns / 1e9 / 8 / share.packet_bytes
    return packets / values["additive_increase_packets"] * delay_ns


_NIC_CONTROLS: Final[dict[str, Callable[[Mapping[str, float], Share], float | None]]] = {
    "dcqcn": _dcqcn,
    "timely": _timely,
    "timely-patched": _timely,
    "swift": _swift,
}


def _vegas(agent: TransportSettings, share: Share) -> float | None:
    """Return the time in which RoGUE's window grows by a packet per accepted sample, and the limiter follows.

    After each change of the limiter `hold_off_bytes` have no sample. Source: RoGUE, section 3.3.
    """
    if not isinstance(agent.cc_parameters, VegasParameters):
        return None
    base_rtt_ns = max(agent.cc_parameters.base_rtt_floor_ns, share.round_trip_ns)
    packets = share.missing_bps * base_rtt_ns / 1e9 / 8 / share.packet_bytes
    changes = max(packets, share.missing_bps / agent.rate_change_max_bps)
    return changes * (agent.hold_off_bytes + agent.segment_bytes) * 8 / share.bits_per_ns
