"""The MTU of an interface, and soft-RoCE on it."""

from __future__ import annotations

import json
import re

from ..system import StateError, System
from .kernel import loaded_modules, unload_unused
from .kind import OfInterface, Value

_DEVICE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")


class Mtu(OfInterface):
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


class SoftRoce(OfInterface):
    """Name of the RDMA device on an interface; None without one. Any device on it will do."""

    def mistake(self, key: str, wanted: Value) -> str | None:
        """The value is a name, too."""
        if _DEVICE.fullmatch(wanted):
            return super().mistake(key, wanted)
        return f"soft_roce_device: got {wanted!r}, expected a name such as rxe0"

    def observe(self, system: System, key: str) -> Value:
        """The device on that interface, soft or hard, and the kernel's modules: a new device loads some."""
        links = json.loads(system.run(["rdma", "-j", "link", "show"]) or "[]")
        device = next((link["ifname"] for link in links if link.get("netdev") == key), None)
        return {"device": device, "loaded": loaded_modules(system)}

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """One that is there is not renamed."""
        return bool(observed and observed["device"])

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Put soft-RoCE on it."""
        system.run(["rdma", "link", "add", wanted, "type", "rxe", "netdev", key])

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Take it off again if there was none."""
        device = self.observe(system, key)["device"]
        if before["device"] is None and device is not None:
            system.run(["rdma", "link", "delete", device])
        unload_unused(system, before["loaded"], (after or before)["loaded"])

    def summary(self, value: Value) -> Value:
        """The device."""
        return value["device"] if isinstance(value, dict) else value

    def kept(self, value: Value) -> Value:
        """With the modules."""
        return value
