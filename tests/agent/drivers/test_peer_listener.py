"""Messages of the peer that make no sense."""

import pytest

from rogue.agent.core.errors import PeerError
from rogue.agent.drivers.step import PeerListener


def test_what_makes_no_sense_is_dropped_and_counted() -> None:
    heard = []

    def nonsense() -> None:
        raise PeerError("nonsense")

    one, other = PeerListener(), PeerListener()
    one._believe(nonsense)
    one._believe(lambda: heard.append("sense"))
    assert (one.mistakes, other.mistakes, heard) == (1, 0, ["sense"])


def test_what_is_not_the_peers_fault_is_not_hidden() -> None:
    def broken() -> None:
        raise ValueError

    with pytest.raises(ValueError):
        PeerListener()._believe(broken)
