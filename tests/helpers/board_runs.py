"""Runs of a claims board: manifests and `claims.json` written by hand."""

import json
from pathlib import Path

from helpers.tiny_run import cell, manifest

from rogue.reports.board import StoredOutcome
from rogue.reports.claims import claims_sha256, measures_sha256
from rogue.workloads.manifest import checksum_of

COMMIT = "1234567890abcdef1234567890abcdef12345678"


def outcome(name: str = "R-16-p50", **changes: object) -> StoredOutcome:
    """Return a reproduced claim over five seeds under its own conditions."""
    fields = {
        "id": name, "transport": "rogue", "factors": {}, "published_text": "1.20 Gb/s",
        "measured_text": "99.0 %",
        "interval_text": "98.0 to 99.5 %", "n": 5, "seeds": [1, 2, 3, 4, 5], "own_conditions": True,
        "verdict": "reproduced", "verdict_text": "reproduced", "reasons": "Published: 99.2 %.",
    }  # fmt: skip
    return StoredOutcome.model_validate({**fields, **changes})


def write_run(directory: Path, *outcomes: StoredOutcome, **changes: object) -> Path:
    """Write a run's directory with its manifest and what it says to the claims."""
    directory.mkdir(parents=True)
    facts = {
        "run_id": directory.name,
        "source": {"file": "experiments/rogue-paper/incast.yaml", "sha256": "0", "set": [], "data": {}},
        "git": {"commit": COMMIT, "dirty": False},
        "files": {},
    }
    cells = [cell()]
    told = manifest(cells, **{**facts, **changes})
    (directory / "manifest.json").write_text(json.dumps({**told, "checksum": checksum_of(told)}))
    content = {
        "schema": 1,
        "claims_sha256": claims_sha256(),
        "measures_sha256": measures_sha256(),
        "run_id": directory.name,
        "outcomes": [each.model_dump(mode="json") for each in outcomes],
    }
    (directory / "claims.json").write_text(json.dumps(content))
    return directory
