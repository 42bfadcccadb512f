"""A find as an ordinary experiment file, with a sentence at its head."""

import textwrap
from collections.abc import Mapping

import yaml

from rogue.harness.experiment.choices import Scalar
from rogue.harness.experiment.document import Document, with_setting
from rogue.harness.experiment.settings import FACTORS, parse_path
from rogue.harness.search.base import SUFFIX

WIDTH: int = 118
DROPPED = (FACTORS, "scale", "scales", "agree_within")
"""What says nothing about one point of an experiment."""


def found_text(
    document: Document, values: Mapping[str, Scalar], seeds: range, sentence: str, command: str
) -> str:
    """Return the experiment at these values with these seeds as a file."""
    for key, value in values.items():
        document = with_setting(document, parse_path(key) or (), value, document.file)
    name = str(document.data["name"]).removesuffix(SUFFIX)
    data = {key: value for key, value in document.data.items() if key not in DROPPED}
    data |= {"name": f"{name[:57]}-found", "seed": seeds.start, "repetitions": len(seeds)}
    head = [*textwrap.wrap(f"{sentence}.", WIDTH - 2), f"Found by: {command}"]
    body = yaml.safe_dump(data, sort_keys=False, width=WIDTH, allow_unicode=True)
    return "".join(f"# {line}\n" for line in head) + body
