"""Plan the configuration commands that bring a vendor's switch to the requested settings.

The vendor's rules are data in a folder.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import groupby, product
from pathlib import Path
from typing import Any, Final

import jinja2
import textfsm

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.provisioning.switches import database
from rogue.harness.provisioning.switches.change import (
    Change,
    Configuration,
    Context,
    Line,
    each_line,
    indented,
    requested_changes,
)
from rogue.harness.provisioning.switches.platform_data import (
    LineRule,
    PlatformData,
    read_data,
    read_table,
    read_template,
)
from rogue.harness.provisioning.switches.readback import SwitchState, read_state
from rogue.harness.provisioning.switches.settings import DECLARED, HardwareSwitchVariables, Marking
from rogue.remote.errors import NodeError
from rogue.workloads.printable import did_you_mean

_SHIPPED: Final = Path(__file__).parent / "platforms"
PLATFORMS: Final = tuple(sorted(file.parent.name for file in _SHIPPED.glob("*/platform.yaml")))
"""Names of the platforms that ship with this package."""
_SAFE: Final = re.compile(r"[A-Za-z0-9_ .,:/@%+=-]+")
"""A safe command is one line without quotes or shell separators."""
_RANGE: Final = re.compile(r"(.*?)(\d+)-(?:\1)?(\d+)")
_ANNOTATION: Final = re.compile(r"(?P<text>.*?)(?: !(?P<default>default)| !remove (?P<remove>.+))?")


@dataclass(frozen=True, slots=True)
class Command:
    """A command for the switch."""

    text: str
    stdin: str = ""
    """Input for a program on the switch."""

    def __str__(self) -> str:
        return f"{self.text} <<\n{self.stdin}" if self.stdin else self.text


@cache
def load_platform(name: str) -> "Platform":
    """Return a platform by its name, or by the path of its folder; ConfigError if its data is wrong."""
    return Platform(Path(name) if "/" in name else _SHIPPED / name)


class Platform:
    """The switch software of one vendor."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.data: PlatformData = read_data(folder / "platform.yaml")
        self._folder = folder
        self._template = read_template(folder / "configuration.j2")
        self._table: textfsm.TextFSM = read_table(folder / "numbers.textfsm")

    def mistake(self, wanted: HardwareSwitchVariables) -> tuple[str, str, str] | None:
        """Return the first refused setting: where it is, what is there and what is expected."""
        if wanted.switch_loses_one_in and "losses" not in self.data.takes:
            expected = f"none, because no documented command of {self.name} matches the IP ID"
            return "switch_loses_one_in", "losses by IP ID", expected
        for each in _template_variables(wanted)["priorities"]:
            values = {**each, "cell_bytes": wanted.switch_cell_bytes}
            for name, default in (("average_weight", 1.0), ("drops_above", False)):
                has = each["marks"] and getattr(each["marks"], name)
                if each["marks"] and has != default and name not in self.data.takes:
                    expected = f"none, because {self.name} has no such setting"
                    return f"priority {each['number']}", f"{name} {has}", expected
            for limit in self.data.limits:
                with self._data_errors():
                    if limit.when(values):
                        return (
                            f"priority {each['number']}",
                            limit.got.render(values),
                            limit.expected.render(values),
                        )
        return None

    def rounded(self, marks: Marking, cell_bytes: int | None) -> Marking:
        """Return the nearest marks that the switch's units allow."""
        values = {"marks": marks, "cell_bytes": cell_bytes}
        with self._data_errors():
            found = {name: formula(values) for name, formula in self.data.rounds if formula is not None}
        return marks.model_copy(update=found)

    def roundings(self, wanted: HardwareSwitchVariables) -> list[str]:
        """Return a sentence for each priority whose marks the switch's units round."""
        found = [
            (number, marks, self.rounded(marks, wanted.switch_cell_bytes)) for number, marks in wanted.marking
        ]
        return [
            f"priority {number}: got `{marks}`, rounded to `{rounded}`"
            for number, marks, rounded in found
            if marks != rounded
        ]

    @contextmanager
    def _data_errors(self) -> Iterator[None]:
        """Turn errors of a template or an expression into a ConfigError that names the folder."""
        try:
            yield
        except (jinja2.TemplateError, TypeError, ValueError) as error:
            raise self._error(str(error), "templates and expressions that render") from error

    def lines(self, wanted: HardwareSwitchVariables, found: Configuration | None = None) -> list[Line]:
        """Return the lines that make up the settings, in an order that the switch accepts.

        ConfigError if the template fails, or writes a line that no rule under `lines` matches.
        """
        found = found or {}
        refuses = lambda operation: database.is_refused(self.data.patch_allows, found, operation)  # noqa: E731
        with self._data_errors():
            values = _template_variables(wanted)
            for each in values["marking"]:
                each["marks"] = self.rounded(each["marks"], wanted.switch_cell_bytes)
            text = self._template.render(**values, found=found, patch_refuses=refuses)
        return [line for context, words in each_line(text) for line in self._line(context, words)]

    def _line(self, context: Context, words: str) -> Iterator[Line]:
        parts = _ANNOTATION.fullmatch(words)
        assert parts is not None, "the pattern matches every line"
        text = parts["text"]
        path = " / ".join((*context, text))
        if self.data.modes.fullmatch(path):
            return
        if (kind := self._kind(context, text)) is None:
            raise self._error(f"the line `{path}`", "a line of a kind in platform.yaml")
        rule, found = kind
        off = parts["remove"] or self._removal_command(rule, found, text)
        yield Line(context, text, _key(found, text), off, rule.opens, parts["default"] is not None)

    def _error(self, got: str, expected: str) -> ConfigError:
        return ConfigError([Problem(str(self._folder), "", got, expected, "correct its data")])

    def _kind(self, context: Context, text: str) -> tuple[LineRule, re.Match[str]] | None:
        path = " / ".join((*context, text))
        kinds = ((rule, found) for rule in self.data.lines if (found := rule.match.fullmatch(path)))
        return next(kinds, None)

    def _removal_command(self, rule: LineRule, found: re.Match[str], text: str) -> str:
        values = {**found.groupdict(), "line": text, "key": _key(found, text)}
        with self._data_errors():
            return (rule.remove or self.data.remove).render(values)

    def configuration(self, reply: str) -> Configuration:
        """Return the lines of a reply to `read`; NodeError if the reply cannot be read."""
        for sentence, pattern in self.data.refused_replies.items():
            if pattern.search(reply):
                raise NodeError(sentence)
        if self.data.patch:
            return database.configuration(reply, self.data.release)
        lines = (line.strip() for line in reply.splitlines())
        if self.data.expand:
            kept = (line for line in lines if line.startswith(self.data.only))
            return {(): tuple(each for line in kept for each in _expanded(line, self.data.expand))}
        return indented(reply)

    def state(self, found: Configuration, ports: str, wanted: HardwareSwitchVariables) -> SwitchState:
        """Return marks, pauses, rates, MTUs and the buffer in numbers.

        ports: the reply to `read_ports`; empty if the switch rejected the command.
        """
        return read_state(self.data.numbers, self._table, found, ports, wanted)

    def changes(self, wanted: HardwareSwitchVariables, found: Configuration) -> list[Change]:
        """Return the changes to the requested settings; unwanted lines go first.

        NodeError if the switch has a line that this platform could not restore.
        """
        lines = self.lines(wanted, found)
        if self.data.patch:
            return database.changes(lines, found, lambda split: self._changes(lines, split, wanted))
        changes = self._changes(lines, found, wanted)
        for change in changes:
            if change.before is not None:
                self._command(change.reversed())
        return changes

    def _changes(
        self, lines: Sequence[Line], found: Configuration, wanted: HardwareSwitchVariables
    ) -> list[Change]:
        keys: dict[Context, list[str]] = {}
        for line in lines:
            keys.setdefault(line.context, []).append(line.key)
        extra = [
            Change(context, None, text, self._removal_command(rule, match, text))
            for context, text, rule, match in self._known(found)
            if rule.owned == "everywhere"
            or (rule.owned == "here" and match["interface"] in wanted.interfaces)
            if not any(text == key or text.startswith(f"{key} ") for key in keys.get(context, ()))
        ]
        return requested_changes(lines, found, extra)

    def _known(self, found: Configuration) -> Iterator[tuple[Context, str, LineRule, re.Match[str]]]:
        for context, texts in found.items():
            for text in texts:
                if (kind := self._kind(context, text)) is not None:
                    yield context, text, *kind

    def commands(self, changes: Sequence[Change], found: Configuration) -> list[Command]:
        """Return the commands that make the changes, in their order.

        NodeError if a command is not safe, or if the release refuses it.
        """
        if not changes:
            return []
        if self.data.patch:
            operations = database.patch_of(changes, found, self.data.patch_allows)
            return [Command(self.data.patch, json.dumps(operations, indent=1))] if operations else []
        texts = [*self.data.begin, *self._in_contexts(changes), *self.data.end]
        return [Command(text) for text in texts]

    def _command(self, change: Change) -> str:
        """Return the command of a change; NodeError if it is not safe, or if no kind of line matches."""
        if change.after is None:
            return _check(change.off)
        if self._kind(change.context, change.after) is None:
            raise NodeError(
                f"got `{change.after}`, expected a line that can be put back; remove it from the switch"
            )
        return _check(change.after)

    def _in_contexts(self, changes: Iterable[Change]) -> Iterator[str]:
        """Yield commands that enter each context, change it and leave it."""
        for context, group in groupby(changes, key=lambda change: change.context):
            yield from map(_check, context)
            for change in group:
                yield self._command(change)
                if change.opens and change.after is not None:
                    yield self.data.up
            yield from [self.data.up] * len(context)


