"""Dell OS10 as its user guide describes it: modes with one-space indentation, each command counts at once.

Source: Dell SmartFabric OS10 User Guide, chapters Getting Started (modes, `% Error`) and Quality of Service.
A profile, map or policy that something refers to cannot be deleted.
"""

import re

from helpers.fake_switch import Cli, Tree

MODES = {
    r"interface ethernet\d+/\d+/\d+": (),
    r"wred [\w-]+": (),
    r"class-map type queuing [\w-]+": (),
    r"class-map type network-qos [\w-]+": (),
    r"policy-map type queuing [\w-]+": (),
    r"policy-map type network-qos [\w-]+": (),
    r"trust dscp-map [\w-]+": (),
    r"class [\w-]+": ("policy-map",),
}
"""What leads to a mode, and from which."""
LINES = {
    "wred": (
        r"(random-detect color green)(?: minimum-threshold \d+ maximum-threshold \d+ drop-probability \d+)?",
        r"(random-detect ecn)",
    ),
    "class-map": (r"(match (?:queue|qos-group))(?: \d)?",),
    "class": (r"(random-detect)(?: [\w-]+)?", r"(pause)", r"(pfc-cos)(?: \d)?"),
    "trust": (r"(qos-group \d dscp)(?: [\d,]+)?",),
    "interface": (
        r"(trust-map dscp)(?: [\w-]+)?",
        r"(flowcontrol receive)(?: on| off)?",
        r"(priority-flow-control mode)(?: on)?",
        r"(service-policy input type network-qos)(?: [\w-]+)?",
        r"(service-policy output type queuing)(?: [\w-]+)?",
    ),
}


class FakeOs10(Cli):
    """A switch with thirty ports."""

    def __init__(self) -> None:
        super().__init__()
        self.running = Tree()
        for number in range(1, 31):
            self.running.open((f"interface ethernet1/1/{number}",))
        self.mode: tuple[str, ...] | None = None
        self.is_gone = False

    def enter(self) -> None:
        self.mode, self.is_gone, self.is_paging = None, False, True

    def prompt(self) -> str:
        return "tor# " if self.mode is None else f"tor({'config' if not self.mode else 'conf-mode'})# "

    @property
    def is_over(self) -> bool:
        return self.is_gone

    def rejection(self, command: str) -> str:
        return "% Error: Illegal parameter."

    def execute(self, command: str) -> str:
        if self.mode is not None:
            return self._configure(self.mode, command)
        if command == "terminal length 0":
            self.is_paging = False
        elif command == "configure terminal":
            self.mode = ()
        elif command == "exit":
            self.is_gone = True
        elif command == "show running-configuration":
            return "\n".join(["! Version 10.5.2.4", "!", *self.running.shown(step=1)])
        elif not command.startswith("terminal width"):
            return self.rejection(command)
        return ""

    def _configure(self, mode: tuple[str, ...], command: str) -> str:
        if command in {"end", "exit"}:
            self.mode = mode[:-1] if mode and command == "exit" else None
            return ""
        is_no, text = command.startswith("no "), command.removeprefix("no ")
        for pattern, above in MODES.items():
            base = mode if above else ()
            is_inside = not above or (mode and mode[-1].startswith(above))
            if re.fullmatch(pattern, text) and is_inside:
                if is_no:
                    return self._delete(base, text)
                self.mode = (*base, text)
                self.running.open(self.mode)
                return ""
        for pattern in LINES.get(mode[-1].split()[0], ()) if mode else ():
            if found := re.fullmatch(pattern, text):
                if is_no:
                    self.running.take(mode, found[1])
                else:
                    self.running.put(mode, found[1], text)
                return ""
        return self.rejection(command)

    def _delete(self, base: tuple[str, ...], text: str) -> str:
        name = text.rsplit(maxsplit=1)[-1]
        users = [line for lines in self.running.modes.values() for line in lines.values() if line != text]
        if any(line.split()[-1] == name for line in users):
            return f"% Error: {name} is in use"
        self.running.take(base, text)
        return ""
