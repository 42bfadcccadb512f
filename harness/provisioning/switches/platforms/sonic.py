"""SONiC, by a patch of its configuration database (`config apply-patch`).

Units: thresholds in bytes, probabilities in percent from 0 to 100, `dynamic_th` an exponent of two. PFC is a
list of queues of a port. Maps, profiles and their names (`ROGUE`, `ROGUE_3`) are our own; a port's queues and
its maps are shared with whoever set it up. The switch checks a patch against its YANG models and makes all of
it or nothing; ours is checked before it leaves, by `sonic_model.py`. Without `headroom_bytes` the switch's
buffer manager gives a port that pauses the profile of its speed and cable.

Source: sonic-net/SONiC, Configuration.md; sonic-buildimage, src/sonic-yang-models (sonic-wred-profile,
sonic-queue, sonic-port-qos-map, sonic-dscp-tc-map, sonic-buffer-profile, sonic-buffer-pg) and qos_config.j2;
the design of Generic Configuration Update and Rollback (JSON patch, RFC 6902).

No SONiC switch has run this.
"""

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rogue.harness.provisioning.switches.change import Change, Configuration, Context, Line
from rogue.harness.provisioning.switches.platform import Command, Platform
from rogue.harness.provisioning.switches.platforms.sonic_model import check_tables
from rogue.harness.provisioning.switches.settings import HardwareSwitchVariables, Marking
from rogue.harness.provisioning.switches.units import percent_mistake, whole_percent

Tables = dict[str, dict[str, dict[str, str]]]
OURS: Final = "ROGUE"
_APPLY: Final = "sudo config apply-patch /dev/stdin"
_COLOURS: Final = ("green", "yellow", "red")
_PRIORITIES: Final = range(8)
_PORT_MAPS: Final = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
}
"""Fields of PORT_QOS_MAP, and the tables that they name."""


class Sonic(Platform):
    """Community SONiC, with a shell."""

    name = "sonic"
    read = "show runningconfiguration all"

    def mistake(self, wanted: HardwareSwitchVariables) -> str | None:
        """Marks come in whole percent; headroom is for what pauses."""
        for number, settings in sorted(wanted.switch_priorities.items()):
            if settings.headroom_bytes is not None and not settings.pauses:
                return f"priority {number}: got headroom_bytes without pauses, expected both"
            if settings.marks and (mistake := percent_mistake(settings.marks.probability)):
                return f"priority {number}: {mistake}"
        return None

    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        """One line for each field."""
        return [
            Line((table, entry), f"{field} {value}", field, "")
            for table, entries in wanted_tables(wanted).items()
            for entry, fields in entries.items()
            for field, value in fields.items()
        ]

    def owns(self, context: Context, line: str, interfaces: Sequence[str]) -> bool:
        """What pauses, and the marks of queues, on our ports."""
        table, entry = context
        field, _, value = line.partition(" ")
        if entry.partition("|")[0] not in interfaces:
            return False
        return (table == "QUEUE" and field == "wred_profile") or (
            table == "PORT_QOS_MAP" and field == "pfc_enable" and value != ""
        )

    def configuration(self, text: str) -> Configuration:
        """Every entry is a context, every field a line."""
        tables = json.loads(text[text.index("{") :])
        return {
            (table, entry): tuple(f"{field} {value}" for field, value in fields.items())
            for table, entries in tables.items()
            if isinstance(entries, Mapping)
            for entry, fields in entries.items()
            if isinstance(fields, Mapping)
        }

    def commands(self, changes: Iterable[Change], found: Configuration) -> list[Command]:
        """One patch, in the order of the changes' entries."""
        changes = list(changes)
        before = _tables(found)
        after = _changed(before, changes)
        contexts = list(dict.fromkeys((change.context[0], change.context[1]) for change in changes))
        check_tables({table: {entry: after.get(table, {}).get(entry)} for table, entry in contexts})
        patch = list(_patch(before, after, contexts))
        return [Command(_APPLY, json.dumps(patch, indent=1))] if patch else []


