"""Words that somebody mistyped."""

from rogue.workloads.printable import meant


def test_the_closest_word_is_offered() -> None:
    known = ["transports", "topologies", "workloads"]
    assert meant("topologeis", known) == "write topologies if that is meant"


def test_nothing_is_offered_where_nothing_is_close() -> None:
    assert meant("x", ["transports"]) == "choose one of them"
    assert meant(None, ["transports"], "remove it") == "remove it"
