"""Linux on a Spectrum switch: `tc` and `dcb` as iproute2 6.1 prints and takes them, and what mlxsw refuses.

Source: iproute2, tc/q_red.c, q_ets.c and dcb/ (JSON); Linux v6.1, mlxsw/spectrum_dcb.c (sizes of buffers only
below queues of tc; pauses need a buffer) and spectrum_qdisc.c (thresholds of RED, queues that are offloaded).
"""

import json
import re
from typing import Any

from helpers.fake_switch import DroppedError

PRIOMAP = "7 6 5 4 3 2 1 0"
ROOT = re.compile(r"tc qdisc replace dev (\w+) root handle 1: ets bands 8 strict 8 priomap ([0-7 ]+)")
RED = re.compile(
    r"tc qdisc replace dev (\w+) parent 1:([1-8]) handle 1\2: red limit (\d+) min (\d+) max (\d+) avpkt 1000 "
    r"burst (\d+) probability ([\d.]+)( ecn nodrop)?"
)
DELETION = re.compile(r"tc qdisc del dev (\w+) (root|parent 1:[1-8])")
DCB = re.compile(r"dcb (pfc set|app replace|app del|buffer set) dev (\w+) ([a-z-]+) (\d+):(\w+)")


class FakeMlxsw:
    """Four ports, on which the kernel has its own queues; `is_offloaded` is what the chip can carry out."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.rejects: str | None = None
        self.drops: str | None = None
        self.is_offloaded = True
        self.root: dict[str, str] = {}
        self.red: dict[tuple[str, int], dict[str, Any]] = {}
        self.dscp: dict[tuple[str, int], int] = {}
        self.pauses: dict[str, list[bool]] = {f"swp{port}": [False] * 8 for port in range(1, 5)}
        self.buffers: dict[str, list[int]] = {port: [0] * 8 for port in self.pauses}
        self.sizes: dict[str, list[int]] = {port: [98_304, *[0] * 7] for port in self.pauses}

    def state(self) -> str:
        """Everything that can be set."""
        sizes = {port: sizes[1:] for port, sizes in self.sizes.items()}
        red = sorted(self.red.items())
        return repr((self.root, red, sorted(self.dscp.items()), self.pauses, self.buffers, sizes))

    def shell(self, command: str, stdin: str) -> tuple[int, str, str]:
        self.heard.append(command)
        if command == self.drops:
            self.drops = None
            raise DroppedError
        if command == self.rejects:
            return 2, "", "Error: mlxsw_spectrum: Failed"
        if "qdisc show" in command:
            return 0, self.shown(), ""
        if not command.startswith("sudo -n "):
            return 1, "", "RTNETLINK answers: Operation not permitted"
        return self._told(command.removeprefix("sudo -n "))

    def shown(self) -> str:
        """`tc -j -d qdisc show`, then three rows for each interface; `lo` has no DCB."""
        qdiscs: list[dict[str, Any]] = [{"kind": "noqueue", "handle": "0:", "dev": "lo", "root": True}]
        for port in self.pauses:
            if port not in self.root:
                qdiscs.append({"kind": "mq", "handle": "0:", "dev": port, "root": True, "options": {}})
                continue
            priomap = [*map(int, self.root[port].split()), *[7] * 8]
            options = {"bands": 8, "strict": 8, "priomap": priomap}
            qdiscs.append(
                {
                    "kind": "ets",
                    "handle": "1:",
                    "dev": port,
                    "root": True,
                    **self._where(),
                    "options": options,
                }
            )
        for (port, band), options in self.red.items():
            place = {"handle": f"1{band}:", "dev": port, "parent": f"1:{band}"}
            qdiscs.append({"kind": "red", **place, **self._where(), "options": options})
        rows = [json.dumps(qdiscs), "lo app ", "lo pfc ", "lo buffer "]
        for port in self.pauses:
            pairs = [[dscp, number] for (of, dscp), number in self.dscp.items() if of == port]
            pfc = ["on" if is_on else "off" for is_on in self.pauses[port]]
            buffer = {"prio_buffer": self.buffers[port], "buffer_size": self.sizes[port], "total_size": 1}
            rows.append(f"{port} app {json.dumps({'dscp_prio': pairs} if pairs else {})}")
            rows.append(f"{port} pfc {json.dumps({'pfc_cap': 8, 'prio_pfc': pfc})}")
            rows.append(f"{port} buffer {json.dumps(buffer)}")
        return "\n".join(rows) + "\n"

    def _where(self) -> dict[str, bool]:
        return {"offloaded": True} if self.is_offloaded else {}

    def _told(self, command: str) -> tuple[int, str, str]:
        if found := ROOT.fullmatch(command):
            self.root[found[1]] = found[2]
        elif found := RED.fullmatch(command):
            return self._set_red(found)
        elif found := DELETION.fullmatch(command):
            return self._delete(found[1], found[2])
        elif found := DCB.fullmatch(command):
            return self._dcb(*found.groups())
        else:
            return 1, "", f'What is "{command}"?'
        return 0, "", ""

    def _set_red(self, found: re.Match[str]) -> tuple[int, str, str]:
        port, band = found[1], int(found[2])
        limit, least, most, burst = (int(found[group]) for group in (3, 4, 5, 6))
        if burst + 1 - least / 1000 < 1:
            return 1, "", "RED: failed to calculate EWMA constant."
        if port not in self.root:
            return 2, "", "Error: Failed to find specified qdisc."
        if not 0 < least <= most <= limit:
            return 2, "", "Error: mlxsw_spectrum: RED: min is bigger then max"
        probability = round(float(found[7]) * 2**32) / 2**32
        options = {"limit": limit, "min": least, "max": most, "ecn": bool(found[8]), "nodrop": bool(found[8])}
        self.red[port, band] = {**options, "ewma": 3, "probability": probability, "Scell_log": 8}
        return 0, "", ""

    def _delete(self, port: str, place: str) -> tuple[int, str, str]:
        if place == "root":
            if port not in self.root:
                return 2, "", "Error: Cannot delete qdisc with handle of zero."
            del self.root[port]
            self.red = {key: options for key, options in self.red.items() if key[0] != port}
            return 0, "", ""
        key = (port, int(place[-1]))
        if key not in self.red:
            return 2, "", "Error: Failed to find specified qdisc."
        del self.red[key]
        return 0, "", ""

    def _dcb(self, what: str, port: str, key: str, left: str, right: str) -> tuple[int, str, str]:
        number = int(left)
        if (what, key) == ("pfc set", "prio-pfc") and right in {"on", "off"}:
            if right == "on" and not self.sizes[port][self.buffers[port][number]]:
                return 1, "", "Attribute write: Invalid argument"
            self.pauses[port][number] = right == "on"
        elif (what, key) == ("app replace", "dscp-prio"):
            self.dscp[port, number] = int(right)
        elif (what, key) == ("app del", "dscp-prio") and self.dscp.get((port, number)) == int(right):
            del self.dscp[port, number]
        elif what == "buffer set" and port not in self.root:
            return 1, "", "Attribute write: Invalid argument"
        elif (what, key) == ("buffer set", "prio-buffer"):
            self.buffers[port][number] = int(right)
        elif (what, key) == ("buffer set", "buffer-size"):
            self.sizes[port][number] = int(right)
        else:
            return 1, "", "Attribute write: No such file or directory"
        return 0, "", ""
