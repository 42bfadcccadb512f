"""The switch machine while an experiment runs: queues, counters, link cuts."""

import json
import shlex
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Final, Self

from rogue.harness.provisioning.clocks import clock_offset
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.places import PROGRAMS
from rogue.harness.provisioning.ports import (
    PortCounters,
    PortSettings,
    clear_lines,
    filter_drops,
    port_counters,
    port_trees,
)
from rogue.remote.connection import Shell, connect
from rogue.remote.errors import NodeError

_CANCEL_CUTS: Final = (
    "for cut in /run/rogue-cut-*; do "
    '[ -e "$cut" ] || continue; kill -- "-${cut##*-}" 2>/dev/null; rm -f "$cut"; done; '
)
# A cut ends by itself: the link comes back even if the connection is lost.
_CUT: Final = """\
touch /run/rogue-cut-$$
left=$(( ({at_ns} - $(date +%s%N)) / 1000000 ))
if [ $left -gt 0 ]; then sleep $((left / 1000)).$(printf %03d $((left % 1000))); fi
ip link set dev {interface} down
sleep {duration_s:.3f}
ip link set dev {interface} up
rm -f /run/rogue-cut-$$
"""


class SwitchConnection:
    """One verified SSH connection to the switch machine; a context manager.

    Every failure is a NodeError that names the switch and the command.
    """

    def __init__(self, inventory: Inventory) -> None:
        if inventory.switch is None:
            raise NodeError(f"inventory {inventory.path}: it has no switch, so no port can be set")
        self._login = inventory.switch.login
        self._interfaces = inventory.switch.interfaces
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._shell: Shell = self._stack.enter_context(connect(self._login))
        self._offset_s = clock_offset(self._shell).offset_s
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def apply(self, ports: Mapping[str, PortSettings]) -> None:
        """Set every port anew, by name; ports that are left out get the kernel's own queues.

        Queues, counters and pending cuts of an earlier cell are removed.
        """
        up, lines = [], []
        for interface, tree in port_trees(self._login.node, self._interfaces, ports).items():
            up.append(f"ip link set dev {interface} up; ")
            lines += [*clear_lines(interface), *tree]
        self._run("".join([_CANCEL_CUTS, *up, "tc -batch -"]), "".join(f"{line}\n" for line in lines))

    def counters(self) -> dict[str, PortCounters]:
        """Return the counters of every port."""
        disciplines: dict[str, list[dict[str, Any]]] = {}
        for discipline in json.loads(self._run("tc -s -j qdisc show")):
            disciplines.setdefault(discipline["dev"], []).append(discipline)
        return {
            name: port_counters(disciplines.get(interface, []), self._filtered(interface, disciplines))
            for name, interface in self._interfaces.items()
        }

    def cut(self, port: str, *, after_s: float, duration_s: float) -> None:
        """Take a link down in both directions, after a delay and for a duration; do not wait.

        Queued packets are lost, arriving packets are dropped, and the port's settings stay.
        """
        at_ns = round((time.time() + self._offset_s + after_s) * 1e9)
        script = _CUT.format(at_ns=at_ns, interface=self._interface(port), duration_s=duration_s)
        self._run(f"setsid sh -c {shlex.quote(script)} </dev/null >/dev/null 2>&1 &")

    def _filtered(self, interface: str, disciplines: Mapping[str, list[dict[str, Any]]]) -> int:
        """Return the packets that the port's filter for IP IDs has dropped."""
        kinds = {discipline["kind"] for discipline in disciplines.get(interface, [])}
        if "clsact" not in kinds:
            return 0
        return filter_drops(json.loads(self._run(f"tc -s -j filter show dev {interface} egress") or "[]"))

    def _interface(self, port: str) -> str:
        if port not in self._interfaces:
            known = ", ".join(self._interfaces)
            raise NodeError(f"{self._login.node}: got port {port!r}, expected one of {known}")
        return self._interfaces[port]

    def _run(self, script: str, text: str = "") -> str:
        command = f"export {PROGRAMS}; {script}"
        if self._login.user != "root":
            command = f"sudo -n sh -c {shlex.quote(command)}"
        return self._shell.run(command, text)
