"""What the Python face of a reliability refuses, instead of breaking."""

from collections.abc import Callable

import pytest

from rogue.simulator import SimulationError
from rogue.simulator._core import Requester, Responder


def requester(name: str = "uet", **parameters: float) -> Requester:
    made = Requester(name, mtu_bytes=1024, parameters=parameters)
    made.post(10_000)
    return made


def told_of(entropy: int) -> None:
    made = requester(load_balancing=1)
    made.use_paths(seed=1, paths=8)
    made.on_acknowledgement(now_ps=1, expected=0, bitmap=(1, 0, 0, 0), entropy=entropy)


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: Requester("irn", mtu_bytes=0), "irn: expected mtu_bytes from 1 to 9216, got 0"),
    (lambda: Responder("irn", mtu_bytes=70_000), "irn: expected mtu_bytes from 1 to 9216, got 70000"),
    (lambda: requester().post(-1), "post: expected length_bytes from 0 to .*, got -1"),
    (lambda: requester().use_paths(seed=1, paths=0), "use_paths: expected paths as a power of two"),
    (lambda: requester().use_paths(seed=1, paths=6), "use_paths: expected paths as a power of two"),
    (lambda: told_of(8), "on_acknowledgement: expected entropy from 0 to 7, got 8"),
    (
        lambda: requester().on_acknowledgement(now_ps=1, expected=0, bitmap=(1, 0, 0, 0), selective=[(2, 3)]),
        "on_acknowledgement: expected a bitmap or ranges, got both",
    ),
    (
        lambda: requester("irn", rto_low_ns=0).on_deadline(1),
        "on_deadline: expected a requester that waits for a deadline",
    ),
    (
        lambda: Responder("irn", mtu_bytes=1024).on_packet(2**62),
        "on_packet: expected number from 0 to .*, got 4611686018427387904",
    ),
]


@pytest.mark.parametrize(
    ("call", "words"), REFUSED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(SimulationError, match=words):
        call()


def test_the_largest_path_is_one_of_them() -> None:
    told_of(7)


def test_sizes_that_a_packet_cannot_have_are_of_the_wrong_type() -> None:
    with pytest.raises(TypeError):
        Responder("irn", mtu_bytes=1024).on_packet(0, payload_bytes=65_546)
