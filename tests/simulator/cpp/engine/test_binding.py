"""Python values at the boundary of the engine: names, units, refusals, and callbacks."""

from collections.abc import Callable

import pytest
from helpers.networks import Star, connect
from rogue.simulator._reference import Requester, Responder

from rogue.simulator import CX3PRO, ROCEV2, Simulation, SimulationError
from rogue.simulator._core import Engine

SLICE_EVENTS = 1 << 16
"""So many events are done before the engine looks for Ctrl-C: anywhere within an instant."""
HOPS = 2 * 4
"""Of two packets and their acknowledgements."""
END_NS = 20_000_000


@pytest.mark.parametrize("samples", range(4))
def test_host_software_is_called_when_all_else_of_its_instant_has_happened(samples: int) -> None:
    """Two queue pairs complete a verb at one instant near the end of a slice; samples are also events."""
    simulation = Star(hosts=4).build(Simulation)
    if samples:
        simulation.sample_throughput(9_000_000 // samples)
    done: list[int] = []
    for host in (0, 1):
        pair = connect(simulation, f"h{host}", f"h{host + 2}", ack_every_packets=1)
        pair.attach(
            lambda _now_ns, _completions: done.append(simulation.statistics()["verbs_done"]),
            lambda _now_ns, _state: None,
        )
        pair.post_write(0, 1024 * SLICE_EVENTS // HOPS, True)
    simulation.run_until(END_NS)
    assert done == [2, 2]


def engine_with_two_hosts() -> Engine:
    engine = Engine(seed=1, framing=ROCEV2)
    engine.add_host("a", CX3PRO)
    engine.add_host("b", CX3PRO)
    return engine


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a name is unknown among .*'delay_ns'"):
        engine_with_two_hosts().add_link(0, 1, rate_bps=10**10, delay_ns=1)


def test_nanoseconds_are_checked_as_times_of_host_software_are() -> None:
    with pytest.raises(SimulationError, match="expected a time from 0"):
        engine_with_two_hosts().add_link(0, 1, rate_bps=1, loss={"from_ns": -1})


def test_a_fault_is_known_by_name_and_fields() -> None:
    engine = engine_with_two_hosts()
    engine.add_link(0, 1, rate_bps=10**10, delay_ps=1000)
    engine.inject("link_cut", link=1, start_ns=0, end_ns=5)
    with pytest.raises(TypeError, match="no fault is called lightning"):
        engine.inject("lightning", link=1)
    with pytest.raises(TypeError, match=r"a name is unknown among .*'until_ns'"):
        engine.inject("link_cut", link=1, until_ns=5)


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
