"""SONiC, by a patch of its configuration database (`config apply-patch`).

Units: thresholds in bytes, probabilities in percent from 0 to 100, `dynamic_th` an exponent of two. PFC is a
list of queues of a port. Maps, profiles and their names (`ROGUE`, `ROGUE_3`) are our own; a port's queues and
its maps are shared with whoever set it up. The switch checks a patch against its YANG models and makes all of
it or nothing; ours is checked before it leaves, by `sonic_model.py`, and against what its release lets a
patch change, by `sonic_release.py`. Without `headroom_bytes` the switch's buffer manager gives a port that
pauses the profile of its speed and cable.

Source: sonic-net/SONiC, Configuration.md; sonic-buildimage, src/sonic-yang-models (sonic-wred-profile,
sonic-queue, sonic-port-qos-map, sonic-dscp-tc-map, sonic-buffer-profile, sonic-buffer-pg) and qos_config.j2;
the design of Generic Configuration Update and Rollback (JSON patch, RFC 6902); sonic-utilities,
config/main.py (`config load` writes past the updater, on 202205 to 202505).

No SONiC switch has run this.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import log2
from typing import Any, Final

from rogue.harness.provisioning.switches.change import Change, Configuration, Context, Line
from rogue.harness.provisioning.switches.platform import Command, Platform, percent_mistake, whole_percent
from rogue.harness.provisioning.switches.platforms.sonic_model import check_tables
from rogue.harness.provisioning.switches.platforms.sonic_patch import (
    SYSTEM,
    TUNABLE,
    TUNED_MARKS,
    Tables,
    as_configuration,
    as_tables,
    asics_of,
    changed,
    differences,
    forbids_profile_changes,
    is_refused,
    line_of,
    patch,
    release_of,
    split_entries,
    split_ranges,
    system_lines,
)
from rogue.harness.provisioning.switches.platforms.sonic_standing import MARKS_GREEN, state_of
from rogue.harness.provisioning.switches.readback import SwitchState
from rogue.harness.provisioning.switches.settings import (
    HardwareSwitchVariables,
    Marking,
    PrioritySettings,
)
from rogue.remote.errors import NodeError

OURS: Final = "ROGUE"
_APPLY: Final = "sudo config apply-patch /dev/stdin"
_COLOURS: Final = ("green", "yellow", "red")
_PRIORITIES: Final = range(8)
_ALPHA_EXPONENT_MAX: Final = 8
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
    read = "show version && show runningconfiguration all"
    sets_pause_alpha = True

    def mistake(self, wanted: HardwareSwitchVariables) -> str | None:
        """Marks come in whole percent; headroom is for what pauses, and alpha for what has headroom."""
        for number, settings in sorted(wanted.switch_priorities.items()):
            if settings.headroom_bytes is not None and not settings.pauses:
                return f"priority {number}: got headroom_bytes without pauses, expected both"
            if settings.pause_alpha is not None and (mistake := _alpha_mistake(settings)):
                return f"priority {number}: {mistake}"
            if settings.marks and (mistake := percent_mistake(settings.marks.probability)):
                return f"priority {number}: {mistake}"
        return None

    def lines(self, wanted: HardwareSwitchVariables) -> list[Line]:
        """One line for each field."""
        return _lines(wanted_tables(wanted))

    def lines_on(self, wanted: HardwareSwitchVariables, found: Configuration) -> list[Line]:
        """The same, or with the switch's own profile of marks, where a patch may only change that."""
        return _lines(_wanted_on(wanted, found))

    def standing(self, found: Configuration, ports: str, wanted: HardwareSwitchVariables) -> SwitchState:
        """All of it stands in the database."""
        del ports
        return replace(state_of(as_tables(found), wanted.interfaces), configuration=found)

    def owns(self, context: Context, line: str, interfaces: Sequence[str]) -> bool:
        """What pauses, and the marks of queues, on our ports."""
        table, entry = context
        field, _, value = line.partition(" ")
        if entry.partition("|")[0] not in interfaces:
            return False
        return (table == "QUEUE" and field == "wred_profile") or (
            table == "PORT_QOS_MAP" and field == "pfc_enable" and value != '""'
        )

    def configuration(self, text: str) -> Configuration:
        """What the database holds, and what the switch is; NodeError if it has several chips."""
        version, tables = _version_and_tables(text)
        found = {**as_configuration(tables), SYSTEM: system_lines(version)}
        if asics_of(found) > 1 or "asic0" in tables:
            raise NodeError(
                "got a multi-ASIC SONiC, expected one with a single chip; set it yourself, and write "
                "`switch_platform: declared`"
            )
        return found

    def changes(self, wanted: HardwareSwitchVariables, found: Configuration) -> list[Change]:
        """As everywhere, but entries for a range of queues or groups are split where one of them is ours."""
        before = as_tables(found)
        split = split_ranges(before, _wanted_on(wanted, found))
        standing = {**as_configuration(split), SYSTEM: found.get(SYSTEM, ())}
        changes = super().changes(wanted, standing)
        order = [*split_entries(before, split), *(change.context for change in changes)]
        return differences(before, changed(split, changes), order)

    def commands(self, changes: Iterable[Change], found: Configuration) -> list[Command]:
        """One patch, in the order of the changes' entries; NodeError if the release would refuse it."""
        changes = list(changes)
        before = as_tables(found)
        after = changed(before, changes)
        contexts = list(dict.fromkeys(change.context for change in changes))
        check_tables({table: {entry: after.get(table, {}).get(entry)} for table, entry in contexts})
        operations = list(patch(before, after, contexts))
        _check_release(release_of(found), operations, after, contexts)
        return [Command(_APPLY, json.dumps(operations, indent=1))] if operations else []


