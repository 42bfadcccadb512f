"""Every TCP that there is: its table of parameters, and what makes no sense."""

import pytest

from rogue.simulator import SimulationError
from rogue.simulator._core import Requester, Responder, TcpWindow, reliabilities

SEGMENT_BYTES = 1460
TCPS = {name: parameters for name, _, _, parameters, controls_window in reliabilities() if controls_window}


def test_there_are_four() -> None:
    assert list(TCPS) == ["reno", "dctcp", "cubic", "iwarp"]


@pytest.mark.parametrize("name", TCPS)
def test_the_values_stand_within_their_bounds_and_say_what_they_are(name: str) -> None:
    for _, value, minimum, maximum, meaning in TCPS[name]:
        assert minimum <= value <= maximum
        assert meaning


@pytest.mark.parametrize("name", TCPS)
def test_a_window_has_at_least_a_segment_whatever_happens(name: str) -> None:
    window = TcpWindow(name, {"initial_window_segments": 1})
    for _ in range(5):
        window.on_loss(0)
        window.on_marked()
        window.on_timeout(0)
        assert window.window_bytes >= SEGMENT_BYTES
        window.on_acknowledged(acknowledged_bytes=SEGMENT_BYTES)


def test_a_window_of_something_that_is_no_tcp() -> None:
    with pytest.raises(SimulationError, match="TcpWindow: expected the name of a TCP, got irn"):
        TcpWindow("irn")


def test_an_unknown_parameter() -> None:
    with pytest.raises(SimulationError, match=r"reno: expected one of the parameters timestamps, .*, got g"):
        Requester("reno", mtu_bytes=SEGMENT_BYTES, parameters={"g": 0.5})


def test_timeouts_that_contradict_each_other() -> None:
    with pytest.raises(SimulationError, match="tcp: expected rto_min_ns up to rto_max_ns, 1000, got 2"):
        Requester("reno", mtu_bytes=SEGMENT_BYTES, parameters={"rto_max_ns": 1000})
    with pytest.raises(SimulationError, match="tcp: expected delayed_ack_ns below rto_min_ns"):
        Responder("dctcp", mtu_bytes=SEGMENT_BYTES, parameters={"delayed_ack_ns": 10e6})
