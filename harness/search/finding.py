"""Write a finding as an experiment file, and judge a finding that is tried again."""

import json
import shlex
import textwrap
from pathlib import Path
from typing import Final

import yaml
from pydantic import ValidationError

from rogue.harness.errors import UsageError
from rogue.harness.experiment.document import FACTORS, parse_path, with_setting
from rogue.harness.search.candidates import CONTROL_FREE, Values, named_for
from rogue.harness.search.objective import Measured, Objective
from rogue.harness.search.space import Aim
from rogue.reports.reading.files import read_regular
from rogue.workloads.json_text import parse_json
from rogue.workloads.printable import printable

FILE: Final = "find.yml"
"""The finding of a search, in the directory of its run."""
MARK: Final = "# aim: "
_LACKS: Final = f"expected a line that begins with {MARK!r}, as findings of `rogue search` have it"
_WIDTH: Final = 118
_DROPPED: Final = (FACTORS, "agree_within")
"""Keys that say nothing about one point of an experiment."""


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
    """Return the experiment of a finding as a file: at its values, with these seeds and its own name.

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
    said = aim.model_copy(update={"direction": target.direction, "bound": target.bound})
    criterion = MARK + json.dumps(said.model_dump(mode="json", exclude_none=True))
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
