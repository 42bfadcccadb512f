"""Priorities of a card: traffic classes, pauses, DSCPs, maximum rates, and the owner of DCBX."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from .kind import Kind, Value
from .system import CommandError, StateError, System, text_of

CLASSES = 8
MLX4, MLX5 = "mlx4_core", "mlx5_core"


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


class CardPriorities(Kind):
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
        """Return the objects that the driver has, `mode` of DCBX among them."""
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
        """Return True if an object differs, except for maximum rates."""
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
        if not speaks_dcbx_on_host(there):
            there = self._take_dcbx(system, key)
        kinds, shares, classes = ["ets"] * CLASSES, self._SHARES_PERCENT, range(CLASSES)
        pauses = ("on" if priority in wanted["paused"] else "off" for priority in range(CLASSES))
        table = f"{wanted['dscp']}:{wanted['priority']}" if wanted["trust"] == "dscp" else ""
        objects = {
            "ets": {"tc-tsa": _pairs(kinds), "tc-bw": _pairs(shares), "prio-tc": _pairs(classes)},
            "pfc": {"prio-pfc": _pairs(pauses)},
            "maxrate": {"tc-maxrate": _pairs(["0bit"] * CLASSES)},
            "app": {"dscp-prio": table},
        }
        self._change(system, key, {**there, "ets": {}}, objects)

    def _take_dcbx(self, system: System, key: str) -> Value:
        """Move DCBX to the host; return the objects then, without those that the switch gave the firmware."""
        try:
            system.run(["dcb", "dcbx", "set", "dev", key, "host", "ieee"])
        except CommandError as error:
            raise StateError(
                f"interface {key}: its firmware keeps DCBX ({error.stderr.strip()}), and may take ETS and "
                "PFC from the switch; disable DCBX on the switch, or in the firmware with mstconfig "
                "(DCBX_IEEE_P1, DCBX_CEE_P1)"
            ) from error
        return self.observe(system, key)

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

        mlx5 drops the link when pauses change. It trusts the DSCP while its table has an entry, so entries
        are added before others are deleted.
        """
        for name, words in wanted.items():
            if name == "app":
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


def _pairs(values: Iterable[object]) -> str:
    return " ".join(f"{number}:{value}" for number, value in enumerate(values))
