"""Counters of an RDMA port, as the kernel shows them: they never go back to zero."""

from pathlib import Path

from rogue_agent.drivers.verbs.discovery import PortAddress

_DIRECTORIES = ("counters", "hw_counters")
_LIFESPAN = "lifespan"
COLUMNS = ("name", "before", "after")


def read_counters(sysfs: Path, port: PortAddress) -> dict[str, int]:
    """Every counter that can be read now; a missing one is absent, not zero."""
    place = sysfs / port.device / "ports" / str(port.port)
    found: dict[str, int] = {}
    for directory in _DIRECTORIES:
        for path in sorted((place / directory).glob("*")):
            value = _value(path)
            if value is not None and path.name != _LIFESPAN:
                found[path.name] = value
    return found


def _value(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