def _version_and_tables(text: str) -> tuple[str, Tables]:
    """What `show version` says, and the database; NodeError if that is not all there."""
    begin = re.search(r"^\{", text, re.MULTILINE)
    try:
        tables = json.loads(text[begin.start() :]) if begin else None
    except ValueError:
        tables = None
    if begin is None or not isinstance(tables, dict):
        raise NodeError(f"got {text[-60:]!r}, expected SONiC's configuration as JSON; log in and look")
    return text[: begin.start()], tables


def _lines(tables: Tables) -> list[Line]:
    return [
        Line((table, entry), line_of(field, value), field, "")
        for table, entries in tables.items()
        for entry, fields in entries.items()
        for field, value in fields.items()
    ]


def _check_release(
    release: str, operations: Sequence[dict[str, Any]], after: Tables, contexts: Sequence[Context]
) -> None:
    """NodeError says what to load, where a patch cannot bring it."""
    refused = {each["path"].split("/")[1] for each in operations if is_refused(release, each)}
    if not refused:
        return
    load: Tables = {}
    for table, entry in contexts:
        if table in refused and entry in after.get(table, {}):
            load.setdefault(table, {})[entry] = after[table][entry]
    names = " and ".join(sorted(refused))
    raise NodeError(
        f"got changes of {names} for SONiC {release}, whose updater refuses them in a patch, expected a "
        "switch on which they stand; write what follows into a file there, `sudo config load -y FILE`, and "
        f"apply again (docs/SWITCHES.md says more): {json.dumps(load)}"
    )


def _wanted_on(wanted: HardwareSwitchVariables, found: Configuration) -> Tables:
    """The tables, with the switch's own profile of marks where ours cannot come to stand."""
    tables, standing = wanted_tables(wanted), as_tables(found)
    ours = tables.get("WRED_PROFILE", {})
    is_there = all(standing.get("WRED_PROFILE", {}).get(name) == fields for name, fields in ours.items())
    if is_there or not forbids_profile_changes(release_of(found)) or not _is_tunable(wanted, standing):
        return tables
    tuned = {field: next(iter(ours.values()))[field] for field in TUNED_MARKS}
    tables["WRED_PROFILE"] = {TUNABLE: tuned}
    for fields in tables["QUEUE"].values():
        fields["wred_profile"] = TUNABLE
    return tables


def _is_tunable(wanted: HardwareSwitchVariables, standing: Tables) -> bool:
    """Whether the switch's own profile can be ours: one marking, on no other port, and it does mark."""
    profile = standing.get("WRED_PROFILE", {}).get(TUNABLE, {})
    ports = {
        place.partition("|")[0]
        for place, fields in standing.get("QUEUE", {}).items()
        if fields.get("wred_profile") == TUNABLE
    }
    return (
        len({marks for _, marks in wanted.marking}) == 1
        and ports <= set(wanted.interfaces)
        and profile.get("ecn") in MARKS_GREEN
        and profile.get("wred_green_enable") == "true"
        and all(field in profile for field in TUNED_MARKS)
    )


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
            tables.setdefault("BUFFER_PROFILE", {})[f"{OURS}_{number}"] = _headroom(each)
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


def _alpha_mistake(settings: PrioritySettings) -> str | None:
    """Why a share of what is free cannot be said in a profile of ours; None if it can."""
    alpha = settings.pause_alpha or 1.0
    if settings.headroom_bytes is None:
        return f"got pause_alpha {alpha:g} without headroom_bytes, expected both, which are one profile"
    exponent = log2(alpha)
    if exponent != round(exponent) or abs(exponent) > _ALPHA_EXPONENT_MAX:
        return f"got pause_alpha {alpha:g}, expected a power of two from 1/256 to 64, such as 0.0625"
    return None


def _headroom(settings: PrioritySettings) -> dict[str, str]:
    """All of it for what comes after a pause; the rest of the group is shared, by itself with alpha 1."""
    return {
        "pool": "ingress_lossless_pool",
        "size": "0",
        "xon": "0",
        "xoff": str(settings.headroom_bytes),
        "dynamic_th": str(round(log2(settings.pause_alpha or 1.0))),
    }
