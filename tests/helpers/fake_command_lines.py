"""Command lines of EOS, Comware and Onyx switches, as their manuals describe them.

EOS has modes, a session that holds changes until `commit`, and paging. Comware has user view, system view and
`undo`; each command counts at once. Onyx has `no` behind a port's name; each command counts at once.

Source: Arista EOS User Manual, chapters Command-Line Interface (modes, terminal length, `% Invalid input`),
Configuration Sessions, Quality of Service and Data Center Bridging; HPE FlexFabric 11900 ACL and QoS
Configuration Guide, HPE 5130HI ACL and QoS Command Reference (a WRED table in use cannot be removed), H3C
S3610 Operation Manual (a rule has at most eight patterns, of whole bytes in hexadecimal), and the
Fundamentals guides (views, screen-length disable, the caret); NVIDIA Onyx User Manual, chapters User
Interfaces (modes, `% Unrecognized command`, paging), Quality of Service and Priority Flow Control.
"""

import json
import re

from helpers.fake_switch import Cli, Tree

EOS_KINDS = (
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
EOS_MODES = (r"interface Ethernet\d+(?:/\d+)*", r"uc-tx-queue [0-7]")


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
        for depth, pattern in enumerate(EOS_MODES):
            if len(mode) >= depth and re.fullmatch(pattern, command):
                self.mode = (*mode[:depth], command)
                self.staged.open(self.mode)
                return ""
        is_no, text = command.startswith("no "), command.removeprefix("no ")
        for depth, pattern in EOS_KINDS:
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


LINES = {
    "interface": (
        r"(qos trust)(?: dscp| dot1p)?",
        r"(qos wred apply)(?: \w+)?",
        r"(priority-flow-control no-drop dot1p)(?: [\d,]+)?",
        r"(priority-flow-control enable)",
        r"(packet-filter \d+ outbound)",
    ),
    "acl": (r"(rule \d+)(?: deny(?: (?:ipv4|l4) (?:[0-9a-f]{2})+ (?:[0-9a-f]{2})+ \d+){1,8})?",),
    "qos": (
        r"(queue [0-7] weighting-constant)(?: (?:\d|1[0-5]))?",
        r"(queue [0-7] drop-level [0-2])(?: low-limit \d+ high-limit \d+ discard-probability \d+)?",
        r"(queue [0-7] ecn)",
    ),
}
COMWARE_MODES = (
    r"interface Ten-GigabitEthernet1/0/\d+",
    r"qos wred queue table \w+",
    r"acl number 5\d{3}",
)


class FakeComware(Cli):
    """A switch with thirty ports."""

    def __init__(self) -> None:
        super().__init__()
        self.running = Tree()
        for number in range(1, 31):
            self.running.open((f"interface Ten-GigabitEthernet1/0/{number}",))
        self.mode: tuple[str, ...] | None = None
        self.is_gone = False

    def enter(self) -> None:
        self.mode, self.is_gone, self.is_paging = None, False, True

    def prompt(self) -> str:
        if self.mode is None:
            return "<tor>"
        return f"[tor-{self.mode[-1].split()[-1]}]" if self.mode else "[tor]"

    @property
    def is_over(self) -> bool:
        return self.is_gone

    def rejection(self, command: str) -> str:
        return "                ^\n % Unrecognized command found at '^' position."

    def execute(self, command: str) -> str:
        if command == "display current-configuration":
            return "\n".join(["#", " version 7.1.070", "#", *self.running.shown(step=1), "return"])
        if command == "return":
            self.mode = None
            return ""
        if self.mode is not None:
            return self._configure(self.mode, command)
        if command == "screen-length disable":
            self.is_paging = False
        elif command == "system-view":
            self.mode = ()
            return "System View: return to User View with Ctrl+Z."
        elif command == "quit":
            self.is_gone = True
        else:
            return self.rejection(command)
        return ""

    def _configure(self, mode: tuple[str, ...], command: str) -> str:
        if command == "quit":
            self.mode = mode[:-1] if mode else None
            return ""
        is_undo, text = command.startswith("undo "), command.removeprefix("undo ")
        if not mode and any(re.fullmatch(pattern, text) for pattern in COMWARE_MODES):
            if is_undo:
                return self._delete(text)
            self.mode = (text,)
            self.running.open(self.mode)
            return ""
        if mode and command == "undo priority-flow-control":
            self.running.take(mode, "priority-flow-control enable")
            return ""
        for pattern in LINES[mode[-1].split()[0]] if mode else ():
            if found := re.fullmatch(pattern, text):
                limits = re.search(r"low-limit (\d+) high-limit (\d+) discard-probability (\d+)", text)
                if limits and not (int(limits[1]) < int(limits[2]) <= 38_000 and int(limits[3]) <= 100):
                    return " % Wrong parameter found at '^' position."
                if is_undo:
                    self.running.take(mode, found[1])
                else:
                    self.running.put(mode, found[1], text)
                return ""
        return self.rejection(command)

    def _delete(self, text: str) -> str:
        name = text.rsplit(maxsplit=1)[-1]
        if any(f"qos wred apply {name}" in lines.values() for lines in self.running.modes.values()):
            return " % The WRED table is in use."
        self.running.take((), text)
        return ""


ONYX_KINDS = (
    r"(dcb priority-flow-control enable)(?: force)?",
    r"(dcb priority-flow-control priority [0-7] enable)",
    r"(interface ethernet \d+/\d+) (qos trust)(?: L2| L3| both)?",
    r"(interface ethernet \d+/\d+) (dcb priority-flow-control mode)(?: on)?(?: force)?",
    r"(interface ethernet \d+/\d+) (traffic-class [0-7] congestion-control)"
    r"(?: ecn minimum-absolute \d+ maximum-absolute \d+)?",
)


class FakeOnyx(Cli):
    """A switch with lines that must not change."""

    def __init__(self) -> None:
        super().__init__()
        self.running = {
            f"interface ethernet 1/{n} speed": f"interface ethernet 1/{n} speed 25G" for n in range(1, 31)
        }
        self.is_enabled = self.is_configuring = self.is_gone = False

    def enter(self) -> None:
        self.is_enabled = self.is_configuring = self.is_gone = False
        self.is_paging = True

    def prompt(self) -> str:
        mode = "(config) #" if self.is_configuring else "#" if self.is_enabled else ">"
        return f"tor [standalone: master] {mode} "

    @property
    def is_over(self) -> bool:
        return self.is_gone

    def rejection(self, command: str) -> str:
        return f'% Unrecognized command "{command.split(maxsplit=1)[0]}".\n% Type "?" for help.'

    def execute(self, command: str) -> str:
        if command == "enable":
            self.is_enabled = True
            return ""
        if command == "no cli session paging enable":
            self.is_paging = False
            return ""
        if command in {"configure terminal", "config term"} and self.is_enabled:
            self.is_configuring = True
            return ""
        if command == "exit":
            self.is_gone, self.is_configuring = not self.is_configuring, False
            return ""
        if command == "show running-config" and self.is_enabled:
            return "\n".join(["##", '## Running database "initial"', "##", *self.shown()])
        return self._configure(command) if self.is_configuring else self.rejection(command)

    def shown(self) -> list[str]:
        return [f"   {line}" for line in self.running.values()]

    def _configure(self, command: str) -> str:
        is_no = command.startswith("no ") or " no " in command
        text = command.removeprefix("no ").replace(" no ", " ")
        for pattern in ONYX_KINDS:
            if found := re.fullmatch(pattern, text):
                key = " ".join(each for each in found.groups() if each)
                if is_no:
                    self.running.pop(key, None)
                else:
                    self.running[key] = text
                return ""
        return self.rejection(command)