def wanted_tables(wanted: HardwareSwitchVariables) -> Tables:
    """The configuration database's tables, as far as they are ours."""
    tables: Tables = {}
    settings = sorted(wanted.switch_priorities.items())
    maps = _maps(wanted) if any(each.dscp for _, each in settings) or wanted.pausing else {}
    tables |= maps
    for number, marks in wanted.marking:
        tables.setdefault("WRED_PROFILE", {})[f"{OURS}_{number}"] = _wred(marks)
    for number, each in settings:
        if each.headroom_bytes is not None:
            tables.setdefault("BUFFER_PROFILE", {})[f"{OURS}_{number}"] = _headroom(each.headroom_bytes)
    for interface in wanted.interfaces:
        port = {field: OURS for field, table in _PORT_MAPS.items() if table in maps}
        port |= {"pfc_enable": ",".join(map(str, wanted.pausing))} if wanted.pausing else {}
        if port:
            tables.setdefault("PORT_QOS_MAP", {})[interface] = port
        for number, each in settings:
            place = f"{interface}|{number}"
            if each.marks:
                tables.setdefault("QUEUE", {})[place] = {"wred_profile": f"{OURS}_{number}"}
            if each.headroom_bytes is not None:
                tables.setdefault("BUFFER_PG", {})[place] = {"profile": f"{OURS}_{number}"}
    return tables


def _maps(wanted: HardwareSwitchVariables) -> Tables:
    """Classes have the queue of their number; only those that pause have a priority group of their own."""
    same = {str(number): str(number) for number in _PRIORITIES}
    groups = {str(number): str(number if number in wanted.pausing else 0) for number in _PRIORITIES}
    classes = {
        str(dscp): str(number)
        for number, each in sorted(wanted.switch_priorities.items())
        for dscp in each.dscp
    }
    tables = {"DSCP_TO_TC_MAP": classes} if classes else {}
    tables |= {"TC_TO_QUEUE_MAP": same, "TC_TO_PRIORITY_GROUP_MAP": groups, "MAP_PFC_PRIORITY_TO_QUEUE": same}
    return {table: {OURS: dict(fields)} for table, fields in tables.items()}


def _wred(marks: Marking) -> dict[str, str]:
    fields = {"ecn": "ecn_all"}
    for colour in _COLOURS:
        fields |= {
            f"wred_{colour}_enable": "true",
            f"{colour}_min_threshold": str(marks.from_bytes),
            f"{colour}_max_threshold": str(marks.to_bytes),
            f"{colour}_drop_probability": str(whole_percent(marks.probability)),
        }
    return fields


def _headroom(headroom_bytes: int) -> dict[str, str]:
    """All of it for what comes after a pause; the rest of the group is shared, with alpha 1."""
    return {
        "pool": "ingress_lossless_pool",
        "size": "0",
        "xon": "0",
        "xoff": str(headroom_bytes),
        "dynamic_th": "0",
    }


def _tables(found: Configuration) -> Tables:
    tables: Tables = {}
    for (table, entry), lines in found.items():
        fields = dict(line.partition(" ")[::2] for line in lines)
        tables.setdefault(table, {})[entry] = fields
    return tables


def _changed(before: Tables, changes: Sequence[Change]) -> Tables:
    """The tables after the changes; entries and tables without anything in them are gone."""
    after = copy.deepcopy(before)
    for change in changes:
        table, entry = change.context
        fields = after.setdefault(table, {}).setdefault(entry, {})
        field, _, value = str(change.after or change.before).partition(" ")
        if change.after is None:
            fields.pop(field, None)
        else:
            fields[field] = value
    kept = {
        table: {entry: fields for entry, fields in rows.items() if fields} for table, rows in after.items()
    }
    return {table: rows for table, rows in kept.items() if rows}


def _patch(before: Tables, after: Tables, contexts: Sequence[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Whole entries, as a JSON patch; a table that is new comes with its first entry."""
    there = {table: set(rows) for table, rows in before.items()}
    for table, entry in contexts:
        path, fields = f"/{table}/{_escaped(entry)}", after.get(table, {}).get(entry)
        known = there.setdefault(table, set())
        if fields is not None and not known:
            yield {"op": "add", "path": f"/{table}", "value": {entry: fields}}
        elif fields is not None:
            yield {"op": "replace" if entry in known else "add", "path": path, "value": fields}
        elif known == {entry}:
            yield {"op": "remove", "path": f"/{table}"}
        elif entry in known:
            yield {"op": "remove", "path": path}
        known.discard(entry) if fields is None else known.add(entry)


def _escaped(key: str) -> str:
    """As RFC 6901 has it."""
    return key.replace("~", "~0").replace("/", "~1")
