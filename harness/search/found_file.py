"""Write a finding as an experiment file and as a page."""

import json
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import yaml
from pydantic import ValidationError

from rogue.harness.errors import UsageError
from rogue.harness.experiment.choices import Scalar
from rogue.harness.experiment.document import Document, with_setting
from rogue.harness.experiment.settings import FACTORS, parse_path
from rogue.harness.search.base import SUFFIX, with_suffix
from rogue.harness.search.campaign import Outcome
from rogue.harness.search.question import Target
from rogue.harness.search.space import Aim, Space
from rogue.harness.search.words import both_text
from rogue.reports.pages.search_pages import Row, Searched, search_html
from rogue.reports.reading.files import read_regular
from rogue.workloads.json_text import parse_json
from rogue.workloads.printable import printable

MARK: Final = "# aim: "
_LACKS: Final = f"expected a line that begins with {MARK!r}, as finds of `rogue search` have it"


def criterion(aim: Aim, target: Target) -> str:
    """Return what is looked at and what counts, as a comment of one line."""
    said = aim.model_copy(update={"direction": target.direction, "bound": target.bound})
    return MARK + json.dumps(said.model_dump(mode="json", exclude_none=True))


def read_criterion(file: Path) -> Aim:
    """Read that line of a find; UsageError if there is none, or it says nothing that can be judged."""
    lines = read_regular(file).decode(errors="replace").splitlines()
    found = next((line for line in lines if line.startswith(MARK)), None)
    if found is None:
        raise UsageError(f"{file}: got no aim, {_LACKS}.")
    try:
        aim = Aim.model_validate(parse_json(found.removeprefix(MARK).encode()))
    except (ValueError, ValidationError) as error:
        raise UsageError(f"{file}: got an aim that cannot be read, {_LACKS}.") from error
    if aim.bound is None:
        raise UsageError(f"{file}: got an aim without bound, expected the value from which it is a find.")
    return aim


WIDTH: int = 118
FOUND_SUFFIX: Final = "-found"
DROPPED = (FACTORS, "agree_within")
"""What says nothing about one point of an experiment."""


@dataclass(frozen=True, slots=True)
class FoundBy:
    """Where a find comes from, for the head of its file."""

    sentence: str
    command: Sequence[str]
    """The words with which the search was begun."""
    criterion: str
    """The line that says what counts; see `rogue.harness.search.found_file`."""
    has_files: bool
    """Whether the experiment names files, from its own place."""
    confirmed: str = ""
    """What it gave on another testbed, in a sentence."""


def found_document(document: Document, values: Mapping[str, Scalar], seeds: range) -> Document:
    """Return the experiment of a find: at these values, with these seeds, under a name of its own."""
    for key, value in values.items():
        document = with_setting(document, parse_path(key) or (), value, document.file)
    name = with_suffix(str(document.data["name"]).removesuffix(SUFFIX), FOUND_SUFFIX)
    data = {key: value for key, value in document.data.items() if key not in DROPPED}
    return replace(document, data=data | {"name": name, "seed": seeds.start, "repetitions": len(seeds)})


def found_text(document: Document, found: FoundBy) -> str:
    """Return the experiment of a find as a file, with its head."""
    head = [*textwrap.wrap(_one_line(f"{found.sentence}."), WIDTH - 2)]
    head.append(_one_line(f"Found by: {shlex.join(found.command)}"))
    if found.has_files:
        place = f"Plug-ins and data are named from the place of {document.file}: copy this file there."
        head.append(_one_line(place))
    if found.confirmed:
        head += textwrap.wrap(_one_line(found.confirmed), WIDTH - 2)
    body = yaml.safe_dump(dict(document.data), sort_keys=False, width=WIDTH, allow_unicode=True)
    return "".join(f"# {line}\n" for line in head) + f"{found.criterion}\n" + body


def _one_line(text: str) -> str:
    """Return text of another author as one line of a comment, which it cannot end."""
    return printable(" ".join(text.split()))


def search_page(
    title: str, lines: list[str], outcome: Outcome, space: Space, aims: tuple[Target, Target | None]
) -> str:
    """Return the page: the summary, how far each sampler got, and every proposal."""
    (target, also), keys = aims, list(space.keys)
    rows = [
        Row(
            each.sampler,
            each.number,
            each.measured.value,
            both_text(each.measured, target, also),
            [str(each.measured.values.get(key, "")) for key in keys],
            each.measured.problem or "",
            each.is_find,
        )
        for each in outcome.told
    ]
    measure = f"{target.metric.name}, ratio" if target.is_ratio else target.metric.name
    return search_html(Searched(title, lines, keys, rows, measure, target.direction == "least"))
