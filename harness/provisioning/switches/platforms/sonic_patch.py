"""Edit SONiC's configuration database as JSON patches that a release accepts."""

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rogue.harness.provisioning.switches.change import Change, Configuration, Context
from rogue.remote.errors import NodeError

SYSTEM: Final[Context] = ("show version", "")
"""What a switch says of itself stands among its configuration under this name, which no table has."""
TUNABLE: Final = "AZURE_LOSSLESS"
"""The only profile of marks whose values a patch may change until 202411."""
TUNED_MARKS: Final = ("green_min_threshold", "green_max_threshold", "green_drop_probability")
_TUNED: Final[Mapping[str, tuple[str, ...]]] = {
    "WRED_PROFILE": TUNED_MARKS,
    "BUFFER_PROFILE": ("dynamic_th", "xoff"),
}
"""Fields that may get another value, by table that is guarded."""
_GUARDED_FROM, _UNGUARDED_EXCEPTION, _ANY_PROFILE_FROM, _UNGUARDED_FROM = (
    "202205",
    "202211",
    "202505",
    "202511",
)
_BUILD: Final = re.compile(r"^SONiC Software Version: SONiC\.(\S+)", re.MULTILINE)
_ASICS: Final = re.compile(r"^ASIC Count: (\d+)", re.MULTILINE)
_DATE: Final = re.compile(r"(20\d\d(?:0[1-9]|1[0-2]))(?:\d\d)?(?!\d)")


def system_lines(text: str) -> tuple[str, ...]:
    """What `show version` says, as lines of SYSTEM: the release, as far as it is a release, and the ASICs."""
    build, asics = _BUILD.search(text), _ASICS.search(text)
    date = _DATE.match(build[1]) if build else None
    release = _UNGUARDED_FROM if build and build[1].startswith("master") else date[1] if date else ""
    return (f"release {release}", f"asics {asics[1] if asics else 1}")


def release_of(found: Configuration) -> str:
    """Year and month, such as 202311; empty if nobody knows: a build of somebody's own, or no switch."""
    return _system(found).get("release", "")


def asics_of(found: Configuration) -> int:
    """How many chips the switch has."""
    return int(_system(found).get("asics", "1"))


def forbids_profile_changes(release: str) -> bool:
    """Whether a patch may neither add a profile nor take one away."""
    return _GUARDED_FROM <= release < _UNGUARDED_FROM and release != _UNGUARDED_EXCEPTION


def is_refused(release: str, operation: Mapping[str, Any]) -> bool:
    """Whether the release's updater does not take an operation of a patch."""
    table, *place = operation["path"].removeprefix("/").split("/")
    if table not in _TUNED or release < _GUARDED_FROM or release == _UNGUARDED_EXCEPTION:
        return False
    is_tuning = operation["op"] == "replace" and len(place) == 2 and place[1] in _TUNED[table]
    if release >= _UNGUARDED_FROM:
        return table == "BUFFER_PROFILE" and len(place) != 1 and not is_tuning
    return not (is_tuning and _may_be_tuned(release, table, place[0]))


def _may_be_tuned(release: str, table: str, profile: str) -> bool:
    """Which profiles: names of buffer profiles count only where they have a digit, as pg_lossless_* do."""
    if table == "BUFFER_PROFILE":
        return any(letter.isdigit() for letter in profile)
    return release >= _ANY_PROFILE_FROM or profile == TUNABLE


def _system(found: Configuration) -> dict[str, str]:
    return dict(line.partition(" ")[::2] for line in found.get(SYSTEM, ()))


Tables = dict[str, dict[str, dict[str, Any]]]
_RANGED: Final = ("QUEUE", "BUFFER_PG")
"""Tables whose entries may be for a range, such as `Ethernet0|3-4`."""


def line_of(field: str, value: object) -> str:
    """A field and its value."""
    return f"{field} {json.dumps(value)}"


def as_configuration(tables: Mapping[str, Any]) -> dict[Context, tuple[str, ...]]:
    """Every entry is a context, every field a line."""
    return {
        (table, entry): tuple(line_of(field, value) for field, value in fields.items())
        for table, entries in tables.items()
        if isinstance(entries, Mapping)
        for entry, fields in entries.items()
        if isinstance(fields, Mapping)
    }


