"""Plan the cells of candidate values: an experiment and the transports that are compared in it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from rogue.harness.data.files import DataFiles
from rogue.harness.errors import ConfigError, UsageError
from rogue.harness.experiment.choices import Scalar, TransportChoice
from rogue.harness.experiment.document import (
    FACTORS,
    SCALE,
    SCALES,
    Document,
    apply_settings,
    parse_path,
    with_setting,
)
from rogue.harness.experiment.load import LoadedExperiment, check_document
from rogue.harness.plan.plan import Plan, make_plan
from rogue.harness.search.space import Aim
from rogue.harness.testbeds.base import Testbed
from rogue.workloads.printable import did_you_mean
from rogue.workloads.transports import PAUSING, SPRAYING

Values = Mapping[str, Scalar]
"""Values by dotted key of the experiment."""
_NAME_LENGTH_MAX: Final = 63
UNCONTROLLED: Final = ("roce", "roce-uc", "roce-lossy", "roce-go-back-0")
"""Bases of transports without congestion control."""
CONTROL_FREE: Final = "no congestion control"
"""Label of the transport that findings are checked against."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """An experiment, its testbed, and the indices of the compared transports in the experiment's list."""

    loaded: LoadedExperiment
    testbed: Testbed
    subject: int
    """Index of the transport whose measure is read."""
    against: int | None
    """Index of the transport by whose measure it is divided."""
    first_seed: int
    keys: Sequence[str] = ()
    """Keys that vary."""
    seconds_max: float = inf
    """Values of which a cell should take longer are not run."""
    files: DataFiles | None = None
    """Data files that a resumed run keeps."""
    control_free: int | None = None
    """Index of the transport without congestion control that findings are checked against."""

    @property
    def compared(self) -> list[int]:
        """Return the indices of the subject and of the transport that it is divided by."""
        return [self.subject] if self.against is None else [self.subject, self.against]

    @property
    def title(self) -> str:
        """Return the title of the experiment, or its name."""
        return self.loaded.experiment.title or self.loaded.experiment.name

    @property
    def measure_text(self) -> str:
        """Return the name of the subject, and of the transport that it is divided by."""
        shown = [self.loaded.experiment.transports[index].shown for index in self.compared]
        return " over that of ".join(shown)

    def plan(self, values: Values, seeds: range) -> Plan | str:
        """Plan the cells of all transports at these values, or return why there are none.

        Repetitions count from the first seed of the search, so that a seed has one number in all cells.
        """
        factors = json.dumps({key: [value] for key, value in values.items()})
        count = seeds.stop - self.first_seed
        settings = (f"{FACTORS}={factors}", f"seed={self.first_seed}", f"repetitions={count}")
        try:
            loaded = self._with(*settings)
            cells = [each for each in make_plan(loaded, self.testbed).cells if each.cell.seed in seeds]
        except ConfigError as error:
            return problem_text(error)
        compared = [loaded.experiment.transports[index].shown for index in self.compared]
        for each in (one for one in cells if one.cell.transport.shown in compared):
            if each.unsupported is not None:
                return each.unsupported
            if each.seconds > self.seconds_max:
                return f"a cell should take {each.seconds:.0f} s, expected at most {self.seconds_max:g} s"
        return Plan(loaded, self.testbed, tuple(cells))

    def own_value(self, key: str) -> Scalar:
        """Return the experiment's value of a key; `default` if it has none."""
        written = self.loaded.document.written(parse_path(key) or ())
        return written if isinstance(written, Scalar) else "default"

    def checked(self) -> "Candidates":
        """Add the transport without congestion control that findings are checked against.

        It is RoCE, with PFC if the subject has it. A subject without congestion control is not checked.
        """
        choices = self.loaded.experiment.transports
        name = choices[self.subject].name
        if name.base in UNCONTROLLED and {*name.features} <= {PAUSING, SPRAYING}:
            return self
        if choices[-1].label == CONTROL_FREE:  # in a resumed run
            return replace(self, control_free=len(choices) - 1)
        added = {"name": f"roce+{PAUSING}" if name.has_pauses else "roce", "label": CONTROL_FREE}
        return replace(self._with_transport(added, len(choices)), control_free=len(choices))

    def with_subject(self, transport: str) -> "Candidates":
        """Replace the subject by another transport: a name, which has its defaults, or `{name: …, …}`."""
        choices = self.loaded.experiment.transports
        if self.against is not None and transport == str(choices[self.against].name):
            raise UsageError(f"{transport} is what {choices[self.subject].shown} is compared with here.")
        return self._with_transport(transport, self.subject)

    def _with_transport(self, transport: object, index: int) -> "Candidates":
        written = self.loaded.document.data.get("transports")
        assert isinstance(written, list), "the experiment was checked"
        is_mapping = isinstance(transport, str) and transport.startswith("{")
        texts = [json.dumps(each) for each in written]
        texts[index : index + 1] = [str(transport) if is_mapping else json.dumps(transport)]
        return replace(self, loaded=self._with(f"transports=[{', '.join(texts)}]"))

    def _with(self, *settings: str) -> LoadedExperiment:
        """Return the experiment with more `--set` options; ConfigError if it cannot have them."""
        loaded, document = self.loaded, apply_settings(self.loaded.document, settings)
        return check_document(document, (*loaded.settings, *settings), loaded.plugins, self.files)


