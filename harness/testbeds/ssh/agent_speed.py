"""Where the agent's own loop, and not the network, is what limits a flow: said in the plan."""

from typing import Final

from rogue.agent.core.transports import TRANSPORTS
from rogue.harness.cell.carrier import Group
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.parameters import agent_settings

SAMPLED_VERB_NS: Final = 13_500
"""Processor time for a verb whose completion is a sample, with completions polled and all rows kept.

Source: benchmarks/agent_loop.py, "rogue at 100 Gb/s, polling" and half of `turn_us`, for a core that is full
finds two verbs in a turn, as there; on an AMD EPYC at 2.6 GHz nominal, 25 November 2026, beside other work.
The card cost nothing there, so a real one makes it more."""

_SHARE_MAX: Final = 0.6
"""What is left is for the card's doorbell, rates that are set, and a slower core."""
_KIB: Final = 1_024


def agent_is_slow(cell: Cell) -> str | None:
    """The sentence that a core is full before the hosts' links are; None if it is not."""
    line_rate_bps = cell.topology.host_rate_max_bps
    limits = [limit for group in cell.groups if (limit := core_full_bps(group, line_rate_bps)) is not None]
    least_bps = min(limits, default=line_rate_bps)
    if least_bps >= line_rate_bps:
        return None
    return (
        f"the agent takes all of a core for one flow at {least_bps / 1e9:.0f} Gb/s at the latest, and the "
        f"hosts' links have {line_rate_bps / 1e9:g} Gb/s: fewer flows than fill them are limited by "
        f"computing, {_advice(line_rate_bps)} (benchmarks/agent_loop.py, on an AMD EPYC)"
    )


def _advice(line_rate_bps: int) -> str:
    """The smallest `segment`, of those that are powers of two, that leaves a core some of its time."""
    segment_bytes = _KIB
    while (share := SAMPLED_VERB_NS * line_rate_bps / (8e9 * segment_bytes)) > _SHARE_MAX:
        segment_bytes *= 2
    return f"and `segment: {segment_bytes // _KIB}KiB` would take {share:.0%} of a core"


def core_full_bps(group: Group, line_rate_bps: int) -> float | None:
    """Payload of one flow at which a core has nothing left; None for what takes no samples."""
    name = group.transport.base
    if name not in TRANSPORTS:
        return None
    settings = agent_settings(name, line_rate_bps, group.parameters)
    return None if settings.estimator is None else 8e9 * settings.segment_bytes / SAMPLED_VERB_NS
