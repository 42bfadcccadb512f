"""The two clocks are different types: `make lint` has mypy refuse each line that says so.

This is not run. Where a refusal is ignored and does not come, mypy strict says that it need not be ignored.
"""

from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection


def mix(connection: Connection, host: HostNs, nic: NicNs) -> None:
    """Use each clock where it belongs, and where it does not."""
    connection.on_posted(1, nic)
    connection.on_timer(host)
    connection.on_posted(1, host)  # type: ignore[arg-type]
    connection.on_timer(nic)  # type: ignore[arg-type]
    connection.on_posted(1, 5)  # type: ignore[arg-type]
    connection.on_completions(host, [(1, 0, host, 0, None)])  # type: ignore[list-item]
    Schedule(size_bytes=1, start_ns=nic)  # type: ignore[arg-type]
