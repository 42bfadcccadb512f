"""Kernel and card settings that Ansible's own modules cannot set: how to read, set and restore each kind."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

from .cards import MLX5, card_of
from .dcb_rates import CLASSES, rates_kbps, set_rates_kbps
from .system import CommandError, StateError, System

Value = Any
"""Any value that JSON can hold."""
_INTERFACE = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_][A-Za-z0-9_.:-]{0,14}")
_DEVICE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")
_FILE = re.compile(r"/(?:proc|sys)(?:/[A-Za-z0-9_][A-Za-z0-9_.:-]*)+")


class Kind(ABC):
    """One kind of setting; the key of a setting is a network interface unless the kind says otherwise."""

    def mistake(self, key: str, wanted: Value) -> str | None:
        """Return why key or value is refused: both become arguments, lines and paths of root's programs."""
        if _INTERFACE.fullmatch(key):
            return None
        return (
            f"interface: got {key!r}, expected a name of at most 15 letters and digits; correct the inventory"
        )

    def refusal(self, key: str, observed: Value) -> str | None:
        """Return why a setting that is not ours yet must not be replaced."""
        return None

    @abstractmethod
    def observe(self, system: System, key: str) -> Value:
        """Return the value now; None if there is no such setting."""

    def is_met(self, observed: Value, wanted: Value, left: Value) -> bool:
        """Return True if nothing has to be set; `left` is the value that an earlier call left, or None."""
        return bool(observed == wanted)

    @abstractmethod
    def set(self, system: System, key: str, wanted: Value) -> None:
        """Set the value."""

    @abstractmethod
    def restore(self, system: System, key: str, before: Value) -> None:
        """Set the value that was there before provisioning."""

    def has_drifted(self, observed: Value, left: Value) -> bool:
        """Return True if the value differs from the one that was left, except where experiments change it."""
        return bool(observed != left)

    def kept(self, observed: Value, wanted: Value) -> Value:
        """Return the value to store as the one that was left."""
        return observed


class _KernelFile(Kind):
    """Text of a file in /proc or /sys; the key is its path."""

    def mistake(self, key: str, wanted: Value) -> str | None:
        if _FILE.fullmatch(key) and str(wanted).isprintable():
            return None
        return f"kernel file {key!r}: got {wanted!r}, expected a path in /proc or /sys and one line of text"

    def observe(self, system: System, key: str) -> Value:
        text = system.read(key)
        return None if text is None else " ".join(text.split())

    def is_met(self, observed: Value, wanted: Value, left: Value) -> bool:
        return bool(observed == " ".join(str(wanted).split()))

    def set(self, system: System, key: str, wanted: Value) -> None:
        """Write the text; the kernel may pin interrupts, so a refusal there is no error."""
        try:
            if not system.path(key).exists():
                raise StateError(f"{key}: this kernel has no such file; load the module that brings it")
            system.path(key).write_text(f"{wanted}\n")
        except OSError as error:
            if not key.startswith("/proc/irq/"):
                raise StateError(f"{key}: the kernel refuses {wanted!r}: {error.strerror}") from error

    def restore(self, system: System, key: str, before: Value) -> None:
        if before is not None and system.path(key).exists():
            self.set(system, key, before)


class _SoftRoce(Kind):
    """Name of the RDMA device on an interface; any device is accepted if there is one."""

    def mistake(self, key: str, wanted: Value) -> str | None:
        if _DEVICE.fullmatch(str(wanted)):
            return super().mistake(key, wanted)
        return f"soft_roce_device: got {wanted!r}, expected a name such as rxe0"

    def observe(self, system: System, key: str) -> Value:
        links = json.loads(system.run(["rdma", "-j", "link", "show"]) or "[]")
        return next((link["ifname"] for link in links if link.get("netdev") == key), None)

    def is_met(self, observed: Value, wanted: Value, left: Value) -> bool:
        return observed is not None

    def set(self, system: System, key: str, wanted: Value) -> None:
        system.run(["rdma", "link", "add", wanted, "type", "rxe", "netdev", key])

    def restore(self, system: System, key: str, before: Value) -> None:
        device = self.observe(system, key)
        if before is None and device is not None:
            system.run(["rdma", "link", "delete", device])


