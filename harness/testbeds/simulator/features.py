"""What the words of a transport's name (`roce+pfc`) ask of the simulated network: one line for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rogue.agent.core.transports import TRANSPORTS
from rogue.harness.cell.carrier import Carrier
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.mistakes import ParameterError, ParameterMistake
from rogue.harness.experiment.choices import Scalar
from rogue.harness.testbeds.base import Fact
from rogue.harness.testbeds.simulator.tcp import TCPS, marking_for
from rogue.harness.testbeds.simulator.values import values_of
from rogue.simulator import (
    CONTROLS,
    FAIR_RATE_PARAMETERS,
    FRAMINGS,
    ControlParameter,
    Framing,
    Marking,
    PriorityFlowControl,
    Reliability,
    with_telemetry,
)
from rogue.workloads.transports import NIC_CONTROLS, ControlFeature, TransportName

DCQCN_MARKING: Final = Marking(kmin_bytes=5_000, kmax_bytes=200_000, pmax=0.01)
"""Source: Zhu, Ghobadi, Misra and Padhye, "ECN or delay", CoNEXT 2016, table 1."""
MARKING_PARAMETERS: Final = (
    ControlParameter("kmin_bytes", 5_000, 0, 1e12, "queues up to this are not marked"),
    ControlParameter("kmax_bytes", 200_000, 0, 1e12, "above this all packets are"),
    ControlParameter("pmax", 0.01, 1e-9, 1, "probability just below that"),
    ControlParameter("average_weight", 1, 1e-9, 1, "of each arrival's sight of the queue; 1: no average"),
    ControlParameter("drops_above", 0, 0, 1, "1: what comes above kmax is dropped, as WRED does"),
    ControlParameter("drops_instead", 0, 0, 1, "1: drops what it would mark, as queues without ECN"),
)
"""What an experiment may set of a transport's marking."""
DATAGRAM_MTU_BYTES: Final = 1024
"""The agents' messages are no larger, whatever the path MTU."""


@dataclass(frozen=True, slots=True)
class Feature:
    """What one word asks for."""

    control: str | None = None
    """Congestion control of the NICs, a key of `simulator.CONTROLS`."""
    marking: Marking | None = None
    """When switches mark packets."""
    reliability: Reliability | None = None
    """How the NICs repair losses, if not by the usual go-back-N."""
    agent: str | None = None
    """The transport that the agent runs, if it is not the word itself."""
    has_pauses: bool = False
    """Switches and NICs pause each other."""
    has_fair_rates: bool = False
    """Switches work out rates and tell them to senders."""

    @property
    def switch_parameters(self) -> tuple[ControlParameter, ...]:
        """What an experiment may set of the switches' part."""
        rules = MARKING_PARAMETERS if self.marking else ()
        return rules + (FAIR_RATE_PARAMETERS if self.has_fair_rates else ())


def control_feature(name: str, control: ControlFeature) -> Feature:
    """Return what a control of NICs asks of NICs and switches."""
    marking = DCQCN_MARKING if control.wants_marks else None
    return Feature(control=name, marking=marking, has_fair_rates=control.wants_fair_rates)


FEATURES: Final[dict[str, Feature]] = {
    "pfc": Feature(has_pauses=True),
    **{name: control_feature(name, control) for name, control in NIC_CONTROLS.items()},
}
"""What may be added to transports, where they take it at all."""
BASES: Final[dict[str, Feature]] = {
    "irn": Feature(agent="roce", reliability=Reliability("irn")),
    "irn-gbn": Feature(agent="roce", reliability=Reliability("irn-gbn")),
    "irn-nobdp": Feature(agent="roce", reliability=Reliability("irn", {"cap_packets": 0})),
    "roce-lossy": Feature(agent="roce", reliability=Reliability("go-back-n")),
    "roce-go-back-0": Feature(agent="roce", reliability=Reliability("go-back-0")),
    "resilient_roce": Feature(
        agent="roce", reliability=Reliability("go-back-n"), control="dcqcn", marking=DCQCN_MARKING
    ),
}
"""What a transport asks for by its name alone."""
KNOWN: Final = (*TRANSPORTS, *TCPS, *BASES)


