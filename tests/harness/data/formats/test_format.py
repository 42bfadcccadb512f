"""What all formats keep, and what they share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from rogue.harness.data.formats import FORMATS
from rogue.harness.data.formats.format import class_group, class_of, notes_on_groups, trace_text
from rogue.harness.data.source import data_source
from rogue.workloads.traffic.trace import TraceRow


@pytest.mark.parametrize("name", FORMATS)
@given(
    st.text(max_size=80)
    | st.lists(st.text("0129 ->.GbpsnNodesTir\n", max_size=12), max_size=12).map("\n".join)
)
def test_nothing_is_answered_with_a_traceback(name: str, text: str) -> None:
    form = FORMATS[name]
    for convert in (form.read, form.write):
        try:
            if convert is not None:
                convert(data_source("file", text.encode("utf-8", "surrogatepass")))
        except PydanticCustomError as error:
            assert error.context is not None


def test_rows_are_sorted_by_start_and_stay_in_order_otherwise() -> None:
    rows = [
        TraceRow(5, "h0", "h1", 1, None),
        TraceRow(0, "h1", "h0", 2, None),
        TraceRow(5, "h2", "h1", 3, None),
    ]
    assert trace_text(rows) == "start_ns,src,dst,size_bytes\n0,h1,h0,2\n5,h0,h1,1\n5,h2,h1,3\n"


def test_classes_are_groups_where_there_are_several() -> None:
    assert class_group("pg", 3, {3}) is None
    assert class_group("pg", 3, {3, 4}) == "pg3"
    assert [class_of(group, "pg", 9) for group in ("pg3", "pg", "storage", None, "3")] == [3, 9, 9, 9, 9]


def test_a_note_names_some_groups_that_are_no_class() -> None:
    assert notes_on_groups(["pg3", "pg0"], "pg", 3) == []
    told = notes_on_groups([f"g{number}" for number in range(7)], "pg", 3)
    assert told == ["groups that are no pgN become pg3: g0, g1, g2, g3, g4 and 2 more"]
