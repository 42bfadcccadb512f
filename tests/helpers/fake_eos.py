"""Arista EOS as its manual describes it: modes, a session that holds changes until `commit`, paging.

Source: Arista EOS User Manual, chapters Command-Line Interface (modes, terminal length, `% Invalid input`),
Configuration Sessions, Quality of Service and Data Center Bridging.
"""

import json
import re

from helpers.fake_switch import Cli, Tree

KINDS = (
    (0, r"(qos map dscp \d+) to traffic-class [0-7]"),
    (1, r"(qos trust) (?:dscp|cos)"),
    (1, r"(priority-flow-control on)"),
    (1, r"(priority-flow-control priority [0-7] no-drop)"),
    (
        2,
        r"(random-detect ecn minimum-threshold) \d+ bytes maximum-threshold \d+ bytes"
        r" max-mark-probability (?:[1-9]\d?|100) weight (?:\d|1[0-5])",
    ),
)
"""Depth of the mode, and the line; its group is what `no` needs at least."""
MODES = (r"interface Ethernet\d+(?:/\d+)*", r"uc-tx-queue [0-7]")


class FakeEos(Cli):
    """A switch `tor` with two ports, and more lines than a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.running = Tree()
        self.running.put((), "hostname", "hostname tor")
        for number in range(1, 31):
            self.running.open((f"interface Ethernet{number}",))
        self.staged: Tree | None = None
        self.mode: tuple[str, ...] | None = None
        self.is_enabled = False
        self.is_gone = False
        self.interfaces: dict[str, dict[str, int]] = {
            f"Ethernet{number}": {"bandwidth": 10_000_000_000, "mtu": 9214} for number in range(1, 5)
        }
        """Without any, the switch does not know how to show them."""

    def enter(self) -> None:
        self.mode, self.is_enabled, self.is_paging, self.is_gone = None, False, True, False

    def prompt(self) -> str:
        if self.mode is None:
            return "tor#" if self.is_enabled else "tor>"
        inner = {0: "", 1: "-if-Et1", 2: "-if-Et1-uc-txq-3"}[len(self.mode)]
        return f"tor(config-s-rogue{inner})#"

    @property
    def is_over(self) -> bool:
        return self.is_gone

    def rejection(self, command: str) -> str:
        return "% Invalid input"

    def execute(self, command: str) -> str:
        return self._exec(command) if self.mode is None else self._configure(self.mode, command)

    def _exec(self, command: str) -> str:
        if command.startswith("terminal width "):
            return f"Width set to {command.rsplit(maxsplit=1)[-1]} columns."
        if command == "terminal length 0":
            self.is_paging = False
            return "Pagination disabled."
        if command == "enable":
            self.is_enabled = True
            return ""
        if command in {"exit", "logout"}:
            self.is_gone = True
            return ""
        if not self.is_enabled:
            return "% Invalid input (privileged mode required)"
        if command == "show running-config":
            return "\n".join(["! Command: show running-config", *self.running.shown(), "!", "end"])
        if command == "show interfaces | json" and self.interfaces:
            return json.dumps({"interfaces": self.interfaces}, indent=4)
        if command == "configure session rogue":
            self.staged = self.staged or self.running.copy()
            self.mode = ()
            return ""
        return self.rejection(command)

    def _configure(self, mode: tuple[str, ...], command: str) -> str:
        assert self.staged is not None
        if command in {"abort", "commit"}:
            self.staged.prune("uc-tx-queue")
            self.running = self.staged if command == "commit" else self.running
            self.staged, self.mode = None, None
            return ""
        if command in {"exit", "end"}:
            self.mode = mode[:-1] if mode and command == "exit" else None
            return ""
        for depth, pattern in enumerate(MODES):
            if len(mode) >= depth and re.fullmatch(pattern, command):
                self.mode = (*mode[:depth], command)
                self.staged.open(self.mode)
                return ""
        is_no, text = command.startswith("no "), command.removeprefix("no ")
        for depth, pattern in KINDS:
            found = re.fullmatch(pattern, text)
            if is_no and found is None:
                found = re.fullmatch(re.search(r"\(.*?\)", pattern)[0], text)  # type: ignore[index]
            if found is not None and len(mode) == depth:
                if command == "no qos trust":
                    self.staged.put(mode, found[1], command)
                elif is_no:
                    self.staged.take(mode, found[1])
                else:
                    self.staged.put(mode, found[1], command)
                return ""
        return self.rejection(command)
