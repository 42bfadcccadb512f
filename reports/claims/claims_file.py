"""The content of a run's `claims.json`: what became of each claim."""

import json
from collections.abc import Sequence
from typing import Final

from rogue.reports.claims.claim import claims_sha256
from rogue.reports.claims.measures import measures_sha256
from rogue.reports.claims.outcome import Outcome
from rogue.workloads.manifest import Manifest

CLAIMS_SCHEMA: Final = 1


def claims_text(manifest: Manifest, outcomes: Sequence[Outcome]) -> str:
    """Return the content of `claims.json`: every claim, also those that the run is not about."""
    content = {
        "schema": CLAIMS_SCHEMA,
        "claims_sha256": claims_sha256(),
        "measures_sha256": measures_sha256(),
        "run_id": manifest.run_id,
        "commit": manifest.git.commit,
        "outcomes": [outcome.as_json() for outcome in outcomes],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
