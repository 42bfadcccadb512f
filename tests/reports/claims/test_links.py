"""Where a claim of the page leads to."""

from pathlib import Path

from rogue.reports.claims import Claim, Evidence, Outcome, Verdict, rows_of
from rogue.reports.claims.rows import claim_anchor, claim_links, docs_href, table_anchor
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.results import Results
from rogue.workloads.shipped import CHECKOUT

FIELDS: dict[str, object] = {
    "id": "X-1", "statement": "s.", "metric": "jain", "transport": "rogue",
    "kind": "published", "judged_by": "number",
    "published": 0.9, "published_text": "0.9", "note": "n.", "experiments": ["rogue-paper/incast"],
    "docs": "papers/irn.md#figures-1-to-7",
}  # fmt: skip
EVIDENCE = Evidence(MeanInterval(0.9, 0.9, 0.9, 3))


def claim(**changes: object) -> Claim:
    return Claim.model_validate({**FIELDS, **changes})


def test_a_claim_leads_to_its_table_or_to_all_tables(results: Results) -> None:
    (row,) = rows_of([Outcome(claim(), Verdict.CLOSE, "Numbers.", results.settings[0], EVIDENCE)])
    anchor = "table-throughput-and-fairness"
    assert claim_links(row, {anchor}, None).table == anchor
    assert claim_links(row, {"table-pauses"}, None).table == "tables"


def test_commands_repeat_the_experiment_and_a_cell(results: Results) -> None:
    (row,) = rows_of([Outcome(claim(), Verdict.CLOSE, "Numbers.", results.settings[0], EVIDENCE)])
    own, cell = claim_links(row, set(), None).commands
    assert own == "rogue run rogue-paper/incast"
    assert "--only-cell rogue-r1" in cell


def test_docs_are_linked_from_inside_the_checkout_only(tmp_path: Path) -> None:
    inside = CHECKOUT / "results" / "x" / "y"
    assert docs_href(claim(), inside) == "../../../docs/papers/irn.md#figures-1-to-7"
    assert docs_href(claim(docs="TRANSPORTS.md"), inside) == "../../../docs/TRANSPORTS.md"
    assert docs_href(claim(docs="GONE.md"), inside) is None
    assert docs_href(claim(), tmp_path) is None
    assert docs_href(claim(), None) is None
    assert docs_href(claim(docs=None), inside) is None


def test_anchors_are_words() -> None:
    assert claim_anchor(claim(id="R-21-rogue")) == "claim-R-21-rogue"
    assert table_anchor("Delay and queue") == "table-delay-and-queue"
