"""Generate the reference page of conformance: all checks, and the results of all devices."""

import json
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Final

import yaml
from reference_experiments import table

from rogue.harness.conformance.check import all_checks

RESULTS: Final = Path(__file__).parents[1] / "docs/conformance"
"""A file of `rogue conformance --json` for each device."""


def generated() -> str:
    """Return the page."""
    parts = ["# Conformance checks", _INTRODUCTION, "## Results", _devices()]
    for group, own in groupby(all_checks().values(), key=lambda check: check.group):
        rows = [(check.title, check.requires, check.source) for check in own]
        parts += [f"## Checks: {group}", table(("check", "requires", "source"), rows)]
    parts += ["## Hardware, measured by others", _OTHERS, table(COLUMNS, others())]
    return "\n\n".join(parts)


_INTRODUCTION: Final = (
    "[`rogue conformance`](../how-to/conformance.md) runs these checks. "
    "The results are from committed files of `rogue conformance --json` (`docs/conformance`)."
)


_OTHERS: Final = (
    "We have no card. These are numbers of others with their conditions, not measured with our checks."
)
COLUMNS: Final = ("behaviour", "nic", "measured", "conditions", "profiles", "source")
"""Keys of an entry in `measured-by-others.yaml`; `profiles`: what ours do."""


def others() -> list[tuple[str, ...]]:
    """Return a row for each behaviour that others measured."""
    entries = yaml.safe_load((RESULTS / "measured-by-others.yaml").read_text())
    return [tuple(entry[column] for column in COLUMNS) for entry in entries]


def _devices() -> str:
    """Return the table of devices and checks."""
    devices = {file.stem: _results(file) for file in sorted(RESULTS.glob("*.json"))}
    rows = [
        (check.title, *(results.get(name, "–") for results in devices.values()))
        for name, check in all_checks().items()
    ]
    return table(("check", *devices), rows)


def _results(file: Path) -> Mapping[str, str]:
    return {each["name"]: each["result"] for each in json.loads(file.read_text())["checks"]}
