"""Two nodes with sessions that stay open for all tests, their experiment NICs joined by one cable."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from helpers.agent_flows import LIMIT_MS, Node, node
from helpers.running_machines import RunningMachines

from rogue.agent.node.fields import AgentError
from rogue.agent.node.messages import EndRole, RoleEnded


@pytest.fixture(scope="session")
def nodes(machines: RunningMachines) -> Iterator[tuple[Node, Node]]:
    with (
        node(machines.logins["h1"], "10.9.0.1") as source,
        node(machines.logins["h2"], "10.9.0.2") as destination,
    ):
        yield source, destination


@pytest.fixture(autouse=True)
def bare_links(nodes: tuple[Node, Node]) -> Iterator[None]:
    """Remove qdiscs of a test, and roles that a failed test has left."""
    yield
    for each in nodes:
        for role in ("requester", "responder"):
            with suppress(AgentError):
                each.client.request(EndRole(role, LIMIT_MS), RoleEnded)
        each.connection.run("tc qdisc del dev eth1 root 2>/dev/null || true")
