"""A known weakness: a find, tried with another transport or on another testbed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from rogue.harness.errors import UsageError
from rogue.harness.experiment.load import LoadedExperiment, check_document
from rogue.harness.experiment.settings import apply_settings
from rogue.harness.results.recorded_run import Run
from rogue.harness.search.base import Base, make_base
from rogue.harness.search.question import Target, make_target, value_by_seed
from rogue.harness.search.space import Aim
from rogue.harness.testbeds.base import Testbed
from rogue.reports.reading.load import Run as ReadRun


class Verdict(StrEnum):
    """What became of a weakness."""

    SHARED = "shares it"
    PARTLY = "shares it on some seeds"
    NOT_SHARED = "does not share it"
    UNKNOWN = "cannot be tried"


@dataclass(frozen=True, slots=True)
class Weakness:
    """A find, with whom it is tried."""

    name: str
    base: Base
    target: Target

    @property
    def title(self) -> str:
        """What the find shows, as its experiment is called."""
        experiment = self.base.loaded.experiment
        return experiment.title or experiment.name


@dataclass(frozen=True, slots=True)
class Tried:
    """What a weakness gave."""

    name: str
    title: str
    target: Target
    numbers: tuple[float | None, ...] = ()
    """By seed."""
    reason: str = ""
    """Why there are no numbers."""

    @property
    def verdict(self) -> Verdict:
        """Return whether the transport has this weakness, on all seeds or on some."""
        known = [number for number in self.numbers if number is not None]
        if not known or len(known) < len(self.numbers):
            return Verdict.UNKNOWN
        finds = sum(self.target.is_find(number) for number in known)
        if finds == len(known):
            return Verdict.SHARED
        return Verdict.PARTLY if finds else Verdict.NOT_SHARED


def make_weakness(
    file: Path, loaded: LoadedExperiment, aim: Aim, testbed: Testbed, transport: str | None
) -> Weakness:
    """Return a find with its own transport, or with another in its place.

    ConfigError or UsageError if the find cannot be made with it.
    """
    base = make_base(loaded, testbed, aim, loaded.experiment.seed)
    if transport is not None:
        base = _with_transport(base, transport)
    return Weakness(file.stem, base, make_target(aim))


def _with_transport(base: Base, transport: str) -> Base:
    """Return the same with a transport in the place of the one that is looked at; it has its defaults."""
    choices = base.loaded.experiment.transports
    if base.against is not None and transport == str(choices[base.against].name):
        raise UsageError(f"{transport} is what {choices[base.subject].shown} is compared with here.")
    written = list(_written_transports(base))
    written[base.subject] = transport
    added = (f"transports={json.dumps(written)}",)
    document = apply_settings(base.document, added)
    loaded = check_document(document, (*base.loaded.settings, *added), base.loaded.plugins)
    return replace(base, loaded=loaded)


def _written_transports(base: Base) -> Sequence[object]:
    written = base.document.data.get("transports")
    assert isinstance(written, list), "the experiment was checked"
    return written


def tried(weakness: Weakness, run: Run) -> Tried:
    """Read what a run of a weakness gave, seed by seed."""
    read, base = ReadRun(run.directory, run.manifest), weakness.base
    of_each = [
        [cell for cell in run.manifest.cells if cell.transport == choice.shown]
        for choice in base.compared(base.loaded)
    ]
    subject, against = of_each[0], of_each[1] if len(of_each) > 1 else []
    numbers = value_by_seed(read, weakness.target, subject, against)
    failed = next((cell.message for cell in (*subject, *against) if cell.message), None)
    none = f"{weakness.target.metric.name} was not measured"
    reason = "" if None not in numbers else failed or none
    return Tried(weakness.name, weakness.title, weakness.target, tuple(numbers), reason)
