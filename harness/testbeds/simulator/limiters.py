"""Whether the NICs have limiters enough for what a cell does, said before the run."""

from collections import Counter
from collections.abc import Iterator

from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.transports import TRANSPORTS
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.mistakes import ParameterError
from rogue.harness.cell.parameters import agent_settings
from rogue.harness.testbeds.simulator.controls import agent_parameters
from rogue.harness.testbeds.simulator.features import agent_transport
from rogue.harness.testbeds.simulator.nics import profile_of
from rogue.workloads.traffic import Flow


def missing_limiters(cell: Cell) -> str | None:
    """The first NIC with too few limiters, as a reason; None if every NIC has enough.

    Each queue pair that responds to READs of an agent with rates keeps a limiter. One more serves all queue
    pairs without rates, and at least one serves those that take turns.
    """
    topology = cell.topology
    if not any(flow.verb == "read" for group in cell.groups for flow in group.flows):
        return None
    kept, turns, unlimited = Counter[str](), set[str](), set[str]()
    for flow, settings in _flows(cell):
        is_paced, is_read = settings.estimator is not None, flow.verb == "read"
        if is_read and is_paced:
            kept[flow.responder] += 1
        if is_paced and not is_read:
            turns.add(flow.initiator)
        else:
            unlimited.add(flow.initiator)
    if cell.experiment.probe is not None:
        unlimited.add(topology.probe_host())
    for host, readers in sorted(kept.items()):
        limiters = profile_of(topology, host).limiters
        keeps_one = host in unlimited or topology.nic_limiters is not None
        needed = readers + (host in turns) + keeps_one
        if limiters and needed > limiters:
            return (
                f"{host} responds to the READs of {readers} flows and needs {needed} limiters, of which its "
                f"NIC {topology.nic_of(host)} has {limiters}: let fewer hosts read from it, or choose a NIC "
                "with a limiter for each queue pair (topology.nic=cx4)"
            )
    return None


def _flows(cell: Cell) -> Iterator[tuple[Flow, TransportSettings]]:
    """Every flow of the traffic with its agent's settings; other checks report a mistake in these."""
    for group in cell.groups:
        name = agent_transport(group.transport)
        if name not in TRANSPORTS:
            continue
        parameters = agent_parameters(group)
        rates_bps = {flow.initiator: cell.topology.host_rate_bps(flow.initiator) for flow in group.flows}
        try:
            settings = {rate: agent_settings(name, rate, parameters) for rate in set(rates_bps.values())}
        except ParameterError:
            return
        for flow in group.flows:
            yield flow, settings[rates_bps[flow.initiator]]
