"""The words of verdicts."""

import pytest

from rogue.reports.claims import VERDICT_MEANINGS, Verdict, counted_verdict


def test_every_verdict_is_explained() -> None:
    assert set(VERDICT_MEANINGS) == set(Verdict)
    assert list(VERDICT_MEANINGS) == list(Verdict)


def test_order_is_from_the_best_to_the_worst() -> None:
    judged = [verdict for verdict in Verdict if verdict.is_judged]
    assert (judged[0], judged[-1]) == (Verdict.REPRODUCED, Verdict.MISSED)
    assert judged.index(Verdict.CLOSE) < judged.index(Verdict.FEW_SEEDS) < judged.index(Verdict.RIGHT_SIGN)
    assert set(Verdict) - set(judged) == {Verdict.NOT_RUN, Verdict.NEEDS_HARDWARE}


@pytest.mark.parametrize(
    ("count", "verdict", "text"),
    [
        (1, Verdict.AGREES, "1 agrees"),
        (2, Verdict.AGREES, "2 agree"),
        (3, Verdict.REPRODUCED, "3 reproduced"),
        (2, Verdict.OTHER_CONDITIONS, "2 under other conditions"),
    ],
)
def test_counts(count: int, verdict: Verdict, text: str) -> None:
    assert counted_verdict(count, verdict) == text


def test_class_of_the_style_sheet_is_one_word() -> None:
    assert Verdict.OTHER_CONDITIONS.css_class == "other-conditions"
    assert all(" " not in verdict.css_class for verdict in Verdict)
