"""Two nodes with sessions that stay open, their experiment NICs joined by one cable."""

from collections.abc import Iterator

import pytest
from helpers.agent_flows import Node, node

from virtual.testbed import RunningMachines


@pytest.fixture(scope="module")
def nodes(machines: RunningMachines) -> Iterator[tuple[Node, Node]]:
    with (
        node(machines.logins["h1"], "10.9.0.1") as source,
        node(machines.logins["h2"], "10.9.0.2") as destination,
    ):
        yield source, destination


@pytest.fixture(autouse=True)
def bare_links(nodes: tuple[Node, Node]) -> Iterator[None]:
    """Take away what a test has put on the links."""
    yield
    for each in nodes:
        each.connection.run("tc qdisc del dev eth1 root 2>/dev/null || true")
