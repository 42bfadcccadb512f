"""Everything that `tc` keeps on one interface: a tree of queueing disciplines with classes and filters."""

from __future__ import annotations

import re

from ..system import CommandError, StateError, System
from .kind import OfInterface, Value

_LISTS = (
    ["qdisc", "show", "dev"],
    ["class", "show", "dev"],
    ["filter", "show", "dev"],
    ["filter", "show", "egress", "dev"],
    ["filter", "show", "ingress", "dev"],
)
_NOISE = re.compile(r" (?:refcnt|direct_packets_stat) \d+")
_RATE = re.compile(r" rate \S+ (?:overhead|ceil|burst|cburst) .*")
_SOMEBODYS_ROOT = re.compile(r"^qdisc (?!\S+ 0: )\S+ \S+ root", re.MULTILINE)
"""The kernel numbers its own default disciplines 0."""


class TrafficControl(OfInterface):
    """The key is an interface; wanted is a list of lines for `tc -batch`, and what is there is tc's own text.

    The kernel rounds what it is told, so the lines cannot be compared with what is there. Whoever has a
    record compares the lines with the recorded ones, and what is there with what was there then.
    """

    def mistake(self, key: str, wanted: Value) -> str | None:
        """Each line is one, and about this interface."""
        wrong = [line for line in wanted if not line.isprintable() or f" dev {key} " not in line]
        if not wrong:
            return super().mistake(key, wanted)
        return f"traffic_control {key}: got {wrong[0]!r}, expected one line for tc about this interface"

    def observe(self, system: System, key: str) -> Value:
        """The tree as tc prints it, without what changes by itself."""
        if not system.path(f"/sys/class/net/{key}").exists():
            raise StateError(f"interface {key}: this node has none such; correct the inventory")
        return _NOISE.sub("", "".join(_listed(system, [*words, key]) for words in _LISTS))

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """Nothing can be said without a record."""
        return False

    def has_drifted(self, observed: Value, after: Value) -> bool:
        """Limiters get other rates all the time; what must stay is the tree."""
        return _without_rates(observed or "") != _without_rates(after)

    def refusal(self, key: str, observed: Value) -> str | None:
        """The reason to refuse a foreign tree, which cannot be put back line by line."""
        found = _SOMEBODYS_ROOT.search(observed or "")
        if found is None:
            return None
        return (
            f"interface {key} has a queueing discipline of somebody else's (`{found.group()}`), and it could "
            f"not be put back; if it may go, remove it: tc qdisc del dev {key} root"
        )

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Clear the interface and run the lines."""
        _clear(system, key)
        system.run(["tc", "-batch", "-"], "".join(f"{line}\n" for line in wanted))

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Clear the interface: the kernel then puts its default disciplines back."""
        if system.path(f"/sys/class/net/{key}").exists():
            _clear(system, key)


def _without_rates(tree: str) -> list[str]:
    """Classes are listed in an order of their own."""
    return sorted(_RATE.sub("", line) for line in tree.splitlines())


def _listed(system: System, words: list[str]) -> str:
    """What tc lists; an interface without a place for filters has none."""
    try:
        return system.run(["tc", *words])
    except CommandError:
        if words[0] == "filter":
            return ""
        raise


def _clear(system: System, key: str) -> None:
    """Remove root and clsact; there is no error if they are not there."""
    listed = system.run(["tc", "qdisc", "show", "dev", key])
    if "qdisc clsact " in listed:
        system.run(["tc", "qdisc", "del", "dev", key, "clsact"])
    if _SOMEBODYS_ROOT.search(listed):
        system.run(["tc", "qdisc", "del", "dev", key, "root"])
