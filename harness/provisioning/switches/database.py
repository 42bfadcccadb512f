"""A configuration database of tables that is changed by JSON patches, as in SONiC.

Each entry of a table is a context, each field a line: its name and its value as JSON.
"""

import copy
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rogue.harness.provisioning.switches.change import Change, Configuration, Context, Line
from rogue.remote.errors import NodeError

_RELEASE: Final[Context] = ("", "release")
"""Key of the release; no table has this name."""
_RANGED: Final = ("QUEUE", "BUFFER_PG")
"""Tables whose entries may be for a range, such as `Ethernet0|3-4`."""
_RANGE: Final = re.compile(r"([0-7])(?:-([0-7]))?")
Tables = dict[str, dict[str, dict[str, Any]]]
Allowed = Mapping[str, Mapping[str, re.Pattern[str]]]
"""By the first release with them: by guarded table, the operations that the release accepts."""


def configuration(reply: str, releases: Mapping[str, re.Pattern[str]]) -> Configuration:
    """Return the lines of a reply that ends with the database as JSON; NodeError if it does not."""
    begin = re.search(r"^\{", reply, re.MULTILINE)
    try:
        tables = json.loads(reply[begin.start() :]) if begin else None
    except ValueError:
        tables = None
    if begin is None or not isinstance(tables, dict):
        raise NodeError(f"got {reply[-60:]!r}, expected the configuration as JSON; log in and look")
    head = reply[: begin.start()]
    names = (found.expand(name) for name, each in releases.items() if (found := each.search(head)))
    return {**_lines_of(tables), _RELEASE: (next(names, ""),)}


def is_refused(allowed: Allowed, found: Configuration, operation: str) -> bool:
    """True if the switch's release refuses an operation, such as `add /WRED_PROFILE/ROGUE_3`."""
    first = max((each for each in allowed if each <= _release(found)), default=None)
    guarded = {} if first is None else allowed[first]
    table = operation.split("/")[1]
    return table in guarded and not guarded[table].fullmatch(operation)


def changes(
    lines: Sequence[Line], found: Configuration, planned: Callable[[Configuration], list[Change]]
) -> list[Change]:
    """Return what changes of each field.

    An entry for a range is split if a line is about one of its numbers, because `Ethernet0|3-4` and
    `Ethernet0|3` would both apply.

    planned: plans the changes of the lines from a configuration.
    """
    before = _tables_of(found)
    split = _split_ranges(before, {line.context for line in lines})
    made = planned({**_lines_of(split), _RELEASE: found.get(_RELEASE, ())})
    parted = [
        (table, entry)
        for table in _RANGED
        for entry in {**before.get(table, {}), **split.get(table, {})}
        if (entry in before.get(table, {})) != (entry in split.get(table, {}))
    ]
    after = _changed(split, made)
    return [
        Change(context, _line(field, new), _line(field, old), "")
        for context in dict.fromkeys([*parted, *(change.context for change in made)])
        for old, new in [[tables.get(context[0], {}).get(context[1], {}) for tables in (before, after)]]
        for field in {**old, **new}
        if _line(field, old) != _line(field, new)
    ]


def patch_of(changes: Sequence[Change], found: Configuration, allowed: Allowed) -> list[dict[str, Any]]:
    """Return the operations of a JSON patch (RFC 6902), in the order of the changes' entries.

    NodeError if the release refuses one; the message has a file to load instead.
    """
    before = _tables_of(found)
    after = _changed(before, changes)
    contexts = list(dict.fromkeys(change.context for change in changes))
    operations = list(_patch(before, after, contexts))
    refused = {
        each["path"].split("/")[1]
        for each in operations
        if is_refused(allowed, found, f"{each['op']} {each['path']}")
    }
    if refused:
        load: Tables = {}
        for table, entry in contexts:
            if table in refused and entry in after.get(table, {}):
                load.setdefault(table, {})[entry] = after[table][entry]
        raise NodeError(
            f"got changes of {' and '.join(sorted(refused))} for release {_release(found)}, whose updater "
            "refuses them in a patch, expected a switch that has them; write what follows into a file there, "
            "`sudo config load -y FILE`, and apply again (docs/how-to/hardware-switches.md says more): "
            f"{json.dumps(load)}"
        )
    return operations