def features_of(name: TransportName) -> list[Feature]:
    """Everything that a transport asks for."""
    base = [BASES[name.base]] if name.base in BASES else []
    return [*base, *(FEATURES[feature] for feature in name.features if feature in FEATURES)]


def cell_transports(cell: Cell) -> list[TransportName]:
    """Every transport that carries a group of the cell."""
    return sorted({group.transport for group in cell.groups}, key=str)


def agent_transport(name: TransportName) -> str:
    """The transport that the agent runs, which knows nothing of NIC and switch features."""
    return BASES[name.base].agent or name.base if name.base in BASES else name.base


def unsupported_feature(cell: Cell) -> str | None:
    """The reason why the network cannot serve a transport; None if it can."""
    for name in cell_transports(cell):
        missing = [feature for feature in name.features if feature not in FEATURES]
        if name.base not in KNOWN or missing:
            added = ", ".join(f"+{feature}" for feature in FEATURES)
            return f"the simulator has no {name}; it has {', '.join(KNOWN)}, and of features {added}"
    return _unsupported_priorities(cell) or _unacknowledged_reads(cell)


def _unsupported_priorities(cell: Cell) -> str | None:
    """Why the priorities of the groups cannot be told apart as they need it; None if they can."""
    asked = _asked_by_priority(cell)
    for priority, features in asked.items():
        if len({has_pauses(each) for each in features}) > 1:
            return f"priority {priority} has groups with and without +pfc: give them different priorities"
    pauses = any(has_pauses(each) for features in asked.values() for each in features)
    if pauses and cell.topology.buffer_bytes is None:
        return "+pfc needs switches with a buffer: set topology.buffer"
    rules = _markings(cell)
    for priority, found in rules.items():
        if len(found) > 1:
            asks = "has groups that ask for different markings"
            return f"priority {priority} {asks}: give them different priorities"
    if set(asked) != {0} and not pauses and not rules:
        return "switches without +pfc and marking have one traffic class: set priority to 0"
    return None


def _unacknowledged_reads(cell: Cell) -> str | None:
    """READs are not acknowledged, so that controls that learn from acknowledgements never act on them."""
    for group in cell.groups:
        controls = [feature.control for feature in features_of(group.transport) if feature.control]
        learns = any(CONTROLS[control].wants_acknowledgements for control in controls)
        if learns and any(flow.verb == "read" for flow in group.flows):
            got = "acknowledgements, and responses to READs have none"
            return f"{group.transport} learns from {got}: use the verb write"
    return None


def _asked_by_priority(cell: Cell) -> dict[int, list[list[Feature]]]:
    """What the groups of each priority ask for."""
    asked: dict[int, list[list[Feature]]] = {}
    for group in cell.groups:
        asked.setdefault(group.priority, []).append(features_of(group.transport))
    return asked


def has_pauses(features: list[Feature]) -> bool:
    """Whether the network loses nothing for a transport that asks for these."""
    return any(feature.has_pauses for feature in features)


def _markings(cell: Cell) -> dict[int, list[Marking]]:
    """The rules that the groups of each priority ask for, each once."""
    asked: dict[int, list[Marking]] = {}
    for group in cell.groups:
        rule = carrier_marking(cell, group)
        if rule is not None and rule not in asked.setdefault(group.priority, []):
            asked[group.priority].append(rule)
    return {priority: rules for priority, rules in asked.items() if rules}


def carrier_marking(cell: Cell, carrier: Carrier) -> Marking | None:
    """The rule that a transport asks for; ParameterError if its parameters make none."""
    if carrier.transport.wants_marks:
        return marking_for(cell.topology, carrier)
    features = features_of(carrier.transport)
    rule = next((feature.marking for feature in features if feature.marking), None)
    return None if rule is None else _changed(rule, carrier.parameters)


