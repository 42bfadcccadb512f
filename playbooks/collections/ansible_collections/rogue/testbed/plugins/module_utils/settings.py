"""Kinds of kernel and card settings that Ansible's own modules cannot set."""

from __future__ import annotations

import contextlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

from .system import CommandError, StateError, System, text_of

Value = Any
"""Any value that JSON can hold."""
CLASSES = 8
MLX4, MLX5 = "mlx4_core", "mlx5_core"
_INTERFACE = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_][A-Za-z0-9_.:-]{0,14}")
_DEVICE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")
_FILE = re.compile(r"/(?:proc|sys)(?:/[A-Za-z0-9_][A-Za-z0-9_.:-]*)+")


class Kind(ABC):
    """One kind of setting; the key of a setting is a network interface unless the kind says otherwise."""

    missing = "interface {}: not on this node; correct the inventory"

    def mistake(self, key: str, wanted: Value) -> str | None:
        """Return why key or value is refused: both become arguments, lines and paths of root's programs."""
        if _INTERFACE.fullmatch(key):
            return None
        return f"interface: got {key!r}, expected at most 15 letters and digits; correct the inventory"

    def is_there(self, system: System, key: str) -> bool:
        """Return True if the node has the interface or the file."""
        return system.path(f"/sys/class/net/{key}").exists()

    def refusal(self, key: str, observed: Value) -> str | None:
        """Return why a setting that is not ours yet must not be replaced."""
        return None

    @abstractmethod
    def observe(self, system: System, key: str) -> Value:
        """Return the present value; None if there is no such setting."""

    @abstractmethod
    def set(self, system: System, key: str, wanted: Value) -> None:
        """Set the value."""

    @abstractmethod
    def restore(self, system: System, key: str, before: Value) -> None:
        """Set the value from before provisioning; the interface or file still exists."""

    def is_met(self, observed: Value, wanted: Value, left: Value) -> bool:
        """Return True if nothing has to be set; by default if an earlier call left both values."""
        return bool(left == {"wanted": wanted, "observed": observed})

    def has_drifted(self, observed: Value, left: Value) -> bool:
        """Return True if the value differs from the one that was left, except where experiments change it."""
        return bool(observed != left)