def _key(found: re.Match[str], text: str) -> str:
    return found.groupdict().get("key") or text


def _check(text: str) -> str:
    if not _SAFE.fullmatch(text):
        raise NodeError(f"got the command {text!r}, expected letters, digits and plain punctuation alone")
    return text


def _template_variables(wanted: HardwareSwitchVariables) -> dict[str, Any]:
    """Return the variables of a template; all values are checked."""
    settings = sorted(wanted.switch_priorities.items())
    priorities = [{"number": number, **dict(each)} for number, each in settings]
    return {
        "interfaces": wanted.interfaces,
        "priorities": priorities,
        "marking": [each for each in priorities if each["marks"] is not None],
        "pausing": wanted.pausing,
        "has_dscp": any(each["dscp"] for each in priorities),
        "cell_bytes": wanted.switch_cell_bytes,
        "losing": sorted(wanted.switch_loses_one_in.items()),
    }


def _expanded(line: str, listed: Sequence[str]) -> Iterator[str]:
    """Yield a line for each word of a list or range: `interface swp1-3,swp7 ...` makes four lines."""
    words = line.split()
    choices = [
        list(_each(word)) if before in listed else [word]
        for before, word in zip(["", *words], words, strict=False)
    ]
    yield from (" ".join(chosen) for chosen in product(*choices))