def _changed(rule: Marking, parameters: Mapping[str, Scalar]) -> Marking:
    """The same rule with what an experiment sets of it."""
    values = values_of(MARKING_PARAMETERS, parameters)
    for switch in ("drops_above", "drops_instead"):
        if values.get(switch, 0) not in (0, 1):
            raise ParameterError(ParameterMistake(switch, "0 or 1", "choose one of them"))
    found = Marking(
        kmin_bytes=int(values.get("kmin_bytes", rule.kmin_bytes)),
        kmax_bytes=int(values.get("kmax_bytes", rule.kmax_bytes)),
        pmax=values.get("pmax", rule.pmax),
        at=rule.at,
        average_weight=values.get("average_weight", rule.average_weight),
        drops_above=bool(values.get("drops_above", rule.drops_above)),
        drops_instead=bool(values.get("drops_instead", rule.drops_instead)),
    )
    if found.kmin_bytes > found.kmax_bytes:
        mistake = ParameterMistake(
            "kmax", f"from kmin on, {found.kmin_bytes}", "correct it, or state kmin too"
        )
        if "kmin" in parameters:
            mistake = ParameterMistake("kmin", f"up to kmax, {found.kmax_bytes}", "correct one of them")
        raise ParameterError(mistake)
    return found


def flow_control(cell: Cell) -> PriorityFlowControl | None:
    """The flow control of all switches, for the priorities whose transports ask for it."""
    asked = _asked_by_priority(cell)
    priorities = tuple(sorted(p for p, each in asked.items() if any(has_pauses(f) for f in each)))
    if not priorities:
        return None
    mtus_bytes = [name.packets.payload_bytes for name in cell_transports(cell) if name.packets]
    topology = cell.topology
    return PriorityFlowControl(
        priorities=priorities,
        mtu_bytes=max(topology.mtu_bytes, DATAGRAM_MTU_BYTES, *mtus_bytes),
        alpha=topology.pause_alpha,
        xoff_bytes=topology.pause_xoff_bytes,
        headroom_bytes=topology.pause_headroom_bytes,
        watchdog_ns=topology.pause_watchdog_ns,
        watchdog_restore_ns=topology.pause_watchdog_restore_ns,
    )


def marking(cell: Cell) -> dict[int, Marking]:
    """When switches mark packets, by priority; empty if no transport reacts to marks."""
    return {priority: rules[0] for priority, rules in _markings(cell).items()}


def has_telemetry(cell: Cell) -> bool:
    """Whether switches write into packets what they hold."""
    return any(name.wants_telemetry for name in cell_transports(cell))


def framing(cell: Cell) -> Framing:
    """The topology's frames, if need be with room for telemetry."""
    usual = FRAMINGS[cell.topology.framing]
    return with_telemetry(usual) if has_telemetry(cell) else usual


def feature_facts(cell: Cell) -> dict[str, Fact]:
    """The parameters of flow control and marking; nothing without them."""
    facts: dict[str, Fact] = {}
    control, rules = flow_control(cell), marking(cell)
    is_input_queued = cell.topology.switch == "voq"
    if is_input_queued:
        facts["switch"] = "voq"
    if control is not None:
        if control.xoff_bytes is not None:
            facts["pfc_xoff_bytes"] = control.xoff_bytes
        elif not is_input_queued:
            facts["pfc_alpha"] = control.alpha
        facts["pfc_pause"] = "until resumed" if control.pause_ns is None else f"for {control.pause_ns} ns"
    is_one_rule = len(set(rules.values())) == 1
    for priority, rule in rules.items():
        of = "" if is_one_rule else f"_of_priority_{priority}"
        facts |= {
            f"kmin_bytes{of}": rule.kmin_bytes,
            f"kmax_bytes{of}": rule.kmax_bytes,
            f"pmax{of}": rule.pmax,
        }
        if rule.average_weight < 1:
            facts[f"average_weight{of}"] = rule.average_weight
        if rule.drops_above:
            facts[f"drops_above{of}"] = True
        if rule.drops_instead:
            facts[f"drops_instead{of}"] = True
    return facts