class _KernelFile(Kind):
    """Text of a file in /proc or /sys; the key is its path."""

    missing = "{}: this kernel has no such file; load the module that brings it"

    def mistake(self, key: str, wanted: Value) -> str | None:
        if _FILE.fullmatch(key) and str(wanted).isprintable():
            return None
        return f"kernel file {key!r}: got {wanted!r}, expected a path in /proc or /sys and one line of text"

    def is_there(self, system: System, key: str) -> bool:
        return system.path(key).exists()

    def observe(self, system: System, key: str) -> Value:
        try:
            return " ".join(system.path(key).read_text().split())
        except OSError:  # also a file that only root may see
            return None

    def is_met(self, observed: Value, wanted: Value, left: Value) -> bool:
        return bool(observed == " ".join(str(wanted).split()))

    def set(self, system: System, key: str, wanted: Value) -> None:
        """Write the text; the kernel may pin interrupts, so a refusal there is no error."""
        try:
            system.path(key).write_text(f"{wanted}\n")
        except OSError as error:
            if not key.startswith("/proc/irq/"):
                raise StateError(f"{key}: the kernel refuses {wanted!r}: {error.strerror}") from error

    def restore(self, system: System, key: str, before: Value) -> None:
        if before is not None:
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

    _LISTS = ("qdisc show", "class show", "filter show", "filter show egress", "filter show ingress")
    _COUNTERS = re.compile(r" (?:refcnt|direct_packets_stat) \d+")
    _RATE = re.compile(r" rate \S+ (?:overhead|ceil|burst|cburst) .*")
    _ROOT = re.compile(r"^qdisc (?!\S+ 0: )\S+ \S+ root", re.MULTILINE)  # the kernel's default has handle 0

    def mistake(self, key: str, wanted: Value) -> str | None:
        wrong = [line for line in wanted if not line.isprintable() or f" dev {key} " not in line]
        if not wrong:
            return super().mistake(key, wanted)
        return f"traffic_control {key}: got {wrong[0]!r}, expected one line for tc about this interface"

    def observe(self, system: System, key: str) -> Value:
        tree = ""
        for words in self._LISTS:
            try:
                tree += system.run(["tc", *words.split(), "dev", key])
            except CommandError:
                if not words.startswith("filter"):  # an interface without clsact has no filters of it
                    raise
        return self._COUNTERS.sub("", tree)

    def refusal(self, key: str, observed: Value) -> str | None:
        found = self._ROOT.search(observed or "")
        return found and (
            f"interface {key}: got `{found.group()}`, expected the kernel's default, because teardown "
            f"could not restore another tree; if it may go: tc qdisc del dev {key} root"
        )

    def is_met(self, observed: Value, wanted: Value, left: Value) -> bool:
        is_empty = not self._ROOT.search(observed or "") and "qdisc clsact " not in (observed or "")
        return (not wanted and is_empty) or super().is_met(observed, wanted, left)

    def set(self, system: System, key: str, wanted: Value) -> None:
        """Clear the interface, after which the kernel adds its default discipline, and add the lines."""
        listed = system.run(["tc", "qdisc", "show", "dev", key])
        if "qdisc clsact " in listed:
            system.run(["tc", "qdisc", "del", "dev", key, "clsact"])
        if self._ROOT.search(listed):
            system.run(["tc", "qdisc", "del", "dev", key, "root"])
        system.run(["tc", "-batch", "-"], "".join(f"{line}\n" for line in wanted))

    def restore(self, system: System, key: str, before: Value) -> None:
        self.set(system, key, [])

    def has_drifted(self, observed: Value, left: Value) -> bool:
        """Return True if the trees differ in more than rates; tc lists classes in any order."""
        now, then = (
            sorted(self._RATE.sub("", line) for line in (tree or "").splitlines())
            for tree in (observed, left)
        )
        return now != then


class Card(NamedTuple):
    """Device of an interface; a field is empty if the interface has no driver, bus address or RDMA device."""

    driver: str
    pci: str
    """PCI address such as 0000:03:00.0."""
    device: str
    """RDMA device."""
    port: str


def card_of(system: System, interface: str) -> Card:
    """Return the device of an interface."""
    directory = system.path(f"/sys/class/net/{interface}")
    links = (directory / "device/driver", directory / "device")
    driver, pci = (link.resolve().name if link.exists() else "" for link in links)
    ports = sorted(system.path("/sys/class/infiniband").glob("*/ports/*/gid_attrs/ndevs/*"))
    own = (path for path in ports if text_of(path) == interface)
    port = next(own, None)
    return Card(driver, pci, *((port.parents[4].name, port.parents[2].name) if port else ("", "")))