def _each(word: str) -> Iterator[str]:
    for part in word.split(","):
        if (found := _RANGE.fullmatch(part)) is None:
            yield part
        else:
            yield from (f"{found[1]}{number}" for number in range(int(found[2]), int(found[3]) + 1))


_ADVICE: Final = "docs/how-to/hardware-switches.md says what each platform takes"


def switch_problems(path: Path, name: str, variables: Mapping[str, Any]) -> list[Problem]:
    """Return the problem of a switch that its platform cannot set, at most one.

    path: the inventory's file. variables: already valid as HardwareSwitchVariables.
    """
    wanted = HardwareSwitchVariables.model_validate(variables)
    try:
        found = _problem(name, wanted)
    except ConfigError as error:
        return list(error.problems)
    return [] if found is None else [Problem(str(path), *found)]


def _problem(name: str, wanted: HardwareSwitchVariables) -> tuple[str, str, str, str] | None:
    """Return key, got, expected and advice."""
    platform, advice = wanted.switch_platform, "leave switch_follows_experiments out, or correct it"
    key = f"{name}.switch_platform"
    if platform == DECLARED:
        expected = "a platform with a login, because only such a switch can be set"
        return (key, repr(DECLARED), expected, advice) if wanted.switch_follows_experiments else None
    for number, each in sorted(wanted.switch_priorities.items()):
        if wanted.switch_follows_experiments and each.has_settings:
            key = f"{name}.switch_priorities, priority {number}"
            return key, str(each), "dscp alone, because the experiment has the other settings", advice
    if "/" not in platform and platform not in PLATFORMS:
        known = [DECLARED, *PLATFORMS]
        expected = f"one of {', '.join(known)}, or the folder of a platform such as ./mine"
        advice = did_you_mean(platform, known, "docs/how-to/hardware-switches.md describes such a folder")
        return key, repr(platform), expected, advice
    if not wanted.switch_ports:
        return f"{name}.switch_ports", "nothing", "the ports that experiments use", _ADVICE
    if (mistake := load_platform(platform).mistake(wanted)) is None:
        return None
    where, got, expected = mistake
    keys = f"switch_priorities, {where}" if where.startswith("priority") else where
    return f"{name}.{keys}", got, expected, _ADVICE
