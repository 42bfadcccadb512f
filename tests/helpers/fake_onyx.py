"""NVIDIA Onyx as its manual describes it: each command counts at once, `no` stands behind a port's name.

Source: NVIDIA Onyx User Manual, chapters User Interfaces (modes, `% Unrecognized command`, paging),
Quality of Service and Priority Flow Control.
"""

import re

from helpers.fake_switch import Cli

KINDS = (
    r"(dcb priority-flow-control enable)(?: force)?",
    r"(dcb priority-flow-control priority [0-7] enable)",
    r"(interface ethernet \d+/\d+) (qos trust)(?: L2| L3| both)?",
    r"(interface ethernet \d+/\d+) (dcb priority-flow-control mode)(?: on)?(?: force)?",
    r"(interface ethernet \d+/\d+) (traffic-class [0-7] congestion-control)"
    r"(?: ecn minimum-absolute \d+ maximum-absolute \d+)?",
)


class FakeOnyx(Cli):
    """A switch with lines that nobody wants changed."""

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
        for pattern in KINDS:
            if found := re.fullmatch(pattern, text):
                key = " ".join(each for each in found.groups() if each)
                if is_no:
                    self.running.pop(key, None)
                else:
                    self.running[key] = text
                return ""
        return self.rejection(command)
