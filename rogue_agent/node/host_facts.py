"""Facts about a host's kernel that change processor costs and latencies of TCP and verbs."""

import re
from collections.abc import Callable
from pathlib import Path

PROCESSOR = Path("/sys/devices/system/cpu/cpu0/cpuidle")
"""Idle states of the first processor; Linux gives all processors the same."""
_OFFLOADS = {
    "TSO": "tcp-segmentation-offload",
    "GRO": "generic-receive-offload",
    "LRO": "large-receive-offload",
}
_MODERATION = re.compile(r"^(?:(Adaptive RX): (\w+(?:/\w+)?)|(rx-usecs):\s+(\w+(?:/\w+)?))", re.MULTILINE)
Ask = Callable[[list[str]], str]
"""Runs a program, and returns its output, or "" if it is missing or fails."""


def offloads(netdev: str, ask: Ask) -> str:
    """Return the offloads of an interface, such as `TSO on, GRO on, LRO off`; `unknown` without ethtool."""
    shown = ask(["ethtool", "-k", netdev])
    found = {
        name: re.search(rf"^\s*{words}: (\w+)", shown, re.MULTILINE) for name, words in _OFFLOADS.items()
    }
    return ", ".join(f"{name} {state.group(1)}" for name, state in found.items() if state) or "unknown"


def interrupt_moderation(netdev: str, ask: Ask) -> str:
    """Return the settings of interrupt moderation, such as `adaptive-rx on, rx-usecs 8`, or `unknown`."""
    found = _MODERATION.findall(ask(["ethtool", "-c", netdev]))
    words = [
        f"{'adaptive-rx' if name else usecs} {(name and state) or number}"
        for name, state, usecs, number in found
    ]
    return ", ".join(words) or "unknown"


def idle_states(directory: Path = PROCESSOR) -> str:
    """Return the C-states that a processor may enter, such as `POLL 0 us, C1 2 us`; `none` in a guest.

    Source: Linux, Documentation/admin-guide/pm/cpuidle.rst.
    """
    found = []
    for state in sorted(directory.glob("state[0-9]*"), key=lambda path: int(path.name[5:])):
        name, latency_us, disable = (
            (state / file).read_text().strip() for file in ("name", "latency", "disable")
        )
        if disable == "0":
            found.append(f"{name} {latency_us} us")
    return ", ".join(found) or "none"