class _CardPriorities(Kind):
    """Traffic classes, pauses, DSCPs and maximum rates of a card, in dcb's words: `{"pfc": {...}, ...}`.

    Wanted is `{trust, dscp, priority, paused}`. Each priority gets its own traffic class and an equal share;
    no class has a maximum rate. Agents change maximum rates during experiments.
    In DCBX mode `host` the firmware does not negotiate; mlx4 has that mode alone, with `cee` or without.
    Source: dcb-dcbx(8), dcb-ets(8), dcb-pfc(8), dcb-app(8), dcb-maxrate(8). Buffers are left to
    mlx5, which fits them to pauses until one is set (`manual_buffer` in mlx5/core/en_dcbnl.c).
    """

    _OBJECTS: ClassVar = {
        "dcbx": (),
        "ets": ("tc-tsa", "tc-bw", "prio-tc"),
        "pfc": ("prio-pfc",),
        "maxrate": ("tc-maxrate",),
        "app": ("dscp-prio",),
    }
    _SHARES_PERCENT = (13, 13, 13, 13, 12, 12, 12, 12)

    def observe(self, system: System, key: str) -> Value:
        if not self.is_there(system, key):
            return None
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
            if name == "dcbx":
                found[name] = {"mode": " ".join(shown.split())}
        return found

    def has_drifted(self, observed: Value, left: Value) -> bool:
        now, then = ({**(value or {}), "maxrate": None} for value in (observed, left))
        return now != then

    def set(self, system: System, key: str, wanted: Value) -> None:
        """Set shares even if they are as requested: before its first setting a driver may report others."""
        driver, there = card_of(system, key).driver, self.observe(system, key)
        if wanted["trust"] == "dscp" and driver != MLX5:
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
        kinds, shares, classes = ["ets"] * CLASSES, self._SHARES_PERCENT, range(CLASSES)
        pauses = ("on" if priority in wanted["paused"] else "off" for priority in range(CLASSES))
        table = f"{wanted['dscp']}:{wanted['priority']}" if wanted["trust"] == "dscp" else ""
        objects = {
            "dcbx": {"mode": "host ieee"},
            "ets": {"tc-tsa": _pairs(kinds), "tc-bw": _pairs(shares), "prio-tc": _pairs(classes)},
            "pfc": {"prio-pfc": _pairs(pauses)},
            "maxrate": {"tc-maxrate": _pairs(["0bit"] * CLASSES)},
            "app": {"dscp-prio": table},
        }
        self._change(system, key, {**there, "ets": {}}, objects)
        if not speaks_dcbx_on_host(self.observe(system, key)):
            raise StateError(
                f"interface {key}: its firmware keeps DCBX, and may take ETS and PFC from the switch; "
                "disable DCBX on the switch, or in the firmware with mstconfig (DCBX_IEEE_P1, DCBX_CEE_P1)"
            )

    def restore(self, system: System, key: str, before: Value) -> None:
        """Set each object that differs.

        mlx5 reports 100 % for a class without a share, a sum that dcb refuses and the driver ignores: set 0.
        Source: iproute2, dcb/dcb_ets.c (dcb_ets_validate_bw);
        Linux, mlx5/core/en_dcbnl.c (mlx5e_build_tc_tx_bw).
        """
        there = self.observe(system, key)
        before = dict(reversed((before or {}).items()))
        if "ets" in before and before["ets"] != there.get("ets") and ":ets" not in before["ets"]["tc-tsa"]:
            before["ets"] = {**before["ets"], "tc-bw": _pairs([0] * CLASSES)}
        dcbx = before.pop("dcbx", {})
        self._change(system, key, there, before)
        if dcbx and speaks_dcbx_on_host(there) and not speaks_dcbx_on_host({"dcbx": dcbx}):
            system.give_dcbx_to_firmware(key)

    @staticmethod
    def _change(system: System, key: str, there: Value, wanted: Value) -> None:
        """Set the objects that differ, each in one call, because dcb checks shares and kinds together.

        DCBX first: a card whose firmware negotiates may get shares and pauses from the switch.
        mlx5 drops the link when pauses change. It trusts the DSCP while its table has an entry, so entries
        are added before others are deleted.
        """
        for name, words in wanted.items():
            if name == "dcbx":
                if not speaks_dcbx_on_host(there):
                    system.run(["dcb", "dcbx", "set", "dev", key, *words["mode"].split()])
            elif name == "app":
                old, new = (each.get("dscp-prio", "").split() for each in (there.get("app", {}), words))
                for verb, pairs in (("add", set(new) - set(old)), ("del", set(old) - set(new))):
                    if pairs:
                        system.run(["dcb", "app", verb, "dev", key, "dscp-prio", *sorted(pairs)])
            elif name in there and there[name] != words:
                parts = [part for word, pairs in words.items() for part in (word, *pairs.split())]
                system.run(["dcb", name, "set", "dev", key, *parts])