def _release(found: Configuration) -> str:
    """Return year and month, such as 202311; empty for an unknown build."""
    return found.get(_RELEASE, ("",))[0]


def _line(field: str, fields: Mapping[str, Any]) -> str | None:
    return f"{field} {json.dumps(fields[field])}" if field in fields else None


def _lines_of(tables: Mapping[str, Any]) -> dict[Context, tuple[str, ...]]:
    return {
        (table, entry): tuple(f"{field} {json.dumps(value)}" for field, value in fields.items())
        for table, entries in tables.items()
        if isinstance(entries, Mapping)
        for entry, fields in entries.items()
        if isinstance(fields, Mapping)
    }


def _tables_of(found: Configuration) -> Tables:
    tables: Tables = {}
    for context, lines in found.items():
        if context != _RELEASE:
            tables.setdefault(context[0], {})[context[1]] = dict(map(_field, lines))
    return tables


def _field(line: str) -> tuple[str, Any]:
    field, _, value = line.partition(" ")
    try:
        return field, json.loads(value)
    except ValueError as error:
        advice = "put the switch back by hand, then delete what is remembered of it"
        raise NodeError(f"got `{line}`, expected its value as JSON; {advice}") from error


def _changed(before: Tables, changes: Iterable[Change]) -> Tables:
    """Return the tables after the changes, without empty entries and tables."""
    after = copy.deepcopy(before)
    for change in changes:
        table, entry = change.context
        fields = after.setdefault(table, {}).setdefault(entry, {})
        field, value = _field(str(change.after or change.before))
        if change.after is None:
            fields.pop(field, None)
        else:
            fields[field] = value
    kept = {table: {entry: each for entry, each in rows.items() if each} for table, rows in after.items()}
    return {table: rows for table, rows in kept.items() if rows}


def _split_ranges(before: Tables, requested: Iterable[Context]) -> Tables:
    """Return the tables with an entry for each number of a range that has a requested number.

    NodeError for an entry of a requested port that is for something else than a number or a range.
    """
    after = copy.deepcopy(before)
    places = {(context[0], *context[1].split("|")) for context in requested}
    ports = {place[:2] for place in places}
    for table in _RANGED:
        for entry, fields in before.get(table, {}).items():
            port, _, numbers = entry.partition("|")
            if (found := _RANGE.fullmatch(numbers)) is None:
                if (table, port) in ports:
                    raise NodeError(f"got {table}|{entry}, expected a number or a range; correct it")
                continue
            singles = [str(number) for number in range(int(found[1]), int(found[2] or found[1]) + 1)]
            if len(singles) > 1 and any((table, port, single) in places for single in singles):
                del after[table][entry]
                for single in singles:
                    after[table].setdefault(f"{port}|{single}", dict(fields))
    return after


def _patch(before: Tables, after: Tables, contexts: Sequence[Context]) -> Iterator[dict[str, Any]]:
    """Yield the operations, entry by entry; a new table comes with its first entry."""
    there = {table: set(rows) for table, rows in before.items()}
    for table, entry in contexts:
        path, fields = f"/{_escaped(table)}/{_escaped(entry)}", after.get(table, {}).get(entry)
        known = there.setdefault(table, set())
        if fields is None:
            if entry in known:
                yield {"op": "remove", "path": f"/{table}" if known == {entry} else path}
            known.discard(entry)
        elif entry in known:
            yield from _patch_of_entry(path, before[table][entry], fields)
        elif known:
            yield {"op": "add", "path": path, "value": fields}
        else:
            yield {"op": "add", "path": f"/{table}", "value": {entry: fields}}
        if fields is not None:
            known.add(entry)


def _patch_of_entry(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for field in {**old, **new}:
        place = f"{path}/{_escaped(field)}"
        if field not in new:
            yield {"op": "remove", "path": place}
        elif field not in old:
            yield {"op": "add", "path": place, "value": new[field]}
        elif old[field] != new[field]:
            yield {"op": "replace", "path": place, "value": new[field]}


def _escaped(name: str) -> str:
    """Return a name as part of a JSON pointer. Source: RFC 6901, section 3."""
    return name.replace("~", "~0").replace("/", "~1")
