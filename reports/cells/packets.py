"""The full packets of each flow: what its transport puts around its payload on the wire."""

import numpy as np
import pandas as pd

from rogue.reports.cells.coded import coded
from rogue.reports.cells.view import CellView, once_per_cell
from rogue.workloads.framing import FRAMINGS, ROCEV2, Packets
from rogue.workloads.transports import TransportNameError, full_packets, parse_transport


@once_per_cell
def packets_of_flows(view: CellView) -> dict[str, Packets]:
    """Return the full packets of each flow of the traffic, in the order of `flow_ids`.

    Empty where the cell does not say how large packets are, or has a transport that is not known here.
    """
    flows, mtu_bytes = view.table("flows"), view.entry.number("mtu_bytes")
    if flows is None or not mtu_bytes:
        return {}
    framing = FRAMINGS.get(str(view.entry.facts.get("framing")), ROCEV2)
    names, own = _transports_of_groups(view), view.entry.transport_name
    groups = _group_of_flows(flows)
    try:
        parsed = {
            group: parse_transport(names.get(group.partition(".")[0], own)) for group in set(groups.values())
        }
    except TransportNameError:
        return {}
    packets = {
        group: full_packets(name, list(parsed.values()), framing, int(mtu_bytes))
        for group, name in parsed.items()
    }
    return {flow_id: packets[groups[flow_id]] for flow_id in view.flow_ids}


def _group_of_flows(flows: pd.DataFrame) -> dict[str, str]:
    """Return the group of traffic of each flow."""
    ids, groups = coded(flows["flow_id"]), coded(flows["group"])
    codes, first = np.unique(ids.codes, return_index=True)
    return {ids.names[code]: groups.names[groups.codes[row]] for code, row in zip(codes, first, strict=True)}


def _transports_of_groups(view: CellView) -> dict[str, str]:
    """Return the transports of the groups of traffic that have one of their own."""
    groups = view.run.manifest.experiment.get("traffic")
    return {
        str(group.get("name")): str(group["transport"])
        for group in (groups if isinstance(groups, list) else [])
        if isinstance(group, dict) and group.get("transport")
    }
