"""Generate the reference page of conformance: all checks, and the results of all devices."""

import json
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from reference_experiments import table

from rogue.harness.conformance.check import all_checks
from rogue.reports.claims import read_claims

RESULTS: Final = Path(__file__).parents[1] / "docs/conformance"
"""A file of `rogue conformance --json` for each device."""


def generated() -> str:
    """Return the page."""
    parts = ["# Conformance checks", _INTRODUCTION, "## Results", _devices()]
    for group, own in groupby(all_checks().values(), key=lambda check: check.group):
        rows = [(check.title, check.requires, check.source) for check in own]
        parts += [f"## Checks: {group}", table(("check", "requires", "source"), rows)]
    parts += ["## Hardware, measured by others", _OTHERS, table(_COLUMNS, _others())]
    return "\n\n".join(parts)


_INTRODUCTION: Final = (
    "[`rogue conformance`](../how-to/conformance.md) runs these checks. "
    "The results are from committed files of `rogue conformance --json` (`docs/conformance`)."
)


_OTHERS: Final = (
    "We have no card. These are numbers of others with their conditions, beside those of the simulator's NIC "
    "profiles: claims on the [board](../claims/index.html) with a badge, outside its headline. "
    "`rogue reproduce measured-nics` measures the profiles again."
)
_COLUMNS: Final = ("claim", "nic", "measured there", "conditions", "our profiles", "source")
_BOARD: Final = RESULTS.parent / "claims/claims.json"


def _others() -> list[tuple[str, ...]]:
    """Return a row for each claim of others about a real card."""
    judged = json.loads(_BOARD.read_text())["claims"]
    outcomes = {claim["id"]: claim["outcomes"] for claim in judged}
    return [
        (f"{claim.id}: {claim.statement}", found.nic, claim.published_text, found.conditions,
         " ".join((*map(_profile, outcomes.get(claim.id, ())), claim.note)), found.source)
        for claim in read_claims()
        if (found := claim.measured_by_others)
    ]  # fmt: skip


def _profile(outcome: Mapping[str, Any]) -> str:
    return f"{outcome['factors']['topology.nic']} {outcome['measured_text']}: {outcome['verdict_text']}."


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
