"""A check: a small experiment, what to read from its packets, and what the readings should be."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from rogue.harness.conformance import checks
from rogue.harness.conformance.trace import Trace
from rogue.reports.quantities import duration_text
from rogue.simulator import NicProfile

Value = float | int | str


class Verdict(StrEnum):
    """Result of a reading or check, in rising precedence: a check has the highest of its readings."""

    NOT_APPLICABLE = "not applicable"
    MEASURED = "measured"
    """No requirement and no profile has a value."""
    SPECIFIED = "as specified"
    PROFILE = "as the profile"
    DIFFERENT = "different"


_ORDER: Final = list(Verdict)


@dataclass(frozen=True, slots=True)
class Required:
    """Values that a reading may have."""

    text: str
    holds: Callable[[Value], bool]


@dataclass(frozen=True, slots=True)
class Reading:
    """One value that a check reads from a trace."""

    name: str
    value: Value | None
    """None if the trace has no packet to read it from."""
    specified: Required | None = None
    """What the specification requires; None where it requires nothing."""
    profile: Required | None = None
    """What the NIC's profile has; None where it has nothing."""
    unit: str = ""
    """`ns`, or nothing for counts and words."""
    ruled: Required | None = None
    """Values that show the rule of a NIC profile that the reading decides (`Check.profile_fields`)."""

    @property
    def verdict(self) -> Verdict:
        """Compare the value with the specification first, then with the profile."""
        if self.specified is None and self.profile is None:
            return Verdict.MEASURED
        if self.value is None:
            return Verdict.DIFFERENT
        if self.specified is not None and self.specified.holds(self.value):
            return Verdict.SPECIFIED
        if self.profile is not None and self.profile.holds(self.value):
            return Verdict.PROFILE
        return Verdict.DIFFERENT

    @property
    def text(self) -> str:
        """Return the value for people."""
        return f"{self.name}: {'none' if self.value is None else value_text(self.value, self.unit)}"

    @property
    def expected(self) -> str:
        """Return what the value should be."""
        texts = [
            f"{each.text} ({whose})"
            for each, whose in ((self.specified, "specification"), (self.profile, "profile"))
            if each is not None
        ]
        return ", ".join(texts)


@dataclass(frozen=True, slots=True)
class Check:
    """One question about a NIC."""

    title: str
    """What is observed, a few words."""
    group: str
    """Heading under which it is listed, one of GROUPS."""
    requires: str
    """What the specification, or else the profile, says, one sentence."""
    source: str
    """Where that is written."""
    settings: Mapping[str, object]
    """Keys by which its experiment differs from `experiments/conformance.yml`."""
    read: Callable[[Trace, NicProfile | None], Iterable[Reading]]
    """Returns the readings; nothing if the trace has no such event."""
    unavailable: str | None = None
    """Why no experiment makes this happen; it is then read from captures alone."""
    profile_fields: Mapping[str, str] = field(default_factory=dict)
    """Fields of a NIC profile by the names of the readings that measure them.

    A rule of retries is true if the reading shows it (`Reading.ruled`), and false if it is as specified, or
    if the specification requires nothing.
    """


GROUPS: Final = ("loss", "timeout", "acknowledgements", "READ", "congestion", "other services and sizes")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a check on one device."""

    name: str
    check: Check
    readings: Sequence[Reading] = ()
    reason: str | None = None
    """Why it is not applicable."""

    @property
    def verdict(self) -> Verdict:
        """Return the worst verdict of its readings."""
        verdicts = [reading.verdict for reading in self.readings]
        return max(verdicts, key=_ORDER.index, default=Verdict.NOT_APPLICABLE)


@cache
def all_checks() -> Mapping[str, Check]:
    """Return the check of each file in the folder `checks`, by group and name."""
    names = [module.name for module in iter_modules(checks.__path__)]
    found: dict[str, Check] = {name: import_module(f"{checks.__name__}.{name}").CHECK for name in names}
    return dict(sorted(found.items(), key=lambda item: (GROUPS.index(item[1].group), item[0])))


def outcome_of(name: str, traces: Sequence[Trace], nic: NicProfile | None) -> Outcome:
    """Return the outcome of a check on the flows of a trace: that of the flow with the worst verdict."""
    check = all_checks()[name]
    found = [Outcome(name, check, tuple(check.read(trace, nic))) for trace in traces]
    read = [outcome for outcome in found if outcome.readings]
    if not read:
        return Outcome(name, check, reason="the packets have no such event")
    return max(read, key=lambda outcome: _ORDER.index(outcome.verdict))


def value_text(value: Value, unit: str) -> str:
    """Write a value with its unit."""
    if isinstance(value, str):
        return value
    return duration_text(round(value, 1)) if unit == "ns" else f"{value:g}"


def exactly(value: Value) -> Required:
    """Require one value."""
    return Required(f"{value:g}" if not isinstance(value, str) else value, lambda got: got == value)


def between(low: float, high: float, unit: str = "") -> Required:
    """Require a number from low to high."""
    text = f"{value_text(low, unit)} to {value_text(high, unit)}"
    return Required(text, lambda got: not isinstance(got, str) and low <= got <= high)


def at_least(low: float, unit: str = "") -> Required:
    """Require a number that is no smaller."""
    return Required(f"at least {value_text(low, unit)}", lambda got: not isinstance(got, str) and got >= low)


def at_most(high: float, unit: str = "") -> Required:
    """Require a number that is no larger."""
    return Required(f"at most {value_text(high, unit)}", lambda got: not isinstance(got, str) and got <= high)


FLOW: Final = "main/h0->h1"
"""The flow of the experiment."""


def event(do: str, psn: int | None = None, packet: str = "data", transmission: int = 1) -> dict[str, object]:
    """Return what happens to one packet, as an experiment file has it."""
    number = {} if psn is None else {"psn": psn}
    named = {"kind": "packet_event", "flow": FLOW, "packet": packet, **number}
    return {**named, "transmission": transmission, "do": do}


TIMER_PART: Final = 0.01
"""A timer may be short by this part: clocks of NICs differ."""


def allowed_timeout(trace: Trace) -> Required | None:
    """Return what the specification requires of a timeout; None if the queue pair's attribute is unknown.

    Source: InfiniBand Architecture, volume 1, 9.7.6.1.3: 4.096 us * 2^t, and at most four times that.
    """
    if trace.timeout_ns is None:
        return None
    return between((1 - TIMER_PART) * trace.timeout_ns, 4 * trace.timeout_ns, "ns")


TIME_PART: Final = 0.05
TIME_SLACK_NS: Final = 100.0
"""A time is as the profile within 5 % and 100 ns: another packet may be in the way."""


def about_ns(value_ns: float) -> Required:
    """Require a time near a profile's."""
    slack_ns = TIME_SLACK_NS + TIME_PART * value_ns

    def holds(got: Value) -> bool:
        return not isinstance(got, str) and abs(got - value_ns) <= slack_ns

    return Required(f"about {duration_text(value_ns)}", holds)
