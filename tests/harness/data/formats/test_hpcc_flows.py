"""Flow files of HPCC's simulator."""

import pytest
from pydantic_core import PydanticCustomError

from rogue.harness.data.formats import FORMATS
from rogue.harness.data.source import data_source

FORM = FORMATS["hpcc-flows"]
read_flows, write_flows = FORM.read, FORM.write

FLOWS = "2 \n2 1 3 100 200000000 2\n7 4 3 100 1 2.000000001\n"


def told(text: str) -> str:
    with pytest.raises(PydanticCustomError) as caught:
        read_flows(data_source("flow.txt", text.encode()))
    assert caught.value.context is not None
    return f"{caught.value.context['got']}, expected {caught.value.context['expected']}"


def test_nodes_keep_their_numbers_and_starts_are_exact() -> None:
    made = read_flows(data_source("flow.txt", FLOWS.encode()))
    assert made.text == (
        "start_ns,src,dst,size_bytes\n2000000000,h2,h1,200000000\n2000000001,h7,h4,1\n"
    )  # fmt: skip
    assert made.notes == ["ports are left out"]


def test_what_stands_below_the_flows_that_are_announced_is_left_out() -> None:
    """The shipped flow.txt announces two of its flows, and ns-3 reads two."""
    made = read_flows(data_source("flow.txt", (FLOWS + "1 2 3 100 5 3\n").encode()))
    assert len(made.text.splitlines()) == 3
    assert made.notes[1].startswith("1 lines below the 2 flows")


def test_priority_groups_are_groups_where_they_differ() -> None:
    made = read_flows(data_source("flow.txt", b"2\n2 1 3 100 5 0\n1 2 4 100 6 0.5\n"))
    assert made.text.splitlines()[1:] == ["0,h2,h1,5,pg3", "500000000,h1,h2,6,pg4"]
    back = write_flows(data_source("flows.csv", made.text.encode()))
    assert back.notes == []
    assert back.text == "2\n2 1 3 100 5 0.000000000\n1 2 4 100 6 0.500000000\n"


def test_a_flow_is_written_as_hpccs_generator_does() -> None:
    made = write_flows(data_source("f.csv", b"start_us,src,dst,size_bytes,group\n1.5,h3,h20,77,web\n"))
    assert made.text == "1\n3 20 3 100 77 0.000001500\n"
    assert made.notes == ["groups that are no pgN become pg3: web"]


BAD = {
    "": "nothing in line 1 of flow.txt, expected the number of flows alone",
    "1 2\n": "1 2 in line 1",
    "3\n2 1 3 100 5 2\n": "1 flows in flow.txt, expected the 3 that line 1 announces",
    "0\n": "0 flows in line 1 of flow.txt, expected at least one flow",
    "1\n2 1 3 100 5\n": "2 1 3 100 5 in line 2 of flow.txt, expected source, destination, priority group",
    "1\n2 1 3 100 -5 2\n": "-5 in line 2 of flow.txt, expected a number of bytes",
    "1\n2 1 3 100 0 2\n": "2 1 3 100 0 2 in line 2",
    "1\n2 2 3 100 5 2\n": "2 2 3 100 5 2 in line 2 of flow.txt, expected two different nodes",
    "1\n2 x 3 100 5 2\n": "x in line 2 of flow.txt, expected a destination",
    "1\n2 1 3 100 5 nan\n": "nan in line 2 of flow.txt, expected a start from 0",
    "1\n2 1 3 100 5 -1\n": "-1 in line 2 of flow.txt, expected a start",
    "1\n2 1 3 100 5 1e9\n": "1e9 in line 2 of flow.txt, expected a start from 0 to 1000000 seconds",
}


@pytest.mark.parametrize("text", BAD)
def test_a_wrong_line_is_named(text: str) -> None:
    assert told(text).startswith(BAD[text])
