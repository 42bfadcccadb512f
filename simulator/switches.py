"""Switches: how they store what must wait, and what else they do."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from rogue.simulator._core import Engine
from rogue.simulator.flow_control import FlowControls, PriorityFlowControl
from rogue.simulator.framing import Framing
from rogue.simulator.marking import FairRates, Marking, Trimming, marking_rules, weights_of
from rogue.simulator.parameters import (
    BUFFER_BYTES_MAX,
    RATE_BPS_MAX,
    require_integer,
    require_one_of,
    require_positive,
)
from rogue.simulator.plugin_controls import SwitchControl, switch_control_arguments
from rogue.simulator.topology import Topology

SwitchKind: TypeAlias = Literal["shared", "voq"]
SWITCH_KINDS: Final = ("shared", "voq")


class Switches:
    """Part of a simulation."""

    framing: Framing
    _engine: Engine
    _topology: Topology
    _flow_controls: FlowControls
    _has_choosers: bool = False

    def add_switch(  # noqa: PLR0913 - a switch has that many features, all named
        self,
        name: str,
        *,
        buffer_bytes: int | None,
        alpha: float,
        kind: SwitchKind = "shared",
        flow_control: PriorityFlowControl | None = None,
        marking: Marking | Mapping[int, Marking] | None = None,
        weights: Mapping[int, int] | None = None,
        fair_rates: FairRates | None = None,
        has_telemetry: bool = False,
        trimming: Trimming | None = None,
        controls: Sequence[SwitchControl] = (),
        thresholds_at_bps: int | None = None,
    ) -> None:
        """Add a switch with buffers of ``buffer_bytes`` (None = unbounded).

        The usual kind is output-queued with one buffer that all ports share. A packet that must wait is
        refused if its port already holds ``alpha`` times the free buffer, or if the buffer is full. Frame
        bytes are charged while a packet waits, until its sending begins.
        Source: Choudhury and Hahne, "Dynamic queue length thresholds", 1998.

        The kind ``voq`` is input-queued with virtual output queues: each link has a buffer for what comes in
        over it; a packet is refused if that is full. Ports take frames from all inputs in turn.
        Source: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018, section 4.1.

        With any of the others each port has a queue per priority. The largest goes first; those with
        ``weights`` share what others leave. The headroom of all links is set aside from the buffer, that of a
        link from its own. With ``has_telemetry`` ports write into packets what a control that wants it should
        know; the simulation's framing must have room for it. ``controls`` are parts from outside. ``marking``
        and ``trimming`` are those of a port of ``thresholds_at_bps``, and others have them in proportion to
        their rates (None: all alike).
        """
        where = f"add_switch {name}"
        _require_buffer(where, buffer_bytes, alpha)
        is_voq = require_one_of(where, "kind", kind, SWITCH_KINDS) == "voq"
        arguments: dict[str, object] = {"has_telemetry": has_telemetry, "is_input_queued": is_voq}
        arguments |= {"weights": weights_of(where, weights), "markings": marking_rules(where, marking)}
        arguments |= _thresholds(where, thresholds_at_bps)
        if flow_control is not None:
            arguments["pause"] = flow_control.arguments(where, self.framing, buffer_bytes)
        arguments |= {} if trimming is None else trimming.arguments(where)
        arguments |= switch_control_arguments(where, controls, beside=arguments)
        arguments |= {} if fair_rates is None else fair_rates.arguments(where)
        self._topology.require_new("add_switch", name)
        node = self._engine.add_switch(name, buffer_bytes=buffer_bytes, alpha=alpha, **arguments)
        self._topology.add_node(name, None)
        self._has_choosers |= "chooser" in arguments
        self._flow_controls.add(node, name, flow_control, buffer_bytes, is_input_queued=is_voq)


def _require_buffer(where: str, buffer_bytes: int | None, alpha: float) -> None:
    if buffer_bytes is not None:
        require_integer(where, "buffer_bytes", buffer_bytes, 1, BUFFER_BYTES_MAX)
    require_positive(where, "alpha", alpha)


def _thresholds(where: str, at_bps: int | None) -> dict[str, int]:
    """Return the rate of the ports that thresholds are meant for; nothing if all ports have the same."""
    if at_bps is None:
        return {}
    return {"thresholds_at_bps": require_integer(where, "thresholds_at_bps", at_bps, 1, RATE_BPS_MAX)}
