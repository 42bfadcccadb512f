"""The agents that this process talks to; they stay from cell to cell, for starting one takes seconds."""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.testbeds.base import TestbedError
from rogue.harness.testbeds.ssh.node import Node, open_node


class _Kept:
    """Open nodes of one inventory, and what closes them."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.stack = ExitStack()


_kept: dict[Path, _Kept] = {}
"""One process runs one cell after the other, and a testbed is pickled anew for each."""


@contextmanager
def open_nodes(inventory: Inventory, names: Iterable[str]) -> Iterator[dict[str, Node]]:
    """Nodes with a running agent and compared clocks.

    They stay open for the next cell unless this one fails: then nobody knows what state they are in, and all
    are closed. They end with this process in any case. One that has ended by itself, as agents do that hear
    nothing for long, is opened anew.
    """
    kept = _kept.setdefault(inventory.path, _Kept())
    wanted = sorted(names)
    try:
        listening = _listening({name: kept.nodes[name] for name in wanted if name in kept.nodes})
        kept.nodes |= open_all(inventory, set(wanted) - listening, kept.stack)
        yield {name: kept.nodes[name] for name in wanted}
    except BaseException:
        close_nodes(inventory)
        raise


def _listening(nodes: Mapping[str, Node]) -> set[str]:
    """Names of the nodes whose agents still run, after comparing their clocks anew."""

    def listens(node: Node) -> bool:
        try:
            node.compare_clocks()
        except TestbedError:
            return False
        return True

    with ThreadPoolExecutor(max(1, len(nodes))) as pool:
        return {
            name for name, is_there in zip(nodes, pool.map(listens, nodes.values()), strict=True) if is_there
        }


def close_nodes(inventory: Inventory) -> None:
    """End all agents of an inventory that this process talks to."""
    kept = _kept.pop(inventory.path, None)
    if kept is not None:
        kept.stack.close()


def open_all(inventory: Inventory, names: Iterable[str], stack: ExitStack) -> dict[str, Node]:
    """Connect to hosts at the same time; the connections end with the stack."""
    hosts = {host.name: host for host in inventory.hosts}
    wanted = [hosts[name] for name in sorted(names)]
    with ThreadPoolExecutor(max(1, len(wanted))) as pool:
        opened = [(host.name, pool.submit(stack.enter_context, open_node(host))) for host in wanted]
        return {name: future.result() for name, future in opened}
