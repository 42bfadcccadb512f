"""Read and check the files that describe a switch platform."""

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

import jinja2
import textfsm
import yaml
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from rogue.harness.errors import ConfigError, Problem
from rogue.remote.login import Dialect

_BIT_RATE: Final = re.compile(r"(\d+(?:\.\d+)?)([MG])")


def _percent(probability: float) -> int:
    """Return a probability in percent, rounded."""
    return round(100 * probability)


def _is_whole_percent(probability: float) -> bool:
    return _percent(probability) >= 1 and abs(100 * probability - _percent(probability)) < 1e-9


def _bit_rate(text: object) -> int | None:
    """Return the bits per second of a text such as `2.5G` or `100M`; None for another text."""
    found = _BIT_RATE.fullmatch(str(text))
    return None if found is None else round(float(found[1]) * {"M": 10**6, "G": 10**9}[found[2]])


def _environment(undefined: type[jinja2.Undefined]) -> ImmutableSandboxedEnvironment:
    made = ImmutableSandboxedEnvironment(undefined=undefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["percent"] = _percent
    made.filters["exponent"] = lambda number: round(math.log2(number))
    made.filters["bit_rate"] = _bit_rate
    made.tests["whole_percent"] = _is_whole_percent
    made.tests["power_of_two"] = lambda number: math.log2(number).is_integer()
    return made


_TEMPLATES: Final = _environment(jinja2.StrictUndefined)
_EXPRESSIONS: Final = _environment(jinja2.ChainableUndefined)


class Expression:
    """A Jinja expression over columns; a missing name is undefined."""

    def __init__(self, text: object) -> None:
        try:
            self._compiled = _EXPRESSIONS.compile_expression(str(text))
        except jinja2.TemplateError as error:
            raise ValueError(f"a Jinja expression: {error}") from error

    def __call__(self, values: Mapping[str, Any]) -> object:
        """Return the value, None if it is undefined; ValueError for arithmetic with undefined values."""
        try:
            return self._compiled(**values)
        except (jinja2.TemplateError, TypeError, ArithmeticError) as error:
            raise ValueError(str(error)) from error


def _template(text: object) -> jinja2.Template:
    try:
        return _TEMPLATES.from_string(str(text))
    except jinja2.TemplateError as error:
        raise ValueError(f"a Jinja template: {error}") from error


Text = Annotated[jinja2.Template, BeforeValidator(_template)]
Formula = Annotated[Expression, BeforeValidator(Expression)]


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Limit(_Data):
    """A setting of a priority that the platform refuses."""

    when: Formula
    got: Text
    expected: Text


class Rounding(_Data):
    """Expressions for the values of marks that the switch's units allow; None leaves a value as it is."""

    from_bytes: Formula | None = None
    to_bytes: Formula | None = None
    probability: Formula | None = None
    average_weight: Formula | None = None


class LineRule(_Data):
    """The pattern of lines of one kind, and how they are removed.

    The named group `key` of `match` is the part of the line that identifies it, by default all of it.
    """

    match: re.Pattern[str]
    """Pattern of the line behind its context: `interface Ethernet1 / qos trust dscp`."""
    remove: Text | None = None
    """The command that removes the line."""
    owned: Literal["no", "here", "everywhere"] = "no"
    """`here`: the line marks or pauses at the port of the group `interface`; removed if not requested."""
    opens: bool = False
    """True if the line creates a mode."""

    @model_validator(mode="after")
    def _has_interface(self) -> Self:
        if self.owned == "here" and "interface" not in self.match.groupindex:
            raise ValueError("a group `interface` in `match`, for `owned: here`")
        return self


class NumbersData(_Data):
    """Expressions over the columns of `numbers.textfsm`, for a port or for one of its priorities."""

    marks: Formula
    """True if the queue marks."""
    from_bytes: Formula
    to_bytes: Formula
    percent: Formula
    average_weight: Formula = Expression("1")
    drops_above: Formula = Expression("false")
    pauses: Formula
    headroom_bytes: Formula = Expression("none")
    pause_alpha: Formula = Expression("none")
    rate_bps: Formula = Expression("none")
    mtu_bytes: Formula = Expression("none")
    buffer_bytes: Formula = Expression("none")
    default_profiles: Mapping[str, str] = {}
    """The profile of ports that name none, by kind."""
    undefined_profiles: bool = False
    """True if a named profile without lines does nothing; otherwise its numbers are not known."""
    not_known_by_default: Mapping[str, Mapping[int, str]] = {}
    """Why numbers of a priority are not known at a port without a profile of that kind."""


class PlatformData(_Data):
    """The file `platform.yaml`."""

    command_line: Dialect | None = None
    """The vendor's command line; None for a shell, which has exit codes."""
    read: str
    """The command that shows the whole running configuration."""
    read_ports: str = ""
    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    """Commands after the last change; with `abort`, changes become active only then."""
    abort: tuple[str, ...] = ()
    """Commands that discard all changes since `begin`."""
    up: str = "exit"
    """Leaves a mode for the mode above it."""
    leave: tuple[str, ...] = ()
    """Commands after a rejected command, from any mode to the mode of `begin`."""
    patch: str = ""
    """The command that reads a JSON patch of the configuration database, if the switch has one."""
    only: str = ""
    """Prefix of relevant lines; others are left out."""
    expand: tuple[str, ...] = ()
    """Words that precede a list or a range, such as `swp1-3,swp7`."""
    modes: re.Pattern[str] = re.compile("(?!)")
    """Pattern of lines, behind their context, that only open a mode."""
    remove: Text = _template("no {{ line }}")
    lines: tuple[LineRule, ...]
    takes: frozenset[Literal["average_weight", "drops_above", "losses"]] = frozenset()
    """Settings that other platforms refuse unless they have their default values."""
    limits: tuple[Limit, ...] = ()
    rounds: Rounding = Rounding()
    """Marks that are rounded instead of refused; the plan states the rounding."""
    numbers: NumbersData
    release: Mapping[str, re.Pattern[str]] = {}
    """Pattern of the reply by name of the release; a name may refer to groups, as in re.sub."""
    patch_allows: Mapping[str, Mapping[str, re.Pattern[str]]] = {}
    """Operations that the updater accepts, by first release and guarded table."""
    refused_replies: Mapping[str, re.Pattern[str]] = Field(default_factory=dict)
    """Pattern of the reply by the reason why such a switch is not set."""


@contextmanager
def _wrong_file(file: Path, expected: str) -> Iterator[None]:
    """Turn errors of a reader into a ConfigError that names the file and, in YAML, the key."""
    key = ""
    try:
        yield
        return
    except ValidationError as error:
        first = error.errors()[0]
        key, got, expected = ".".join(map(str, first["loc"])), f"{first['input']!r:.60}", first["msg"]
    except OSError as error:
        got = error.strerror or type(error).__name__
    except (ValueError, yaml.YAMLError, jinja2.TemplateError, textfsm.Error) as error:
        got = " ".join(str(error).split())
    advice = "correct the file; docs/how-to/hardware-switches.md describes it"
    raise ConfigError([Problem(str(file), key, got, expected, advice)])


def read_data(file: Path) -> PlatformData:
    """Read `platform.yaml`; ConfigError names the key that is wrong."""
    with _wrong_file(file, "the data of a switch platform"):
        return PlatformData.model_validate(yaml.safe_load(file.read_text()))


def read_template(file: Path) -> jinja2.Template:
    """Read a template of a platform; ConfigError says what is wrong."""
    with _wrong_file(file, "a Jinja template"):
        return _TEMPLATES.from_string(file.read_text())


def read_table(file: Path) -> textfsm.TextFSM:
    """Read a TextFSM template of a platform; ConfigError says what is wrong."""
    with _wrong_file(file, "a TextFSM template"), file.open() as stream:
        return textfsm.TextFSM(stream)
