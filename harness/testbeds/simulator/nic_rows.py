"""Rows of tables about switches that stand for the ports of NICs, which have none elsewhere."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rogue.harness.cell.cell import Cell

Columns = Mapping[str, NDArray[Any]]


def queues_of_switches(cell: Cell, queues: Columns) -> Columns:
    """The table of queues without those of NICs."""
    nics = _nics(cell)
    return _kept(queues, "node", lambda node: node not in nics) if nics else queues


def pauses_of_links(cell: Cell, pauses: Columns) -> Columns:
    """The table of pauses without those between a host and the ports of its own NIC."""
    nics = _nics(cell)
    if not nics:
        return pauses
    hosts = cell.topology.host_names()
    own = [(host, nic) for host in hosts for nic in cell.topology.links_of[host] if nic in nics]
    inside = {f"{a}->{b}" for host, nic in own for a, b in ((host, nic), (nic, host))}
    return _kept(pauses, "port", lambda port: port not in inside)


def _nics(cell: Cell) -> set[str]:
    return {switch.name for switch in cell.network.switches if switch.is_nic}


def _kept(table: Columns, column: str, keeps: Callable[[str], bool]) -> Columns:
    is_kept = np.array([keeps(str(each)) for each in table[column]], dtype=bool)
    return {name: values[is_kept] for name, values in table.items()}
