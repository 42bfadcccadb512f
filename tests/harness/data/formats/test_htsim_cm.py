"""Connection matrices of htsim."""

import pytest
from pydantic_core import PydanticCustomError

from rogue.harness.data.formats import FORMATS
from rogue.harness.data.source import data_source

FORM = FORMATS["htsim-cm"]
read_connections, write_connections = FORM.read, FORM.write

HEAD = "# all to one\nNodes 4\nConnections 2\n"


def told(text: str) -> str:
    with pytest.raises(PydanticCustomError) as caught:
        read_connections(data_source("a.cm", text.encode()))
    assert caught.value.context is not None
    return f"{caught.value.context['got']}, expected {caught.value.context['expected']}"


STARTS = HEAD + "3->1 id 1 start 2500000 size 9\n0->1 start 0 size 7\n"


def test_starts_are_picoseconds_and_the_order_is_that_of_starts() -> None:
    made = read_connections(data_source("a.cm", STARTS.encode()))
    assert made.text == "start_ns,src,dst,size_bytes\n0,h0,h1,7\n2500,h3,h1,9\n"


def test_starts_may_be_microseconds_both_ways() -> None:
    form = FORM.start_units["us"]
    made = form.read(data_source("a.cm", STARTS.replace("2500000", "2.5").encode()))
    assert made.text == "start_ns,src,dst,size_bytes\n0,h0,h1,7\n2500,h3,h1,9\n"
    assert form.write is not None
    back = form.write(data_source("f.csv", made.text.encode())).text.splitlines()
    assert back[2:] == ["0->1 id 1 start 0 size 7", "3->1 id 2 start 2.5 size 9"]


ASSUMED = "starts are taken as picoseconds; if the file means another unit, add --start-unit us"


@pytest.mark.parametrize(
    ("starts", "unit", "notes"),
    [
        (("0", "0"), "ps", []),
        (("0", "2000"), "ps", [ASSUMED]),
        (("7", "16"), "ps", [ASSUMED, "2 of 2 starts are rounded to whole nanoseconds"]),
        (("0", "1500"), "ps", [ASSUMED, "1 of 2 starts are rounded to whole nanoseconds"]),
        (("7", "16"), "us", [ASSUMED.replace("pico", "micro").replace("-unit us", "-unit ps")]),
    ],
)
def test_the_assumed_unit_and_rounded_starts_are_reported(
    starts: tuple[str, str], unit: str, notes: list[str]
) -> None:
    text = HEAD + "".join(
        f"{sender}->1 start {start} size 7\n" for sender, start in zip("03", starts, strict=True)
    )
    made = FORM.start_units[unit].read(data_source("a.cm", text.encode()))
    assert made.notes == ["ids of connections are left out", *notes]


def test_priorities_are_groups_where_they_differ() -> None:
    text = HEAD + "0->1 id 1 start 0 size 7\n3->1 id 2 start 1000 size 9 prio 5\n"
    ours = read_connections(data_source("a.cm", text.encode())).text
    assert ours.splitlines()[1:] == ["0,h0,h1,7,prio2000000", "1,h3,h1,9,prio5"]
    assert write_connections(data_source("f.csv", ours.encode())).text == text.partition("\n")[2]


BAD = {
    HEAD
    + "0->1 start 0 size 7\n": "1 connections in a.cm, expected the 2 that its line Connections announces",
    HEAD + "0->4 start 0 size 7\n": "0->4 in line 4 of a.cm, expected two different nodes of the 4",
    HEAD + "1->1 start 0 size 7\n": "1->1 in line 4",
    HEAD + "0-1 start 0 size 7\n": "0-1 in line 4 of a.cm, expected a connection, such as",
    HEAD
    + "0->1 start 0 size 0\n": "the size 0 in line 4 of a.cm, expected 1 to 2147483647 bytes; in htsim 0",
    HEAD + "0->1 start 0 size -1\n": "-1 in line 4 of a.cm, expected a size in bytes",
    HEAD + "0->1 start nan size 7\n": "nan in line 4 of a.cm, expected a start, which is",
    HEAD + "0->1 size 7\n": "no start in line 4",
    HEAD + "0->1 start 0 size\n": "nothing in line 4 of a.cm, expected a size in bytes",
    HEAD + "0->1 start 0 size 7 speed 3\n": "speed in line 4 of a.cm, expected start, size, id and prio",
    HEAD
    + "0->1 id 1 trigger 2 size 7\n": "trigger in line 4 of a.cm, expected a connection that starts by the",
    HEAD + "trigger id 2 oneshot\n": "a trigger in line 4",
    HEAD + "failure switch_type AGG\n": "a failure in line 4",
    "Nodes many\n": "many in line 1 of a.cm, expected Nodes, a whole number",
    "": "no connections in a.cm, expected at least one connection",
    "Nodes 4\nConnections 0\n": "no connections in a.cm, expected at least one connection",
    "Nodes 4\n0->1 start 0 size 7\n": "1 connections in a.cm, expected a line Connections with this number",
    HEAD: "0 connections in a.cm, expected the 2 that its line Connections announces",
}


@pytest.mark.parametrize("text", BAD)
def test_a_wrong_line_is_named(text: str) -> None:
    assert told(text).startswith(BAD[text])


def test_groups_that_are_no_priorities_are_told() -> None:
    text = "start_ns,src,dst,size_bytes,group\n0,h0,h1,7,web\n1,h0,h1,7,prio5\n2,h0,h1,7,pg3\n"
    made = write_connections(data_source("f.csv", text.encode()))
    assert made.notes == ["groups that are no prioN become prio2000000: web, pg3"]


def test_a_size_that_htsim_cannot_read_is_not_written() -> None:
    with pytest.raises(PydanticCustomError, match="as htsim reads"):
        write_connections(data_source("f.csv", b"start_ns,src,dst,size_bytes\n0,h0,h1,2147483648\n"))
