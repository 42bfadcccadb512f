"""A cable."""

from rogue.workloads.topologies.link import Link


def test_the_other_end() -> None:
    link = Link("a", "b", 1, 0)
    assert (link.other_end("a"), link.other_end("b")) == ("b", "a")
