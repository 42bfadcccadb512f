"""Where a claim of the page leads to."""

from pathlib import Path

import pytest

from rogue.reports.claims import Claim, Evidence, Outcome, Verdict, rows_of
from rogue.reports.claims.links import claim_anchor, claim_links, docs_href, table_anchor
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


@pytest.mark.parametrize(
    ("anchors", "place", "name"),
    [
        ({"flow_shares-head", "throughput-head"}, "flow_shares-head", "figure"),
        ({"throughput-head"}, "throughput-head", "figure"),
        ({"table-throughput-and-fairness"}, "table-throughput-and-fairness", "table"),
        ({"probe_latency-head"}, "tables", "tables"),
    ],
)
def test_figure_else_table_else_all_tables(
    results: Results, anchors: set[str], place: str, name: str
) -> None:
    (row,) = rows_of([Outcome(claim(), Verdict.CLOSE, "Numbers.", results.settings[0], EVIDENCE)])
    links = claim_links(row, results, anchors, None)
    assert (links.place, links.place_name) == (place, name)


def test_commands_repeat_the_experiment_and_a_cell(results: Results) -> None:
    (row,) = rows_of([Outcome(claim(), Verdict.CLOSE, "Numbers.", results.settings[0], EVIDENCE)])
    own, cell = claim_links(row, results, set(), None).commands
    assert own == "rogue run rogue-paper/incast"
    assert "--only-cell rogue-r1" in cell


def test_docs_are_linked_from_inside_the_checkout_only(tmp_path: Path) -> None:
    inside = CHECKOUT / "results" / "x" / "y"
    assert docs_href(claim(), inside) == "../../../docs/papers/irn.md#figures-1-to-7"
    assert (
        docs_href(claim(docs="explanation/transports.md"), inside)
        == "../../../docs/explanation/transports.md"
    )
    assert docs_href(claim(docs="GONE.md"), inside) is None
    assert docs_href(claim(), tmp_path) is None
    assert docs_href(claim(), None) is None
    assert docs_href(claim(docs=None), inside) is None


def test_anchors_are_words() -> None:
    assert claim_anchor(claim(id="R-21-rogue")) == "claim-R-21-rogue"
    assert table_anchor("Delay and queue") == "table-delay-and-queue"
