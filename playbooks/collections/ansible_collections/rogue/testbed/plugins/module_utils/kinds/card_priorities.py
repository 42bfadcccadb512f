"""Priorities of a card: traffic classes, pauses, and what a packet's priority is told by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..cards import MLX5, card_of
from ..system import CommandError, StateError, System
from .kind import OfInterface, Value

_OBJECTS = {"ets": ("tc-tsa", "tc-bw", "prio-tc"), "pfc": ("prio-pfc",), "app": ("dscp-prio",)}
"""What is read and set, by dcb's own words. Source: dcb-ets(8), dcb-pfc(8), dcb-app(8).

Buffers are left to mlx5, which fits them to pauses by itself until one is set (`manual_buffer` in
mlx5/core/en_dcbnl.c), and then does so no more."""
_PRIORITIES, _SHARES_PERCENT = 8, 100
_NO_BANDWIDTH = "0:0 1:0 2:0 3:0 4:0 5:0 6:0 7:0"


class CardPriorities(OfInterface):
    """The key is an interface; what is there has dcb's words, such as `{"pfc": {"prio-pfc": "0:off ..."}}`.

    An object that a driver does not have is missing. Wanted is `{trust, dscp, priority, paused}`: what tells
    a packet's priority, pcp or dscp; the DSCP of all packets and the priority that it stands for; priorities
    that pause. Each priority gets a traffic class of its own and an equal share. All of it is set even where
    a driver reports it: its report before the first setting need not be what the card does. A card of
    which dcb shows nothing is left alone, as long as nothing is to pause.
    """

    def observe(self, system: System, key: str) -> Value:
        """Every object that the driver has."""
        card_of(system, key)
        found = {}
        for name, words in _OBJECTS.items():
            try:
                shown = system.run(["dcb", "-N", name, "show", "dev", key, *words])
            except CommandError as error:
                if "not installed" in error.words:
                    raise
                continue
            lines = dict(line.strip().partition(" ")[::2] for line in shown.splitlines() if line.strip())
            found[name] = {word: " ".join(lines.get(word, "").split()) for word in words}
        return found

    def is_met(self, observed: Value, wanted: Value) -> bool:
        """Nobody can tell before it was set once."""
        return False

    def establish(self, system: System, key: str, wanted: Value) -> None:
        """Set what is wanted, object by object; pauses only if they change: mlx5 drops the link for that."""
        driver, there = card_of(system, key).driver, self.observe(system, key)
        words = _words(wanted)
        if words["app"]["dscp-prio"] and driver != MLX5:
            raise StateError(
                f"interface {key}: {driver or 'its driver'} does not look at the DSCP, although the kernel "
                "takes a table for it: set card_priorities_trust to pcp"
            )
        if not {"ets", "pfc"} <= set(there):
            if not wanted["paused"] and wanted["trust"] == "pcp":
                return
            raise StateError(
                f"interface {key}: {driver or 'its driver'} has no priorities; this needs a card, and dcb"
            )
        _set(system, key, "ets", words["ets"])
        if there["pfc"] != words["pfc"]:
            _set(system, key, "pfc", words["pfc"])
        _set_app(system, key, there.get("app", {}).get("dscp-prio", ""), words["app"]["dscp-prio"])

    def undo(self, system: System, key: str, before: Value, after: Value) -> None:
        """Set what differs from before, unless the interface has gone."""
        if not system.path(f"/sys/class/net/{key}").exists():
            return
        there = self.observe(system, key)
        for name, words in reversed(list(before.items())):
            if name == "app":
                _set_app(system, key, there.get(name, words)["dscp-prio"], words["dscp-prio"])
            elif there.get(name, words) != words:
                _set(system, key, name, _settable(name, words))


def _words(wanted: dict[str, Any]) -> dict[str, dict[str, str]]:
    shares = [
        _SHARES_PERCENT // _PRIORITIES + (each < _SHARES_PERCENT % _PRIORITIES) for each in range(_PRIORITIES)
    ]
    pauses = ["on" if priority in wanted["paused"] else "off" for priority in range(_PRIORITIES)]
    trusted = f"{wanted['dscp']}:{wanted['priority']}" if wanted["trust"] == "dscp" else ""
    return {
        "ets": {
            "tc-tsa": _pairs(["ets"] * _PRIORITIES),
            "tc-bw": _pairs(shares),
            "prio-tc": _pairs(range(_PRIORITIES)),
        },
        "pfc": {"prio-pfc": _pairs(pauses)},
        "app": {"dscp-prio": trusted},
    }


def _pairs(values: Iterable[object]) -> str:
    return " ".join(f"{number}:{value}" for number, value in enumerate(values))


def _set(system: System, key: str, name: str, words: dict[str, str]) -> None:
    """One call for an object: dcb checks shares and their kinds together."""
    command = ["dcb", name, "set", "dev", key]
    for word, pairs in words.items():
        command += [word, *pairs.split()]
    system.run(command)


def _settable(name: str, words: dict[str, str]) -> dict[str, str]:
    """mlx5 reports 100 % for each class that has no share, and dcb takes no such sum; a driver ignores it.

    Source: iproute2, dcb/dcb_ets.c (dcb_ets_validate_bw); Linux, mlx5/core/en_dcbnl.c (mlx5e_build_tc_tx_bw).
    """
    if name == "ets" and ":ets" not in words["tc-tsa"]:
        return {**words, "tc-bw": _NO_BANDWIDTH}
    return words


def _set_app(system: System, key: str, there: str, wanted: str) -> None:
    """Make the table what is wanted; mlx5 trusts the DSCP as long as there is any entry."""
    gone = [pair for pair in there.split() if pair not in wanted.split()]
    new = [pair for pair in wanted.split() if pair not in there.split()]
    if new:
        system.run(["dcb", "app", "add", "dev", key, "dscp-prio", *new])
    if gone:
        system.run(["dcb", "app", "del", "dev", key, "dscp-prio", *gone])
