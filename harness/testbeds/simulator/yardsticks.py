"""Compute ideal transfer times: the same packets alone on the same path."""

from collections.abc import Callable
from dataclasses import replace
from math import ceil

from rogue.agent.core.segmentation import AcknowledgedSegmenter
from rogue.agent.core.settings import TransportSettings
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import PlannedFlow
from rogue.harness.cell.group_settings import TcpSettings
from rogue.harness.testbeds.simulator.features import cell_transports, framing
from rogue.harness.testbeds.simulator.flows import RunningFlow
from rogue.harness.testbeds.simulator.network import SimulatedNetwork
from rogue.harness.testbeds.simulator.nics import profile_of
from rogue.harness.testbeds.transfer_tables import Yardstick
from rogue.simulator import Reliability, Simulation
from rogue.workloads.framing import TCP, Packets
from rogue.workloads.ideal import Route, sprayed_route
from rogue.workloads.packet_train import Links, PacketRules
from rogue.workloads.transports import BASES, full_packets


def yardsticks(cell: Cell, network: SimulatedNetwork) -> Callable[[PlannedFlow], Yardstick]:
    """Return the yardstick of each flow."""
    rules: dict[tuple[object, ...], PacketRules] = {}
    known: dict[str, Yardstick] = {}
    for flow in network.flows:
        nic = cell.topology.nic_of(flow.flow.initiator)
        alike = flow.carrier.name, id(flow.settings), flow.flow.verb_bytes, nic
        if alike not in rules:
            rules[alike] = _rules(cell, flow)
        known[flow.flow_id] = Yardstick(_route(cell, network.simulation, flow), rules[alike])
    return lambda planned: known[planned.flow_id]


def _route(cell: Cell, simulation: Simulation, running: RunningFlow) -> Route:
    flow, topology = running.flow, cell.topology
    selects_ports = any(control.entry.selects_ports for control in topology.switch_controls)
    if running.nics.spraying is not None or selects_ports:
        route = sprayed_route(topology, flow.initiator, flow.responder)
        if route is not None:
            return route
    path = simulation.path(running.qp_nums[0])
    return Route(Links(path.there_bps, path.back_bps), path.delay_ps)


def _rules(cell: Cell, running: RunningFlow) -> PacketRules:
    settings, transport, flow = running.settings, running.carrier.transport, running.flow
    control, reliability = running.nics.control, running.nics.reliability
    if isinstance(settings, TcpSettings):
        return _segment_rules(cell, settings)
    topology = cell.topology
    packets = full_packets(transport, cell_transports(cell), topology.frames, topology.mtu_bytes)
    verb_bytes = min(flow.verb_bytes or settings.segment_bytes, settings.segment_bytes)
    rules = PacketRules(packets, verb_bytes=verb_bytes)
    if settings.service == "uc":
        return _unreliable_rules(cell, settings, rules)
    if reliability is None:
        is_each_told = control is not None and control.wants_acknowledgements
        every = 1 if is_each_told else profile_of(topology, flow.initiator).ack_every_packets
        return replace(rules, acknowledged_every=every)
    if transport.base == "uet":
        return _uet_rules(reliability, rules)
    return replace(rules, acknowledged_every=None if reliability.name == "go-back-0" else 1)


def _segment_rules(cell: Cell, settings: TcpSettings) -> PacketRules:
    """Return rules of TCP: own headers, the preamble and gap of the network, options in place of payload."""
    tcp, usual = Reliability(settings.transport, settings.parameters), BASES[settings.transport].packets
    assert usual is not None, "a TCP has its own packets"
    acknowledgement_bytes = TCP.header_bytes + usual.payload_bytes - settings.segment_bytes
    framing = replace(
        TCP,
        header_bytes=acknowledgement_bytes + int(tcp.value("framing_bytes")),
        acknowledgement_bytes=max(TCP.acknowledgement_bytes, acknowledgement_bytes),
        gap_bytes=cell.topology.frames.gap_bytes,
    )
    every = int(tcp.value("ack_every_segments"))
    return PacketRules(Packets(framing, settings.segment_bytes), acknowledged_every=every)


def _unreliable_rules(cell: Cell, settings: TransportSettings, rules: PacketRules) -> PacketRules:
    """Return rules of UC: a batch ends with immediate data if the receiver acknowledges batches."""
    rules = replace(rules, has_acknowledgements=False)
    if not settings.has_batch_acknowledgements:
        return rules
    assert rules.verb_bytes is not None, "an agent cuts transfers into verbs"
    verbs_max = max(1, settings.send_queue_verbs // settings.batches_min - AcknowledgedSegmenter.extra_verbs)
    batch_verbs = min(verbs_max, -(-settings.segment_bytes // rules.verb_bytes))
    return replace(rules, batch_verbs=batch_verbs, immediate_bytes=framing(cell).immediate_overhead_bytes)


def _uet_rules(reliability: Reliability, rules: PacketRules) -> PacketRules:
    """Return rules of UET: an acknowledgement for some bytes, for the first packet and for the last one."""
    frame_bytes = rules.packets.payload_bytes + reliability.value("header_bytes")
    every = ceil(reliability.value("sack_every_bytes") / frame_bytes)
    return replace(rules, acknowledged_every=every, acknowledges_first=True, acknowledges_verbs=False)
