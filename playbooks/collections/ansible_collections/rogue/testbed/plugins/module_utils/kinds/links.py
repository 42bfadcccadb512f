"""The MTU of an interface, and soft-RoCE on it."""

from __future__ import annotations

import json

from ..system import StateError, System
from .kind import Kind, Value


class Mtu(Kind):
    """MTU of an interface, bytes."""

    def observe(self, system: System, key: str) -> Value:
        """The MTU now."""
        text = system.read(f"/sys/class/net/{key}/mtu")
        if text is None:
            raise StateError(f"interface {key}: this node has none such; correct the inventory")
        return int(text)

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Set it."""
        system.run(["ip", "link", "set", "dev", key, "mtu", str(wanted)])

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Set what it was, unless the interface has gone."""
        if system.read(f"/sys/class/net/{key}/mtu") is not None:
            self.establish(system, key, before)


class SoftRoce(Kind):
    """Name of the RDMA device on an interface; None without one. Any device on it will do."""

    def observe(self, system: System, key: str) -> Value:
        """The device on that interface, soft or hard."""
        links = json.loads(system.run(["rdma", "-j", "link", "show"]) or "[]")
        return next((link["ifname"] for link in links if link.get("netdev") == key), None)

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """One that is there is not renamed."""
        return observed is not None

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Put soft-RoCE on it."""
        system.run(["rdma", "link", "add", wanted, "type", "rxe", "netdev", key])

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Take it off again if there was none."""
        device = self.observe(system, key)
        if before is None and device is not None:
            system.run(["rdma", "link", "delete", device])
