"""Write a finding as an experiment file, try it again with its transport or another, and judge the result."""

import json
import shlex
import textwrap
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import yaml
from pydantic import ValidationError

from rogue.harness.errors import ConfigError, HarnessError, UsageError
from rogue.harness.execution.scheduler import Watcher
from rogue.harness.experiment.document import FACTORS, parse_path, with_setting
from rogue.harness.experiment.load import LoadedExperiment
from rogue.harness.plan.plan import Plan
from rogue.harness.results.recorded_run import Run
from rogue.harness.run import Workers
from rogue.harness.search.candidates import (
    CONTROL_FREE,
    Candidates,
    Values,
    make_candidates,
    named_for,
    problem_text,
)
from rogue.harness.search.objective import Measured, Objective, Target, make_target
from rogue.harness.search.space import Aim
from rogue.harness.testbeds.base import Testbed
from rogue.reports.quantities import counted
from rogue.reports.reading.files import read_regular
from rogue.workloads.printable import parse_json, printable

FILE: Final = "find.yml"
"""The finding of a search, in the directory of its run."""
MARK: Final = "# aim: "
_LACKS: Final = f"expected a line that begins with {MARK!r}, as findings of `rogue search` have it"
_WIDTH: Final = 118
_DROPPED: Final = (FACTORS, "agree_within")
"""Keys that do not apply to one point of an experiment."""


def values_text(values: Values) -> str:
    """Return keys and values on one line."""
    return ", ".join(f"{key} {value}" for key, value in values.items()) or "the experiment as it is"


def finding_text(finding: Measured, objective: Objective, seeds: range) -> str:
    """Return a finding in a sentence, with its seeds and its numbers without congestion control."""
    target = objective.target
    numbers = target.range_text(finding.by_seed)
    beside = f" ({CONTROL_FREE}: {target.range_text(finding.control_free)})" if finding.control_free else ""
    at = f"on seeds {seeds.start} to {seeds.stop - 1} at {values_text(finding.values)}"
    return f"{target.metric.name} of {objective.candidates.measure_text} is {numbers}{beside} {at}."


def finding_file(finding: Measured, objective: Objective, aim: Aim, seeds: range) -> str:
    """Return the experiment of a finding as a file: at its values, with these seeds and under its own name.

    Its head has a sentence, the command of the search, and the aim, by which `rogue weaknesses` judges it.
    """
    candidates, target = objective.candidates, objective.target
    loaded, command = candidates.loaded, objective.run.manifest.sessions[0].command
    document = named_for(loaded.document, "-found", without="-search")
    for key, value in finding.values.items():
        document = with_setting(document, parse_path(key) or (), value, document.file)
    data = {key: value for key, value in document.data.items() if key not in _DROPPED}
    transports = data["transports"]
    assert isinstance(transports, list), "the experiment was checked"
    data |= {"transports": transports[: candidates.control_free]}  # which is the last one
    data |= {"seed": seeds.start, "repetitions": len(seeds)}
    sentence = _one_line(finding_text(finding, objective, seeds))
    head = [*textwrap.wrap(sentence, _WIDTH - 2), _one_line(f"Found by: {shlex.join(command)}")]
    if loaded.data or data.get("plugins"):
        place = f"Plug-ins and data are named from the place of {document.file}: copy this file there."
        head.append(_one_line(place))
    resolved = aim.model_copy(update={"direction": target.direction, "bound": target.bound})
    criterion = MARK + json.dumps(resolved.model_dump(mode="json", exclude_none=True))
    body = yaml.safe_dump(data, sort_keys=False, width=_WIDTH, allow_unicode=True)
    return "".join(f"# {line}\n" for line in head) + f"{criterion}\n" + body


def _one_line(text: str) -> str:
    """Return text of another author as one line of a comment, which it cannot end."""
    return printable(" ".join(text.split()))


def read_criterion(file: Path) -> Aim:
    """Read the aim of a finding; UsageError if there is none, or none that can be judged."""
    lines = read_regular(file).decode(errors="replace").splitlines()
    found = next((line for line in lines if line.startswith(MARK)), None)
    if found is None:
        raise UsageError(f"{file}: got no aim, {_LACKS}.")
    try:
        aim = Aim.model_validate(parse_json(found.removeprefix(MARK).encode()))
    except (ValueError, ValidationError) as error:
        raise UsageError(f"{file}: got an aim that cannot be read, {_LACKS}.") from error
    if aim.bound is None:
        raise UsageError(f"{file}: got an aim without bound, expected the value from which it is a finding.")
    return aim


@dataclass(frozen=True, slots=True)
class Weakness:
    """A finding that is tried, with the plan of its cells."""

    name: str
    title: str
    target: Target
    candidates: Candidates | None
    plan: Plan | str
    """The plan, or the reason why the transport cannot be tried."""
    seeds: range

    def measure(self, run: Run, workers: Workers, watcher: Watcher) -> Measured:
        """Run the cells in a run without any."""
        assert self.candidates is not None, "it was planned"
        return Objective(run, self.candidates, self.target, workers, watcher).measure([{}], self.seeds)[0]


def read_weakness(file: Path, loaded: LoadedExperiment, testbed: Testbed, transport: str | None) -> Weakness:
    """Read a finding, with another transport instead of its own unless that is None."""
    aim, experiment = read_criterion(file), loaded.experiment
    seeds = range(experiment.seed, experiment.seed + experiment.repetitions)
    candidates: Candidates | None = None
    try:
        own = make_candidates(loaded, testbed, aim, experiment.seed)
        candidates = (own if transport is None else own.with_subject(transport)).checked()
        plan = candidates.plan({}, seeds)
    except ConfigError as error:
        plan = problem_text(error)
    except HarnessError as error:
        plan = str(error)
    title = experiment.title or experiment.name
    return Weakness(file.stem, title, make_target(aim), candidates, plan, seeds)


class Verdict(StrEnum):
    """The answer to whether a transport shares a finding."""

    SHARED = "shares it"
    PARTLY = "shares it on some seeds"
    NOT_SHARED = "does not share it"
    NO_WEAKNESS = "is no weakness of the control"
    UNKNOWN = "cannot be tried"


COUNTED: Final = {
    Verdict.SHARED: "shared",
    Verdict.PARTLY: "shared on some seeds",
    Verdict.NOT_SHARED: "not shared",
    Verdict.NO_WEAKNESS: "shared without congestion control as well",
    Verdict.UNKNOWN: "that cannot be tried",
}
"""Words behind the number of findings with a verdict."""


def judge(measured: Measured, target: Target) -> Verdict:
    """Return whether a transport shares a finding, on all seeds or on some."""
    if measured.is_shared:
        return Verdict.NO_WEAKNESS
    if not measured.known or None in measured.by_seed:
        return Verdict.UNKNOWN
    findings = [target.is_finding(number) for number in measured.known]
    if all(findings):
        return Verdict.SHARED
    return Verdict.PARTLY if any(findings) else Verdict.NOT_SHARED


def judged_text(measured: Measured, target: Target) -> str:
    """Return the numbers on all seeds and the bound, or why there are none."""
    if not measured.known or None in measured.by_seed:
        return measured.problem or "no number"
    seeds = counted(len(measured.by_seed), "seed")
    own = f"{target.metric.name} is {target.range_text(measured.by_seed)} on {seeds}"
    other = target.range_text(measured.control_free)
    return f"{own}{f', {CONTROL_FREE}: {other}' if measured.control_free else ''}; {target.bound_text}"
