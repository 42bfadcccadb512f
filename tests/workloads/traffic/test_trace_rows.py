"""Columns of a trace."""

from helpers.data_files import trace_rows

ROWS = trace_rows(
    "start_ns,src,dst,size_bytes,group\n"
    "0,h0,h1,10,a\n"
    "5,h2,h1,20,b\n"
    "5,h1,h0,30,a\n"
    "9,h0,h2,40,b\n"
)  # fmt: skip


def test_rows_come_back_as_they_stood() -> None:
    assert [tuple(row) for row in ROWS.rows(slice(0, 4))] == [
        (0, "h0", "h1", 10, "a"),
        (5, "h2", "h1", 20, "b"),
        (5, "h1", "h0", 30, "a"),
        (9, "h0", "h2", 40, "b"),
    ]


def test_a_span_has_its_beginning_and_not_its_end() -> None:
    spans = {(0, None): [0, 5, 5, 9], (5, 9): [5, 5], (6, 9): [], (0, 5): [0], (9, 10): [9], (6, 3): []}
    for (begin_ns, until_ns), starts_ns in spans.items():
        found = ROWS.rows(ROWS.between(begin_ns, until_ns))
        assert [row.start_ns for row in found] == starts_ns


def test_the_first_host_that_nobody_knows_has_its_line_and_column() -> None:
    assert ROWS.first_unknown(frozenset({"h0", "h1", "h2"})) is None
    assert ROWS.first_unknown(frozenset({"h0", "h1"})) == (3, "src", "h2")
    assert ROWS.first_unknown(frozenset({"h0", "h2"})) == (2, "dst", "h1")
    assert ROWS.first_unknown(frozenset({"h2"})) == (2, "dst", "h1")
