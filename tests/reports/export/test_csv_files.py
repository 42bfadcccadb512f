"""Texts and numbers of others, as CSV that a spreadsheet may open."""

import io

import pandas as pd
import pytest

from rogue.reports.export.csv_files import csv_text, harmless, write_rows


@pytest.mark.parametrize(
    "text", ["=1+1", "+A1", "-A1", "-1-1", "@x", "\tx", "\rx", "\nx", "＝1", "-", "-.", "+1e"]
)
def test_what_begins_like_a_formula_has_an_apostrophe(text: str) -> None:
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("x;=cmd", "x;'=cmd"),
        ("a;-1;@b", "a;'-1;'@b"),
        ("a\t=1", "a\t'=1"),
        ("a\r=1", "a\r'=1"),
        ('a;"=1"', 'a;\'"=1"'),
        ("a; =1", "a;' =1"),
        ("\t=1", "'\t'=1"),
        ("=a;=b", "'=a;'=b"),
    ],
)
def test_what_begins_one_where_something_else_than_a_comma_separates_has_one_too(
    text: str, written: str
) -> None:
    assert harmless(text) == written


@pytest.mark.parametrize(
    "field", ["-1.5", "+1", "-.5e-3", "", "a=1", "main/h0->h1", "a; b", "a;b=1", -1.5, -1, None]
)
def test_numbers_and_other_texts_stay(field: object) -> None:
    assert harmless(field) is field


def test_rows_are_written_as_they_are_but_for_that() -> None:
    file = io.StringIO()
    write_rows([["=head", "b"], ["a,\n=b", -1.5], [None, "@x"]], file)
    assert file.getvalue() == "'=head,b\n\"a,\n'=b\",-1.5\n,'@x\n"


def test_a_frame_stays_as_it_was() -> None:
    frame = pd.DataFrame({"=a": ["=1", "b"], "c": [-1.5, 2.0], "d": pd.Categorical(["@x", "y"])})
    before = frame.copy()
    assert csv_text(frame) == "'=a,c,d\n'=1,-1.5,'@x\nb,2.0,y\n"
    pd.testing.assert_frame_equal(frame, before)


def test_names_may_stand_twice() -> None:
    assert csv_text(pd.DataFrame([["=1", "=2"]], columns=["=a", "=a"])) == "'=a,'=a\n'=1,'=2\n"
