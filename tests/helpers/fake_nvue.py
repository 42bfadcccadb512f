"""Cumulus Linux with NVUE as NVIDIA's user guide has it: a pending revision, lists of ports in one line.

Source: NVIDIA Cumulus Linux User Guide, chapters NVUE CLI (nv set, unset, config apply, config detach, config
show -o commands) and Quality of Service; NVUE reference, QoS.
"""

import json
import re
from itertools import groupby

from helpers.fake_switch import DroppedError

LEAVES = (
    r"(qos mapping \w+ trust)(?: l2| l3| both| port)?",
    r"(qos mapping \w+ dscp \d+ switch-priority)(?: [0-7])?",
    r"(qos pfc \w+ [tr]x)(?: enable| disable)?",
    r"(qos pfc \w+ switch-priority [0-7])",
    r"(qos congestion-control \w+ traffic-class [0-7] (?:ecn|red))(?: enable| disable)?",
    r"(qos congestion-control \w+ traffic-class [0-7] (?:min-threshold|max-threshold))(?: \d+)?",
    r"(qos congestion-control \w+ traffic-class [0-7] probability)(?: (?:\d{1,2}|100))?",
    r"(interface swp\d+ qos (?:mapping|pfc|congestion-control) profile)(?: \w+)?",
    r"(interface swp\d+ link state)(?: up)?",
)


class FakeNvue:
    """A host with `nv`."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.rejects: str | None = None
        self.drops: str | None = None
        self.applied = {
            f"interface swp{n} link state": f"interface swp{n} link state up" for n in range(1, 5)
        }
        self.pending: dict[str, str] | None = None

    def shell(self, command: str, stdin: str) -> tuple[int, str, str]:
        self.heard.append(command)
        if command == self.drops:
            self.drops = None
            raise DroppedError
        if command == self.rejects:
            return 1, "", "Error: Invalid Command"
        if command == "nv config show -o commands":
            return 0, "".join(f"nv set {line}\n" for line in self.shown()), ""
        if command == "nv show interface -o json":
            links = {f"swp{n}": {"link": {"mtu": 9216, "speed": "100G"}, "type": "swp"} for n in range(1, 5)}
            return 0, json.dumps(links), ""
        if command == "nv config apply -y":
            self.applied, self.pending = dict(self.pending or self.applied), None
            return 0, "applied [rev_id: 7]\n", ""
        if command == "nv config detach":
            self.pending = None
            return 0, "", ""
        return self._edit(command)

    def shown(self) -> list[str]:
        """Neighbouring ports with the same words stand in one line."""
        lines = sorted(self.applied.values())
        ports = [re.fullmatch(r"interface swp(\d+) (.*)", line) for line in lines]
        others = [line for line, port in zip(lines, ports, strict=True) if port is None]
        pairs = sorted((port[2], int(port[1])) for port in ports if port)
        for words, group in groupby(pairs, key=lambda pair: pair[0]):
            numbers = [number for _, number in group]
            is_range = len(numbers) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1))
            names = f"swp{numbers[0]}-{numbers[-1]}" if is_range else ",".join(f"swp{n}" for n in numbers)
            others.append(f"interface {names} {words}")
        return others

    def _edit(self, command: str) -> tuple[int, str, str]:
        pending = dict(self.applied) if self.pending is None else self.pending
        verb, _, text = command.removeprefix("nv ").partition(" ")
        if verb == "unset" and re.fullmatch(r"qos (mapping|pfc|congestion-control) \w+", text):
            pending = {key: line for key, line in pending.items() if not line.startswith(f"{text} ")}
        else:
            found = next((found for leaf in LEAVES if (found := re.fullmatch(leaf, text))), None)
            if found is None or verb not in {"set", "unset"}:
                return 1, "", "Error: Invalid Command"
            if verb == "set":
                pending[found[1]] = text
            else:
                pending.pop(found[1], None)
        self.pending = pending
        return 0, "", ""
