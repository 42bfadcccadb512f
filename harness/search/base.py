"""What a search starts from: an experiment, and the transports that are compared in it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rogue.harness.data.files import DataFiles
from rogue.harness.errors import ConfigError, Problem, UsageError
from rogue.harness.experiment.choices import Scalar, TransportChoice
from rogue.harness.experiment.document import Document, with_setting
from rogue.harness.experiment.load import LoadedExperiment, check_document
from rogue.harness.experiment.settings import FACTORS, SCALE, SCALES, apply_settings, parse_path
from rogue.harness.plan.plan import Plan, make_plan
from rogue.harness.search.space import Aim
from rogue.harness.testbeds.base import Testbed
from rogue.workloads.printable import did_you_mean

SUFFIX: Final = "-search"
"""Of the experiment's name in the results, so that nothing takes a search for the experiment's own run."""
_NAME_LENGTH_MAX: Final = 63


@dataclass(frozen=True, slots=True)
class Infeasible:
    """Values that make no cell: why, in a sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Base:
    """An experiment, its testbed, and which of its transports matter."""

    loaded: LoadedExperiment
    testbed: Testbed
    subject: int
    """Place of the transport that is looked at, in the experiment's list."""
    against: int | None
    """Place of the one whose measure it is divided by."""
    seed: int
    """The first seed of the search."""
    files: DataFiles | None = None
    """Files of data that a run keeps, where the search goes on."""

    @property
    def document(self) -> Document:
        """The experiment as it was written."""
        return self.loaded.document

    def cells_at(self, values: Mapping[str, Scalar], seeds: range, seconds_max: float) -> Plan | Infeasible:
        """Plan the cells at these values, one for each transport and seed; else say why there are none."""
        try:
            loaded = self.at(values, seeds)
            plan = make_plan(loaded, self.testbed)
        except ConfigError as error:
            return Infeasible(_reason(error.problems[0]))
        shown = {each.shown for each in self.compared(loaded)}
        cells = tuple(
            each for each in plan.cells if each.cell.seed in seeds and each.cell.transport.shown in shown
        )
        for each in cells:
            if each.unsupported is not None:
                return Infeasible(each.unsupported)
            if each.seconds > seconds_max:
                words = f"a cell should take {each.seconds:.0f} s, expected at most {seconds_max:g} s"
                return Infeasible(f"{words}; raise cell in the budget if it may")
        return Plan(loaded, self.testbed, cells)

    def at(self, values: Mapping[str, Scalar], seeds: range) -> LoadedExperiment:
        """Return the experiment at these values and all seeds up to these; ConfigError if it cannot be."""
        added = settings_at(values, self.seed, seeds)
        document = apply_settings(self.document, added)
        return check_document(document, (*self.loaded.settings, *added), self.loaded.plugins, self.files)

    def own_value(self, key: str) -> Scalar:
        """Return what the experiment itself says at a key; `default` if it says nothing."""
        written = self.document.written(parse_path(key) or ())
        return written if isinstance(written, Scalar) else "default"

    def cells_per_value(self, seeds: range) -> int:
        """Return how many cells one value has: one for each transport that is compared and each seed."""
        return len(seeds) * (1 if self.against is None else 2)

    def compared(self, loaded: LoadedExperiment) -> list[TransportChoice]:
        """Return the transport that is looked at, and the one beside it, as results call them."""
        places = [self.subject] if self.against is None else [self.subject, self.against]
        return [loaded.experiment.transports[place] for place in places]


def settings_at(values: Mapping[str, Scalar], seed: int, seeds: range) -> tuple[str, ...]:
    """Return the `--set` options that make the cells: each value is a factor with one value.

    The first seed is always the same, so that a seed has one number as a repetition, which a cell's name has.
    """
    factors = json.dumps({key: [value] for key, value in values.items()})
    return (f"{FACTORS}={factors}", f"seed={seed}", f"repetitions={seeds.stop - seed}")


def make_base(
    loaded: LoadedExperiment, testbed: Testbed, aim: Aim, seed: int, files: DataFiles | None = None
) -> Base:
    """Find the transports that an aim names; UsageError if the experiment cannot be searched."""
    if loaded.factors:
        got = f"search: got factors in {loaded.document.file}, expected one point to start from"
        raise UsageError(f"{got}; add --set 'factors={{}}'.")
    choices = loaded.experiment.transports
    if aim.transport is None and len(choices) > 1 + (aim.against is not None):
        got = f"search: got {len(choices)} transports and no name of the one that is meant"
        raise UsageError(
            f"{got}, expected transport in the aim; {', '.join(each.shown for each in choices)}."
        )
    against = None if aim.against is None else place_of(aim.against, choices)
    others = [place for place in range(len(choices)) if place != against]
    if not others:
        raise UsageError(
            f"--against: got {aim.against!r}, expected another transport than the one looked at."
        )
    subject = others[0] if aim.transport is None else place_of(aim.transport, choices)
    return Base(loaded, testbed, subject, against, seed, files)


def _reason(problem: Problem) -> str:
    """Return a mistake without its place: that of a value is the search."""
    return f"{problem.key}: got {problem.got}, expected {problem.expected}"


def check_places(document: Document, keys: Iterable[str]) -> None:
    """UsageError if a key leads nowhere in the experiment, so that no value of it could be."""
    for key in keys:
        try:
            with_setting(document, parse_path(key) or (), None, document.file)
        except LookupError as error:
            got = f"search: got the key {key}, and {document.file} has no {error.args[0]} to write it in"
            advice = "write a transport as {name: ..., label: ...} if it is one of its parameters"
            raise UsageError(f"{got}, expected a key of the experiment; {advice}.") from error


def named_for_search(document: Document, suffix: str = SUFFIX) -> Document:
    """Return the experiment under the name that its search has in the results.

    What its scale changes stands in it already. The scale itself is left out: written again with each value,
    it would undo what a person has set after it.
    """
    name = str(document.data.get("name", ""))
    named = name if name.endswith(suffix) else with_suffix(name, suffix)
    data = {key: value for key, value in document.data.items() if key not in (SCALE, SCALES)}
    return with_setting(replace(document, data=data), ("name",), named, document.place(("name",)))


def with_suffix(name: str, suffix: str) -> str:
    """Return the name of an experiment with a suffix, as short as a name has to be."""
    return f"{name[: _NAME_LENGTH_MAX - len(suffix)]}{suffix}"


def place_of(named: str, choices: Sequence[TransportChoice]) -> int:
    """Return the place of a transport, by label or by name; UsageError if there is none, or several."""
    found = [place for place, each in enumerate(choices) if named in (each.shown, str(each.name))]
    if len(found) != 1:
        known = [each.shown for each in choices]
        got = f"search: got the transport {named!r}, expected one of {', '.join(known)}"
        raise UsageError(f"{got}; {did_you_mean(named, known)}.")
    return found[0]
