"""Kinds of kernel and card settings that Ansible's own modules cannot set."""

from __future__ import annotations

import contextlib
import json
import re

from .card_priorities import CardPriorities
from .kind import Kind, Value
from .system import CommandError, StateError, System

_DEVICE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")
_FILE = re.compile(r"/(?:proc|sys)(?:/[A-Za-z0-9_][A-Za-z0-9_.:-]*)+")


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


KINDS: dict[str, Kind] = {
    "kernel_files": _KernelFile(),
    "soft_roce": _SoftRoce(),
    "traffic_control": _TrafficControl(),
    "card_priorities": CardPriorities(),
    "features": _Features(),
}
"""In the order in which they are set."""
