"""What connections of rdma_cm are by default: RoCE v2, and the byte TOS of their packets."""

from __future__ import annotations

from pathlib import Path

from ..cards import card_of
from ..system import StateError, System
from .kind import OfInterface, Value

_PLACE = "/sys/kernel/config/rdma_cm"
_BY_ITSELF = {"mode": "RoCE v2", "tos": "0"}
"""Source: Linux, drivers/infiniband/core/cma.c (cma_add_one: RoCE v2 where the card has it)."""


class RoceMode(OfInterface):
    """The key is an interface, the value `{mode, tos}`; None until the device's directory is made.

    Source: Linux, Documentation/ABI/testing/configfs-rdma_cm.
    """

    def observe(self, system: System, key: str) -> Value:
        """What is set, if that can be seen."""
        port = _port(system, key)
        if port is None or not port.is_dir():
            return None
        return {name: (port / file).read_text().strip() for name, file in _FILES.items()}

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Make the directory, which the kernel fills, and write both."""
        port = _port(system, key)
        if port is None:
            raise StateError(f"interface {key}: there is no RDMA device on it: load mlx4_ib or mlx5_ib")
        if not port.parents[2].is_dir():
            raise StateError(f"{_PLACE} is not there: load module rdma_cm, and mount configfs")
        port.parents[1].mkdir(exist_ok=True)
        _write(port, wanted, key)

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Write the earlier value, or the kernel's own choice if none was recorded."""
        if not system.path(f"/sys/class/net/{key}").exists():
            return
        port = _port(system, key)
        if port is None or not port.is_dir():
            return
        _write(port, before or _BY_ITSELF, key)
        if before is None:
            port.parents[1].rmdir()


_FILES = {"mode": "default_roce_mode", "tos": "default_roce_tos"}


def _port(system: System, key: str) -> Path | None:
    card = card_of(system, key)
    return system.path(f"{_PLACE}/{card.device}/ports/{card.port}") if card.device else None


def _write(port: Path, values: dict[str, str], key: str) -> None:
    for name, file in _FILES.items():
        try:
            (port / file).write_text(f"{values[name]}\n")
        except OSError as error:
            raise StateError(
                f"interface {key}: its card refuses {file} {values[name]!r} ({error.strerror}); "
                "a ConnectX-3 that is no Pro has RoCE v1 alone, which this project does not use"
            ) from error
