"""`claims.json`: every claim, and by which claims it was judged."""

import json

from rogue.reports.claims import claims_sha256, evaluate, measures_sha256, read_claims
from rogue.reports.claims.verdict import CLAIMS_SCHEMA, claims_text
from rogue.reports.results import Results


def test_every_claim_is_in_it_with_run_and_claims_that_it_is_about(results: Results) -> None:
    manifest = results.run.manifest
    content = json.loads(claims_text(manifest, evaluate(read_claims(), results)))
    assert (content["schema"], content["claims_sha256"]) == (CLAIMS_SCHEMA, claims_sha256())
    assert content["measures_sha256"] == measures_sha256()
    assert (content["run_id"], content["commit"]) == (manifest.run_id, manifest.git.commit)
    assert [outcome["id"] for outcome in content["outcomes"]] == [claim.id for claim in read_claims()]
