"""Free TCP ports on the loopback interface for the machines' SSH servers."""

import socket
from contextlib import ExitStack


def reserve(count: int) -> list[int]:
    """Find ``count`` distinct free ports of 127.0.0.1; QEMU takes them right afterwards."""
    with ExitStack() as stack:
        ports = []
        for _ in range(count):
            listener = stack.enter_context(socket.socket())
            listener.bind(("127.0.0.1", 0))
            ports.append(int(listener.getsockname()[1]))
        return ports
