"""The page of a screening."""

from rogue.reports.pages.sensitivity import Bar, Tornado, sensitivity_html

BARS = [Bar("workload.senders", 5.0, 1.0, ["5 s", "5 s", "1 s", "2 of 4"]), Bar("a<b", 0.0, 0.0, ["0 s"] * 4)]


def test_each_question_has_a_tornado_and_a_table() -> None:
    page = sensitivity_html("What moves it?", [Tornado("C-1: it holds.", "jain", "At 3 points.", BARS)])
    assert page.count("<svg") == 1 and "2 of 4" in page and "a&lt;b" in page
    assert "At 3 points." in page and "<script" not in page


def test_without_numbers_there_is_a_table_alone() -> None:
    none = [Bar("workload.senders", None, 0.0, ["no number", "", "", ""])]
    page = sensitivity_html("What moves it?", [Tornado("jain", "jain", "No points.", none)])
    assert "<svg" not in page and "no number" in page
