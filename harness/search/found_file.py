"""A find as an ordinary experiment file, with a sentence at its head."""

import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    criterion: str
    """The line that says what counts; see `rogue.harness.search.criterion`."""
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
