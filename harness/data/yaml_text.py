"""YAML without its traps: plain mappings, lists and scalars, within limits, with line numbers.

Scalars follow YAML 1.2: `no` is a string, `1:30` is a string, NaN and infinity are refused.  Tags, repeated
keys and several documents are refused.  Aliases are copied and every copy counts against the limit, so that a
few lines cannot expand into gigabytes.
"""

import copy
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import yaml

from rogue.workloads.printable import is_printable

Path = tuple[str | int, ...]
Loader = type[yaml.SafeLoader] | type[yaml.CSafeLoader]

SIZE_BYTES_MAX: Final = 65_536
VALUES_MAX: Final = 10_000
DEPTH_MAX: Final = 16
NUMBER_LENGTH_MAX: Final = 40

_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_A_NUMBER: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS: Final[dict[str, object]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


class YamlError(ValueError):
    """Text that is not the YAML we accept."""

    def __init__(self, line: int, got: str, expected: str, advice: str, key: str = "") -> None:
        super().__init__(f"line {line}: got {got}, expected {expected}; {advice}")
        self.line = line
        self.key = key
        self.got = got
        self.expected = expected
        self.advice = advice


@dataclass(frozen=True, slots=True)
class Parsed:
    """A value and the line of each of its parts."""

    value: object
    lines: dict[Path, int]


@dataclass(slots=True)
class _Open:
    """A mapping or list without its end so far."""

    value: dict[str, object] | list[object]
    path: Path
    anchor: str | None
    values_before: int
    key: str | None = None
    key_line: int = 0
    levels: int = 0


@dataclass(slots=True)
class _Reader:
    """Build the value from parser events, without recursion."""

    values_max: int
    lines: dict[Path, int] = field(default_factory=dict)
    root: object = None
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[object, int, int]] = field(default_factory=dict)
    """Of each its value, how many values are in it, and how many levels."""
    values: int = 0
    documents: int = 0

    def feed(self, event: yaml.Event) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise YamlError(line, "a second document", "one experiment per file", "remove the `---` line")
        elif isinstance(event, yaml.AliasEvent):
            self._on_alias(str(event.anchor), line)
        elif isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            if event.tag is not None:
                raise YamlError(line, f"the tag {event.tag}", "plain YAML without tags", "remove the tag")
            if isinstance(event, yaml.ScalarEvent):
                self._on_scalar(event, line)
            else:
                self._on_start(event, line)
        elif isinstance(event, yaml.CollectionEndEvent):
            closed = self.stack.pop()
            levels = closed.levels + 1
            if self.stack:
                self.stack[-1].levels = max(self.stack[-1].levels, levels)
            if closed.anchor:
                self.anchors[closed.anchor] = (closed.value, self.values - closed.values_before, levels)

    def _on_alias(self, anchor: str, line: int) -> None:
        if anchor not in self.anchors:
            raise YamlError(
                line, f"*{anchor}", f"an anchor &{anchor} that is complete above it", "write the value out"
            )
        value, values, levels = self.anchors[anchor]
        self._count(values, line)
        self._check_depth(len(self.stack) + levels, line)
        if self.stack:
            self.stack[-1].levels = max(self.stack[-1].levels, levels)
        self._place(copy.deepcopy(value), line)

    def _on_scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        self._count(1, line)
        if not is_printable(event.value):
            raise YamlError(line, "a control character", "printable text", "remove it")
        if self.stack and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None:
            self._on_key(event.value, line)
            return
        value: object = event.value
        if event.implicit[0]:
            value = resolve_scalar(event.value, line, format_path(self._next_path()))
        if event.anchor:
            self.anchors[event.anchor] = (value, 1, 0)
        self._place(value, line)

    def _on_key(self, key: str, line: int) -> None:
        mapping = self.stack[-1].value
        if key in mapping:
            path = format_path((*self.stack[-1].path, key))
            raise YamlError(line, f"the key {path} twice", "each key once", "remove one of the two")
        self.stack[-1].key, self.stack[-1].key_line = key, line

    def _on_start(self, event: yaml.CollectionStartEvent, line: int) -> None:
        self._count(1, line)
        self._check_depth(len(self.stack) + 1, line)
        if self.stack and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None:
            raise YamlError(
                line,
                "a list or mapping as a key",
                "a word as a key",
                "quote it if braces are meant literally",
            )
        value: dict[str, object] | list[object] = {} if isinstance(event, yaml.MappingStartEvent) else []
        before = self.values
        path = self._place(value, line)
        self.stack.append(_Open(value, path, event.anchor, before))

    def _place(self, value: object, line: int) -> Path:
        path = self._next_path()
        if not self.stack:
            self.root = value
        elif isinstance((parent := self.stack[-1]).value, list):
            parent.value.append(value)
        elif parent.key is None:
            raise YamlError(line, "an alias as a key", "a word as a key", "write the key out")
        else:
            parent.value[parent.key] = value
            parent.key, line = None, parent.key_line
        self.lines[path] = line
        return path

    def _next_path(self) -> Path:
        if not self.stack:
            return ()
        parent = self.stack[-1]
        if isinstance(parent.value, list):
            return (*parent.path, len(parent.value))
        return parent.path if parent.key is None else (*parent.path, parent.key)

    def _check_depth(self, levels: int, line: int) -> None:
        if levels > DEPTH_MAX:
            raise YamlError(
                line, f"more than {DEPTH_MAX} levels", "a flat file", "remove brackets or indentation"
            )

    def _count(self, values: int, line: int) -> None:
        self.values += values
        if self.values > self.values_max:
            got = f"more than {self.values_max} values (aliases expanded)"
            raise YamlError(line, got, "a short file", "use fewer aliases")


def resolve_scalar(text: str, line: int, key: str) -> object:
    """Return the value of an unquoted word."""
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_A_NUMBER.fullmatch(text):
        raise YamlError(line, text, "a finite number", "write the number that is meant", key)
    if not _FLOAT.fullmatch(text):
        return text
    if len(text) > NUMBER_LENGTH_MAX:
        got, expected = f"a number of {len(text)} digits", f"at most {NUMBER_LENGTH_MAX}"
        raise YamlError(line, got, expected, "use a smaller number", key)
    if _INTEGER.fullmatch(text):
        return int(text)
    number = float(text)
    if math.isinf(number):
        raise YamlError(line, text, "a finite number", "use a smaller number", key)
    return number


def format_path(path: Path) -> str:
    """Return a dotted path with list indices: ``traffic[0].workload.size``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def parse_yaml(text: str, values_max: int = VALUES_MAX, loader: Loader = yaml.SafeLoader) -> Parsed:
    """Read one YAML document."""
    reader = _Reader(values_max)
    for event in _events(text, loader):
        reader.feed(event)
    return Parsed(reader.root, reader.lines)


def _events(text: str, loader: Loader) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problem = error.problem or "a syntax error"
        raise YamlError(line, f"text that is not YAML ({problem})", "YAML", "check this line") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        got = f"the control character {error.character:#x}"
        raise YamlError(line, got, "printable text", "remove it") from error
    except (ValueError, OverflowError) as error:  # an escape such as \\UFFFFFFFF
        raise YamlError(1, "an escape that is no character", "printable text", "remove it") from error