def make_candidates(loaded: LoadedExperiment, testbed: Testbed, aim: Aim, first_seed: int) -> Candidates:
    """Find the transports that an aim names; UsageError if the experiment cannot be searched."""
    if loaded.factors:
        got = f"search: got factors in {loaded.document.file}, expected one point to start from"
        raise UsageError(f"{got}; add --set 'factors={{}}'.")
    own = {
        index: each
        for index, each in enumerate(loaded.experiment.transports)
        if each.label != CONTROL_FREE  # of a resumed run
    }
    against = None if aim.against is None else _index_of(aim.against, own)
    if aim.transport is not None:
        return Candidates(loaded, testbed, _index_of(aim.transport, own), against, first_seed)
    left = [index for index in own if index != against]
    if len(left) != 1:
        known = ", ".join(own[index].shown for index in left)
        got = f"search: got {len(left)} transports and no name of the one to look at"
        raise UsageError(f"{got}, expected transport in the aim; it is one of {known}.")
    return Candidates(loaded, testbed, left[0], against, first_seed)


def _index_of(named: str, own: Mapping[int, TransportChoice]) -> int:
    """Return the index of a transport by label or name; UsageError if there is not exactly one."""
    found = [index for index, each in own.items() if named in (each.shown, str(each.name))]
    if len(found) != 1:
        known = [each.shown for each in own.values()]
        got = f"search: got the transport {named!r}, expected one of {', '.join(known)}"
        raise UsageError(f"{got}; {did_you_mean(named, known)}.")
    return found[0]


def check_keys(document: Document, keys: Iterable[str]) -> None:
    """UsageError if the experiment has no place for a key."""
    for key in keys:
        try:
            with_setting(document, parse_path(key) or (), None, document.file)
        except LookupError as error:
            got = f"search: got the key {key}, and {document.file} has no {error.args[0]} for it"
            advice = "write a transport as {name: ..., label: ...} if it is one of its parameters"
            raise UsageError(f"{got}, expected a key of the experiment; {advice}.") from error


def problem_text(error: ConfigError) -> str:
    """Return the first problem without its place in a file."""
    problem = error.problems[0]
    return f"{problem.key}: got {problem.got}, expected {problem.expected}"


def named_for(document: Document, suffix: str, without: str = "") -> Document:
    """Return the experiment under its name with another suffix, and without its scale.

    The document has the scale's changes already; to apply it again to a candidate would undo later settings.
    """
    name = str(document.data.get("name", "")).removesuffix(suffix).removesuffix(without)
    data = {key: value for key, value in document.data.items() if key not in (SCALE, SCALES)}
    named = f"{name[: _NAME_LENGTH_MAX - len(suffix)]}{suffix}"
    return with_setting(replace(document, data=data), ("name",), named, document.place(("name",)))
