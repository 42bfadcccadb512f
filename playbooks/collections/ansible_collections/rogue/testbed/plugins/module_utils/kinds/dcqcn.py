"""DCQCN in a card: its switches per priority, and its parameters."""

from __future__ import annotations

from ..cards import card_of, dcqcn_state, dcqcn_switches
from ..system import StateError, System
from .kind import OfInterface, Value

KEPT, DISABLED = "kept", "disabled"
_FLAGS = {"enabled": "1", DISABLED: "0"}


class Dcqcn(OfInterface):
    """The key is an interface; wanted is `{state, parameters: {name: value}}`.

    `state` is kept, enabled or disabled. Parameters have names of files of debugfs, such as rp_ai_rate.
    """

    def observe(self, system: System, key: str) -> Value:
        """Switches and parameters by path; and why there are none, if there are none."""
        card = card_of(system, key)
        return {
            "switches": dcqcn_switches(system, key),
            "parameters": _parameters(system, card.pci),
            "reason": dcqcn_state(system, key)["reason"],
        }

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """Whether all that is wanted is there; a card without DCQCN has it switched off."""
        if observed is None:
            return False
        switches, parameters = observed["switches"], observed["parameters"]
        has_none = not switches and "has none" in observed["reason"]
        is_switched = wanted["state"] == KEPT or (has_none and wanted["state"] == DISABLED)
        is_switched |= bool(switches) and set(switches.values()) == {_FLAGS.get(wanted["state"])}
        return is_switched and all(
            parameters.get(name) == str(value) for name, value in wanted["parameters"].items()
        )

    def has_drifted(self, observed: Value, after: Value) -> bool:
        """Only root sees parameters. Without them no change can be found."""
        if observed is None:
            return True
        seen = observed["parameters"] or after["parameters"]
        return bool((observed["switches"], seen) != (after["switches"], after["parameters"]))

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Write switches and parameters; StateError says why that cannot be."""
        there = self.observe(system, key)
        flag = _FLAGS.get(wanted["state"], "")
        if flag and not there["switches"]:
            raise StateError(
                f"interface {key}: DCQCN cannot be {wanted['state']}: {there['reason']}; "
                "set dcqcn_state to kept"
            )
        for path in there["switches"] if flag else ():
            _write(system, path, flag)
        pci = card_of(system, key).pci
        for name, value in wanted["parameters"].items():
            if name not in there["parameters"]:
                known = ", ".join(there["parameters"]) or "none"
                raise StateError(f"interface {key}: DCQCN has no parameter {name}; it has {known}")
            _write(system, _parameter(pci, name), str(value))

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Write what differs from before, unless the interface has gone."""
        if not system.path(f"/sys/class/net/{key}").exists():
            return
        there, pci = self.observe(system, key), card_of(system, key).pci
        for path, value in before["switches"].items():
            if there["switches"].get(path) not in (None, value):
                _write(system, path, value)
        for name, value in before["parameters"].items():
            if there["parameters"].get(name) not in (None, value):
                _write(system, _parameter(pci, name), value)


def _parameters(system: System, pci: str) -> dict[str, str]:
    directory = system.path(f"/sys/kernel/debug/mlx5/{pci}/cc_params")
    try:
        names = sorted(path.name for path in directory.iterdir())
    except (FileNotFoundError, PermissionError):
        return {}
    return {name: (system.read(_parameter(pci, name)) or "").strip() for name in names}


def _parameter(pci: str, name: str) -> str:
    return f"/sys/kernel/debug/mlx5/{pci}/cc_params/{name}"


def _write(system: System, path: str, value: str) -> None:
    try:
        system.path(path).write_text(f"{value}\n")
    except OSError as error:
        raise StateError(f"{path}: the driver refuses {value}: {error.strerror}") from error
