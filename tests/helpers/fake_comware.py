"""HPE Comware 7 as its manuals describe it: user view and system view, `undo`, each command counts at once.

Source: HPE FlexFabric 11900 ACL and QoS Configuration Guide, HPE 5130HI ACL and QoS Command Reference (a WRED
table in use cannot be removed), and the Fundamentals guides (views, screen-length disable, the caret).
"""

import re

from helpers.fake_switch import Cli, Tree

LINES = {
    "interface": (
        r"(qos trust)(?: dscp| dot1p)?",
        r"(qos wred apply)(?: \w+)?",
        r"(priority-flow-control no-drop dot1p)(?: [\d,]+)?",
        r"(priority-flow-control enable)",
    ),
    "qos": (
        r"(queue [0-7] weighting-constant)(?: (?:\d|1[0-5]))?",
        r"(queue [0-7] drop-level [0-2])(?: low-limit \d+ high-limit \d+ discard-probability \d+)?",
        r"(queue [0-7] ecn)",
    ),
}
MODES = (r"interface Ten-GigabitEthernet1/0/\d+", r"qos wred queue table \w+")


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
        if not mode and any(re.fullmatch(pattern, text) for pattern in MODES):
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