class _TrafficControl(Kind):
    """Queueing disciplines, classes and filters of an interface, from lines for `tc -batch`.

    The kernel rounds the numbers in the lines, so a tree is compared with the one that the same lines left.
    """

    _LISTS = (
        "qdisc show dev",
        "class show dev",
        "filter show dev",
        "filter show egress dev",
        "filter show ingress dev",
    )
    _COUNTERS = re.compile(r" (?:refcnt|direct_packets_stat) \d+")
    _RATE = re.compile(r" rate \S+ (?:overhead|ceil|burst|cburst) .*")
    _ROOT = re.compile(r"^qdisc (?!\S+ 0: )\S+ \S+ root", re.MULTILINE)  # the kernel numbers its own ones 0

    def mistake(self, key: str, wanted: Value) -> str | None:
        """Return the first line that is not one line about this interface."""
        wrong = [line for line in wanted if not line.isprintable() or f" dev {key} " not in line]
        if not wrong:
            return super().mistake(key, wanted)
        return f"traffic_control {key}: got {wrong[0]!r}, expected one line for tc about this interface"

    def observe(self, system: System, key: str) -> Value:
        if not system.path(f"/sys/class/net/{key}").exists():
            raise StateError(f"interface {key}: not on this node; correct the inventory")
        return self._COUNTERS.sub("", "".join(self._listed(system, words, key) for words in self._LISTS))

    def refusal(self, key: str, observed: Value) -> str | None:
        """Return the reason to keep a tree that nobody could set again line by line."""
        found = self._ROOT.search(observed or "")
        if found is None:
            return None
        return (
            f"interface {key}: got `{found.group()}`, expected the kernel's default, because teardown "
            f"could not restore another tree; if it may go: tc qdisc del dev {key} root"
        )

    def is_met(self, observed: Value, wanted: Value, left: Value) -> bool:
        is_empty = (
            not wanted and not self._ROOT.search(observed or "") and "qdisc clsact " not in (observed or "")
        )
        return is_empty or bool(left and left == self.kept(observed, wanted))

    def set(self, system: System, key: str, wanted: Value) -> None:
        self._clear(system, key)
        system.run(["tc", "-batch", "-"], "".join(f"{line}\n" for line in wanted))

    def restore(self, system: System, key: str, before: Value) -> None:
        """Clear the interface; the kernel then adds its default discipline."""
        if system.path(f"/sys/class/net/{key}").exists():
            self._clear(system, key)

    def has_drifted(self, observed: Value, left: Value) -> bool:
        """Return True if the trees differ in more than rates; tc lists classes in any order."""
        trees = (
            sorted(self._RATE.sub("", line) for line in tree.splitlines())
            for tree in (observed or "", left["tree"])
        )
        return next(trees) != next(trees)

    def kept(self, observed: Value, wanted: Value) -> Value:
        return {"lines": wanted, "tree": observed}

    @staticmethod
    def _listed(system: System, words: str, key: str) -> str:
        try:
            return system.run(["tc", *words.split(), key])
        except CommandError:
            if words.startswith("filter"):  # an interface without clsact has no such filters
                return ""
            raise

    def _clear(self, system: System, key: str) -> None:
        listed = system.run(["tc", "qdisc", "show", "dev", key])
        if "qdisc clsact " in listed:
            system.run(["tc", "qdisc", "del", "dev", key, "clsact"])
        if self._ROOT.search(listed):
            system.run(["tc", "qdisc", "del", "dev", key, "root"])


class _CardRates(Kind):
    """Maximum rates of a card's traffic classes in kb/s, 0 for none; None if the driver has none.

    Agents change them during experiments, so they are recorded even if there is nothing to set.
    """

    def observe(self, system: System, key: str) -> Value:
        card_of(system, key)
        return rates_kbps(system, key)

    def is_met(self, observed: Value, wanted: Value, left: Value) -> bool:
        return observed is None or observed == wanted

    def set(self, system: System, key: str, wanted: Value) -> None:
        set_rates_kbps(system, key, wanted)

    def restore(self, system: System, key: str, before: Value) -> None:
        if before is not None and system.path(f"/sys/class/net/{key}").exists():
            set_rates_kbps(system, key, before)

    def has_drifted(self, observed: Value, left: Value) -> bool:
        return (observed is None) != (left is None)