def as_tables(found: Configuration) -> Tables:
    """The other way around."""
    tables: Tables = {}
    for context, lines in found.items():
        if context != SYSTEM:
            tables.setdefault(context[0], {})[context[1]] = dict(map(_field, lines))
    return tables


def changed(before: Tables, changes: Iterable[Change]) -> Tables:
    """The tables after the changes; entries and tables without anything in them are gone."""
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


def split_ranges(before: Tables, wanted: Tables) -> Tables:
    """Ranges with a number that gets an entry of its own become an entry for each number.

    Two entries for one number would both count: `Ethernet0|3-4` and `Ethernet0|3`.
    """
    after = copy.deepcopy(before)
    for table in _RANGED:
        places = {entry.partition("|")[::2] for entry in wanted.get(table, {})}
        for entry, fields in before.get(table, {}).items():
            port, _, numbers = entry.partition("|")
            singles = split_numbers(numbers)
            if len(singles) > 1 and any((port, single) in places for single in singles):
                del after[table][entry]
                for single in singles:
                    after[table].setdefault(f"{port}|{single}", dict(fields))
    return after


def split_numbers(text: str) -> list[str]:
    """All numbers of `3-4`, or the one that stands there."""
    first, _, last = text.partition("-")
    if not (first.isdigit() and (last or first).isdigit()):
        return [text]
    return [str(number) for number in range(int(first), int(last or first) + 1)]


def split_entries(before: Tables, split: Tables) -> list[Context]:
    """Ranges that are gone, and what came of them."""
    return [
        (table, entry)
        for table in _RANGED
        for entry in [*before.get(table, {}), *split.get(table, {})]
        if (entry in before.get(table, {})) != (entry in split.get(table, {}))
    ]


def differences(before: Tables, after: Tables, order: Iterable[Context]) -> list[Change]:
    """What changes in these entries, in their order."""
    return [
        Change(context, line_of(field, new[field]) if field in new else None, _standing(field, old), "")
        for context in dict.fromkeys(order)
        for old, new in [(_entry(before, context) or {}, _entry(after, context) or {})]
        for field in {**old, **new}
        if field not in old or field not in new or old[field] != new[field]
    ]


def patch(before: Tables, after: Tables, contexts: Sequence[Context]) -> Iterator[dict[str, Any]]:
    """The operations, entry by entry; a table that is new comes with its first entry."""
    there = {table: set(rows) for table, rows in before.items()}
    for table, entry in contexts:
        path, fields = f"/{_escaped(table)}/{_escaped(entry)}", _entry(after, (table, entry))
        known = there.setdefault(table, set())
        if fields is None:
            if entry in known:
                yield {"op": "remove", "path": f"/{table}" if known == {entry} else path}
            known.discard(entry)
            continue
        if entry in known:
            yield from _in_entry(path, _entry(before, (table, entry)) or {}, fields)
        elif known:
            yield {"op": "add", "path": path, "value": fields}
        else:
            yield {"op": "add", "path": f"/{table}", "value": {entry: fields}}
        known.add(entry)


def _in_entry(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for field in {**old, **new}:
        place = f"{path}/{_escaped(field)}"
        if field not in new:
            yield {"op": "remove", "path": place}
        elif field not in old:
            yield {"op": "add", "path": place, "value": new[field]}
        elif old[field] != new[field]:
            yield {"op": "replace", "path": place, "value": new[field]}


def _field(line: str) -> tuple[str, Any]:
    field, _, value = line.partition(" ")
    try:
        return field, json.loads(value)
    except ValueError as error:
        advice = "put the switch back by hand, then delete what is remembered of it"
        raise NodeError(f"got `{line}`, expected its value as JSON; {advice}") from error


def _standing(field: str, fields: Mapping[str, Any]) -> str | None:
    return line_of(field, fields[field]) if field in fields else None


def _entry(tables: Tables, context: Context) -> dict[str, Any] | None:
    return tables.get(context[0], {}).get(context[1])


def _escaped(name: str) -> str:
    """A name inside a path. Source: RFC 6901, section 3."""
    return name.replace("~", "~0").replace("/", "~1")
