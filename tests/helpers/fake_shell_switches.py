"""Switches with a shell: Cumulus with NVUE, and SONiC's configuration database behind `config apply-patch`.

NVUE has a pending revision, and lists of ports in one line. Source: NVIDIA Cumulus Linux User Guide, chapters
NVUE CLI (nv set, unset, config apply, config detach, config show -o commands) and Quality of Service; NVUE
reference, QoS.
"""

import copy
import json
import re
from collections.abc import Iterator
from itertools import combinations, groupby
from typing import Any

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
        """Return the lines; neighbouring ports with equal settings are one line."""
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


NEW = {"op": "add", "path": "/WRED_PROFILE/ROGUE_3", "value": {"ecn": "ecn_all"}}
AZURE = {"op": "replace", "path": "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", "value": "1"}
YELLOW = {"op": "replace", "path": "/WRED_PROFILE/AZURE_LOSSLESS/yellow_min_threshold", "value": "1"}
OTHER = {"op": "replace", "path": "/WRED_PROFILE/MINE/green_max_threshold", "value": "1"}
BUFFER = {"op": "add", "path": "/BUFFER_PROFILE/ROGUE_3", "value": {"xoff": "1"}}
TABLE = {"op": "add", "path": "/BUFFER_PROFILE", "value": {"ROGUE_3": {"xoff": "1"}}}
XOFF = {"op": "replace", "path": "/BUFFER_PROFILE/pg_lossless_100000_5m_profile/xoff", "value": "1"}
PLAIN = {"op": "replace", "path": "/BUFFER_PROFILE/ingress_lossless_profile/xoff", "value": "1"}
SIZE = {"op": "replace", "path": "/BUFFER_PROFILE/pg_lossless_100000_5m_profile/size", "value": "1"}
QUEUE = {"op": "add", "path": "/QUEUE/Ethernet0|3/wred_profile", "value": "ROGUE_3"}
EVERY = (NEW, AZURE, YELLOW, OTHER, BUFFER, TABLE, XOFF, PLAIN, SIZE, QUEUE)


REFERENCES = {
    ("QUEUE", "wred_profile"): "WRED_PROFILE",
    ("BUFFER_PG", "profile"): "BUFFER_PROFILE",
    ("BUFFER_PROFILE", "pool"): "BUFFER_POOL",
    ("PORT_QOS_MAP", "dscp_to_tc_map"): "DSCP_TO_TC_MAP",
    ("PORT_QOS_MAP", "tc_to_queue_map"): "TC_TO_QUEUE_MAP",
    ("PORT_QOS_MAP", "tc_to_pg_map"): "TC_TO_PRIORITY_GROUP_MAP",
    ("PORT_QOS_MAP", "pfc_to_queue_map"): "MAP_PFC_PRIORITY_TO_QUEUE",
}


