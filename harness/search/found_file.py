"""A find as an ordinary experiment file, with a sentence at its head."""

import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import yaml

from rogue.harness.experiment.choices import Scalar
from rogue.harness.experiment.document import Document, with_setting
from rogue.harness.experiment.settings import FACTORS, parse_path
from rogue.harness.search.base import SUFFIX, with_suffix
from rogue.workloads.printable import printable

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
    has_files: bool
    """Whether the experiment names files, from its own place."""


def found_text(document: Document, values: Mapping[str, Scalar], seeds: range, found: FoundBy) -> str:
    """Return the experiment at these values with these seeds as a file."""
    for key, value in values.items():
        document = with_setting(document, parse_path(key) or (), value, document.file)
    name = with_suffix(str(document.data["name"]).removesuffix(SUFFIX), FOUND_SUFFIX)
    data = {key: value for key, value in document.data.items() if key not in DROPPED}
    data |= {"name": name, "seed": seeds.start, "repetitions": len(seeds)}
    head = [*textwrap.wrap(_one_line(f"{found.sentence}."), WIDTH - 2)]
    head.append(_one_line(f"Found by: {shlex.join(found.command)}"))
    if found.has_files:
        place = f"Plug-ins and data are named from the place of {document.file}: copy this file there."
        head.append(_one_line(place))
    body = yaml.safe_dump(data, sort_keys=False, width=WIDTH, allow_unicode=True)
    return "".join(f"# {line}\n" for line in head) + body


def _one_line(text: str) -> str:
    """Return text of another author as one line of a comment, which it cannot end."""
    return printable(" ".join(text.split()))
