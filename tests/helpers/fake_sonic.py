"""SONiC's configuration database behind `config apply-patch`: all of a JSON patch, or nothing.

Source: sonic-net/SONiC, design of Generic Configuration Update and Rollback (RFC 6902; an empty table is
refused; names that are referred to must be there); sonic-utilities, config/main.py (apply-patch).
"""

import copy
import json
from typing import Any

from helpers.fake_switch import DroppedError

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

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.patches: list[list[dict[str, Any]]] = []
        self.rejects: str | None = None
        self.drops: str | None = None
        self.tables: dict[str, Any] = {
            "PORT": {f"Ethernet{number}": {"lanes": str(number), "mtu": "9100"} for number in (0, 4)},
            "BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic"}},
            "QUEUE": {"Ethernet0|3": {"scheduler": "scheduler.1"}},
            "SCHEDULER": {"scheduler.1": {"type": "DWRR", "weight": "15"}},
        }

    def shell(self, command: str, stdin: str) -> tuple[int, str, str]:
        self.heard.append(command)
        if command == self.drops:
            self.drops = None
            raise DroppedError
        if command == "show runningconfiguration all":
            return 0, json.dumps(self.tables, indent=4), ""
        if command != "sudo config apply-patch /dev/stdin":
            return 2, "", f"sh: 1: {command.split(maxsplit=1)[0]}: not found"
        patch = json.loads(stdin)
        self.patches.append(patch)
        after = copy.deepcopy(self.tables)
        try:
            for operation in patch:
                apply_operation(after, operation)
            check(after)
        except (KeyError, ValueError) as error:
            return 1, "", f"Failed to apply patch due to: {error}"
        if self.rejects is not None:
            return 1, "", f"Failed to apply patch due to: {self.rejects}"
        self.tables = after
        return 0, "Patch applied successfully.\n", ""


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
    """What the YANG models of the tables refer to."""
    for table, rows in tables.items():
        if not rows:
            raise ValueError(f"empty table {table}")
        for entry, fields in rows.items():
            if table in {"QUEUE", "PORT_QOS_MAP", "BUFFER_PG"} and entry.split("|")[0] not in tables["PORT"]:
                raise ValueError(f"{table}|{entry}: no such port")
            for field, value in fields.items():
                there = REFERENCES.get((table, field))
                if there is not None and value not in tables.get(there, {}):
                    raise ValueError(f"{table}|{entry}: {field}: no {there}|{value}")