class FakeSonic:
    """A host with a configuration database."""

    def __init__(self, build: str = "202511.1234-a092c9705", asics: int = 1) -> None:
        self.build = build
        self.asics = asics
        self.heard: list[str] = []
        self.patches: list[list[dict[str, Any]]] = []
        self.rejects: str | None = None
        self.drops: str | None = None
        self.tables: dict[str, Any] = {
            "PORT": {f"Ethernet{number}": {"lanes": str(number), "mtu": "9100"} for number in (0, 4)},
            "BUFFER_POOL": {
                "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic"},
                "egress_lossy_pool": {"type": "egress", "mode": "dynamic"},
            },
            "BUFFER_PROFILE": {"egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "0"}},
            "QUEUE": {"Ethernet0|3": {"scheduler": "scheduler.1"}},
            "SCHEDULER": {"scheduler.1": {"type": "DWRR", "weight": "15"}},
        }

    def shell(self, command: str, stdin: str) -> tuple[int, str, str]:
        self.heard.append(command)
        if command == self.drops:
            self.drops = None
            raise DroppedError
        if command == "show version && show runningconfiguration all":
            return 0, self.version() + json.dumps(self.tables, indent=4), ""
        if command != "sudo config apply-patch /dev/stdin":
            return 2, "", f"sh: 1: {command.split(maxsplit=1)[0]}: not found"
        patch = json.loads(stdin)
        self.patches.append(patch)
        after = copy.deepcopy(self.tables)
        try:
            for operation in patch:
                apply_operation(after, operation)
            check(after)
            self.validate(after)
        except (KeyError, ValueError) as error:
            return 1, "", f"Failed to apply patch due to: {error}"
        if self.rejects is not None:
            return 1, "", f"Failed to apply patch due to: {self.rejects}"
        self.tables = after
        return 0, "Patch applied successfully.\n", ""

    def version(self) -> str:
        """Return the relevant part of `show version`."""
        return (
            f"\nSONiC Software Version: SONiC.{self.build}\nSONiC OS Version: 12\n"
            f"\nPlatform: x86_64-mlnx_msn2700-r0\nASIC: mellanox\nASIC Count: {self.asics}\n"
            "\nDocker images:\nREPOSITORY   TAG   IMAGE ID   SIZE\n\n"
        )

    def validate(self, after: dict[str, Any]) -> None:
        """Judge each difference as the updater's validators do."""
        for path in differing(self.tables, after):
            table, *place = path
            if table in {"WRED_PROFILE", "BUFFER_PROFILE"} and not self.takes(table, place, after):
                raise ValueError(f"Modification of {table} table is illegal")

    def takes(self, table: str, place: list[str], after: dict[str, Any]) -> bool:
        """Until 202505 only values of a few fields may change; later only buffer profiles are guarded."""
        old = self.tables.get(table, {})
        is_value = len(place) == 2 and all(place[1] in rows[place[0]] for rows in (old, after[table]))
        if self.build.startswith("202511"):
            tuned = is_value and place[1] in {"dynamic_th", "xoff"}
            return table == "WRED_PROFILE" or len(place) == 1 or tuned
        if table == "BUFFER_PROFILE":
            return is_value and place[1] in {"dynamic_th", "xoff"} and any(map(str.isdigit, place[0]))
        green = {"green_min_threshold", "green_max_threshold", "green_drop_probability"}
        names = {"AZURE_LOSSLESS", place[0]} if self.build.startswith("202505") else {"AZURE_LOSSLESS"}
        return is_value and place[0] in names and place[1] in green


def differing(before: Any, after: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the topmost paths that are added, removed or changed, as the updater does."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        if before != after:
            yield path
        return
    for name in {**before, **after}:
        if name in before and name in after:
            yield from differing(before[name], after[name], (*path, name))
        else:
            yield (*path, name)


def apply_operation(tables: dict[str, Any], operation: dict[str, Any]) -> None:
    """RFC 6902, sections 4.1 to 4.3."""
    *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
    place = tables
    for part in parents:
        place = place[part]
    if operation["op"] in {"remove", "replace"} and last not in place:
        raise KeyError(operation["path"])
    if operation["op"] == "remove":
        del place[last]
    else:
        place[last] = operation["value"]


def check(tables: dict[str, Any]) -> None:
    """Check the references of the tables' YANG models."""
    for table, rows in tables.items():
        if not rows:
            raise ValueError(f"empty table {table}")
        if table in {"QUEUE", "BUFFER_PG"}:
            overlaps = [pair for pair in combinations(rows, 2) if numbers(pair[0]) & numbers(pair[1])]
            if overlaps:
                raise ValueError(f"{table}: {overlaps[0]} overlap")
        for entry, fields in rows.items():
            if table in {"QUEUE", "PORT_QOS_MAP", "BUFFER_PG"} and entry.split("|")[0] not in tables["PORT"]:
                raise ValueError(f"{table}|{entry}: no such port")
            for field, value in fields.items():
                there = REFERENCES.get((table, field))
                if there is not None and value not in tables.get(there, {}):
                    raise ValueError(f"{table}|{entry}: {field}: no {there}|{value}")


def numbers(entry: str) -> set[tuple[str, int]]:
    """Return the queues or groups of an entry for a range."""
    port, _, digits = entry.partition("|")
    first, _, last = digits.partition("-")
    return {(port, number) for number in range(int(first), int(last or first) + 1)}