def speaks_dcbx_on_host(objects: Value) -> bool:
    """Return True if the card's firmware does not negotiate DCBX, or has none."""
    dcbx = (objects or {}).get("dcbx")
    return dcbx is None or "host" in dcbx["mode"].split()


FEATURES = {"tso": "tcp-segmentation", "gro": "generic-receive", "lro": "large-receive"}
"""Offloads by the short names of `ethtool -K`, without `-offload`."""
_ADAPTIVE = re.compile(r"^Adaptive RX: (\w+)", re.MULTILINE)
_USECS = re.compile(r"^rx-usecs:\s+(\d+)", re.MULTILINE)


class _Features(Kind):
    """Offloads and interrupt moderation of an interface: `{tso, gro, lro, adaptive-rx, rx-usecs}`."""

    def mistake(self, key: str, wanted: Value) -> str | None:
        words = {name: _word(value) for name, value in wanted.items()}
        wrong = {
            name: value
            for name, value in words.items()
            if not re.fullmatch(r"[0-9]{1,6}" if name == "rx-usecs" else "on|off", value)
            or name not in {*FEATURES, "adaptive-rx", "rx-usecs"}
        }
        if not wrong:
            return super().mistake(key, wanted)
        return (
            f"features of {key}: got {wrong}, expected on or off for tso, gro, lro and adaptive-rx, and a "
            "number for rx-usecs"
        )

    def observe(self, system: System, key: str) -> Value:
        """Return the values that the driver has; some drivers have no interrupt moderation."""
        shown = system.run(["ethtool", "-k", key])
        found = {}
        for name, words in FEATURES.items():
            if state := re.search(rf"^\s*{words}-offload: (on|off)", shown, re.MULTILINE):
                found[name] = state.group(1)
        with contextlib.suppress(CommandError):
            shown = system.run(["ethtool", "-c", key])
            if (state := _ADAPTIVE.search(shown)) and state.group(1) in {"on", "off"}:
                found["adaptive-rx"] = state.group(1)
            if state := _USECS.search(shown):
                found["rx-usecs"] = state.group(1)
        return found

    def is_met(self, observed: Value, wanted: Value, left: Value) -> bool:
        return all((observed or {}).get(name) == _word(value) for name, value in wanted.items())

    def set(self, system: System, key: str, wanted: Value) -> None:
        there = self.observe(system, key)
        words = {name: _word(value) for name, value in wanted.items() if there.get(name) != _word(value)}
        for option, is_offload in (("-K", True), ("-C", False)):
            own = [each for name in words if (name in FEATURES) is is_offload for each in (name, words[name])]
            if own:
                system.run(["ethtool", option, key, *own])

    def restore(self, system: System, key: str, before: Value) -> None:
        if before:
            self.set(system, key, before)

    def has_drifted(self, observed: Value, left: Value) -> bool:
        """Return True if a value differs, except for one that the driver adapts."""
        now, then = (
            {name: state for name, state in (found or {}).items() if name != "rx-usecs" or not adapts}
            for found in (observed, left)
            for adapts in [(found or {}).get("adaptive-rx") == "on"]
        )
        return now != then


def _word(value: object) -> str:
    """Return on or off for YAML's booleans, and other values as text."""
    return ("off", "on")[value] if isinstance(value, bool) else str(value)


def _pairs(values: Iterable[object]) -> str:
    return " ".join(f"{number}:{value}" for number, value in enumerate(values))


KINDS: dict[str, Kind] = {
    "kernel_files": _KernelFile(),
    "soft_roce": _SoftRoce(),
    "traffic_control": _TrafficControl(),
    "card_priorities": _CardPriorities(),
    "features": _Features(),
}
"""In the order in which they are set."""