class _CardPriorities(Kind):
    """Traffic classes, pauses and DSCPs of a card, in dcb's words: `{"pfc": {"prio-pfc": "0:off ..."}}`.

    Wanted is `{trust, dscp, priority, paused}`. Each priority gets its own traffic class and an equal share.
    Source: dcb-ets(8), dcb-pfc(8), dcb-app(8). Buffers are left to mlx5, which fits them to pauses until
    one is set (`manual_buffer` in mlx5/core/en_dcbnl.c).
    """

    _OBJECTS: ClassVar = {"ets": ("tc-tsa", "tc-bw", "prio-tc"), "pfc": ("prio-pfc",), "app": ("dscp-prio",)}
    _SHARES_PERCENT = (13, 13, 13, 13, 12, 12, 12, 12)

    def observe(self, system: System, key: str) -> Value:
        card_of(system, key)
        found = {}
        for name, words in self._OBJECTS.items():
            try:
                shown = system.run(["dcb", "-N", name, "show", "dev", key, *words])
            except CommandError as error:
                if "not installed" in error.stderr:
                    raise
                continue
            lines = dict(line.strip().partition(" ")[::2] for line in shown.splitlines() if line.strip())
            found[name] = {word: " ".join(lines.get(word, "").split()) for word in words}
        return found

    def is_met(self, observed: Value, wanted: Value, left: Value) -> bool:
        """Return True if set before: a driver's report before the first setting may differ from its card."""
        return bool(left and left == self.kept(observed, wanted))

    def kept(self, observed: Value, wanted: Value) -> Value:
        return {"wanted": wanted, "shown": observed}

    def has_drifted(self, observed: Value, left: Value) -> bool:
        return bool(observed != left["shown"])

    def set(self, system: System, key: str, wanted: Value) -> None:
        """Set each object; pauses only if they change, because mlx5 then drops the link."""
        driver, there = card_of(system, key).driver, self.observe(system, key)
        objects = self._objects(wanted)
        if objects["app"]["dscp-prio"] and driver != MLX5:
            raise StateError(
                f"interface {key}: {driver or 'its driver'} ignores the DSCP although the kernel accepts a "
                "table; set card_priorities_trust to pcp"
            )
        if not {"ets", "pfc"} <= set(there):
            if not wanted["paused"] and wanted["trust"] == "pcp":
                return
            raise StateError(
                f"interface {key}: {driver or 'its driver'} has no priorities; this needs a card, and dcb"
            )
        _set_object(system, key, "ets", objects["ets"])
        if there["pfc"] != objects["pfc"]:
            _set_object(system, key, "pfc", objects["pfc"])
        _set_dscps(system, key, there.get("app", {}).get("dscp-prio", ""), objects["app"]["dscp-prio"])

    def restore(self, system: System, key: str, before: Value) -> None:
        """Set each object that differs.

        mlx5 reports 100 % for a class without a share, a sum that dcb refuses and the driver ignores: set 0.
        Source: iproute2, dcb/dcb_ets.c (dcb_ets_validate_bw);
        Linux, mlx5/core/en_dcbnl.c (mlx5e_build_tc_tx_bw).
        """
        if not system.path(f"/sys/class/net/{key}").exists():
            return
        there = self.observe(system, key)
        for name, words in reversed(list((before or {}).items())):
            if name == "app":
                _set_dscps(system, key, there.get(name, words)["dscp-prio"], words["dscp-prio"])
            elif there.get(name, words) != words:
                is_plain = name == "ets" and ":ets" not in words["tc-tsa"]
                _set_object(
                    system, key, name, {**words, "tc-bw": _pairs([0] * CLASSES)} if is_plain else words
                )

    def _objects(self, wanted: Value) -> dict[str, dict[str, str]]:
        pauses = ["on" if priority in wanted["paused"] else "off" for priority in range(CLASSES)]
        trusted = f"{wanted['dscp']}:{wanted['priority']}" if wanted["trust"] == "dscp" else ""
        shares = {
            "tc-tsa": _pairs(["ets"] * CLASSES),
            "tc-bw": _pairs(self._SHARES_PERCENT),
            "prio-tc": _pairs(range(CLASSES)),
        }
        return {"ets": shares, "pfc": {"prio-pfc": _pairs(pauses)}, "app": {"dscp-prio": trusted}}


def _pairs(values: Iterable[object]) -> str:
    return " ".join(f"{number}:{value}" for number, value in enumerate(values))


def _set_object(system: System, key: str, name: str, words: dict[str, str]) -> None:
    """Set an object in one call, because dcb checks shares and their kinds together."""
    system.run(
        [
            "dcb",
            name,
            "set",
            "dev",
            key,
            *(part for word, pairs in words.items() for part in (word, *pairs.split())),
        ]
    )


def _set_dscps(system: System, key: str, there: str, wanted: str) -> None:
    """Set the table of DSCPs; mlx5 trusts the DSCP while there is any entry, so add before deleting."""
    for verb, these, others in (("add", wanted, there), ("del", there, wanted)):
        pairs = [pair for pair in these.split() if pair not in others.split()]
        if pairs:
            system.run(["dcb", "app", verb, "dev", key, "dscp-prio", *pairs])


KINDS: dict[str, Kind] = {
    "kernel_files": _KernelFile(),
    "soft_roce": _SoftRoce(),
    "traffic_control": _TrafficControl(),
    "card_priorities": _CardPriorities(),
    "card_rates": _CardRates(),
}
"""In the order in which they are set."""
