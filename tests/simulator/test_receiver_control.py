"""Controls of receivers from outside: RCCC is the engine's own, NDP and EQDS do what they promise."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from helpers.networks import MILLISECOND_NS, ReferenceSimulation, assert_equal_runs, counter
from helpers.receiver_files import (
    HEADER,
    NAMES,
    PAYLOAD,
    RATE_BPS,
    RECEIVERS,
    RTT_NS,
    fabric,
    loaded,
    star,
    with_credits,
)

from rogue.simulator import ControlError, Marking, ReceiverControl, Reliability, Simulation, SimulationError

UNTIL_NS = 2 * MILLISECOND_NS
ENGINES = (Simulation, ReferenceSimulation)
INCAST = [(sender, 0) for sender in range(1, 8)]
LARGE_INCAST = [(sender, 0) for sender in range(1, 17)]
PERMUTATION = [(host, (host + 4) % 8) for host in range(8)]
BOTH_WAYS = [(0, 1), (1, 0), (2, 0), (2, 1), (2, 1)]
BDP_PACKETS = RATE_BPS * RTT_NS // 8 // 10**9 // (PAYLOAD + HEADER)


@pytest.fixture(autouse=True)
def plugins() -> Iterator[None]:
    with loaded(*NAMES, "grim"):
        yield


def outcome(simulation: Simulation, until_ns: int = UNTIL_NS) -> dict[str, object]:
    """All that a run says."""
    simulation.run_until(until_ns)
    simulation.check_invariants()
    tables = (simulation.queue_table(), simulation.packet_table())
    return {
        "digest": simulation.digest(),
        "counters": simulation.counters(),
        "statistics": simulation.statistics(),
        "tables": [{name: column.tolist() for name, column in table.items()} for table in tables],
    }


CELLS: dict[str, tuple[Callable[..., Simulation], list[tuple[int, int]], dict[str, Any]]] = {
    "incast with trimming": (star, INCAST, {}),
    "incast that overflows": (star, LARGE_INCAST, {"trim_above_bytes": None, "size_bytes": 300_000}),
    "losses": (star, BOTH_WAYS, {"loss": 0.02}),
    "permutation, sprayed": (fabric, PERMUTATION, {}),
    "incast over two hops": (fabric, INCAST, {"size_bytes": 200_000}),
}


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("numbers", [{}, {"nscc": 0}, {"nscc": 0, "credit_max_bytes": 30_000}], ids=str)
@pytest.mark.parametrize("cell", CELLS)
def test_an_rccc_plugin_equals_the_engine(
    kind: type[Simulation], cell: str, numbers: dict[str, float]
) -> None:
    build, pairs, more = CELLS[cell]
    own = outcome(build(kind, with_credits(ReceiverControl("rccc_outside"), **numbers), pairs, **more))
    assert own == outcome(build(kind, with_credits(None, **numbers), pairs, **more))
    assert own["statistics"]["verbs_done"] == len(pairs)  # type: ignore[index]


@pytest.mark.parametrize("kind", ENGINES)
def test_parameters_of_an_rccc_plugin_equal_those_of_the_engine(kind: type[Simulation]) -> None:
    numbers = {"credit_packets": 2, "credit_rate": 0.8}
    own = outcome(star(kind, with_credits(ReceiverControl("rccc_outside", numbers)), INCAST))
    assert own == outcome(star(kind, with_credits(None, **numbers), INCAST))
    assert own != outcome(star(kind, with_credits(), INCAST))


@pytest.mark.parametrize("name", ["rccc_outside", "ndp", "eqds"])
@pytest.mark.parametrize("cell", CELLS)
def test_both_engines_agree(name: str, cell: str) -> None:
    build, pairs, more = CELLS[cell]
    reliability = with_credits(ReceiverControl(name), nscc=0)
    assert_equal_runs(lambda kind: build(kind, reliability, pairs, **more), UNTIL_NS)


def ran(name: str, numbers: dict[str, float], pairs: list[tuple[int, int]], **more: Any) -> Simulation:
    """Until all have arrived."""
    reliability = with_credits(ReceiverControl(name, numbers), nscc=0, keeps_first_credit=name == "ndp")
    simulation = star(Simulation, reliability, pairs, **more)
    while simulation.statistics()["verbs_done"] < len(pairs):
        simulation.run_until(simulation.now_ns + 2_000)
        assert simulation.now_ns < 20 * MILLISECOND_NS
    return simulation


def longest_after(simulation: Simulation, since_ns: int) -> int:
    """The longest queue in front of the receiver after an instant."""
    table = simulation.queue_table()
    return int(table["max_bytes"][(table["port"] == "s0->h0") & (table["t_ns"] > since_ns)].max())


@pytest.mark.parametrize("name", ["ndp", "eqds"])
def test_an_incast_is_close_to_the_ideal_and_cuts_only_the_first_window(name: str) -> None:
    """16 MB over 100 Gb/s with their headers take 1.3 ms; no sender waits for a timeout."""
    simulation = ran(name, {"share": 1.0}, LARGE_INCAST)
    packets = 16 * -(-1_000_000 // PAYLOAD)
    ideal_ns = packets * (PAYLOAD + HEADER) * 8 * 10**9 / RATE_BPS
    assert ideal_ns < simulation.now_ns < 1.03 * ideal_ns
    assert counter(simulation, "timeouts") == 0
    first_window = 16 * (3 * BDP_PACKETS // 2 + 2)
    assert 0 < counter(simulation, "trimmed_packets") < first_window
    assert counter(simulation, "trimmed_packets") == counter(simulation, "naks")


@pytest.mark.parametrize("name", ["ndp", "eqds", "rccc_outside"])
def test_a_little_less_than_the_line_empties_the_queue_in_front_of_the_receiver(name: str) -> None:
    """The first windows leave 100 KB. At 0.9 of the line these are gone after 80 us."""
    key = "credit_rate" if name == "rccc_outside" else "share"
    slow, full = (ran(name, {key: share}, LARGE_INCAST) for share in (0.9, 1.0))
    assert longest_after(slow, 150_000) < 4 * (PAYLOAD + HEADER)
    assert longest_after(full, 150_000) > 50_000


@pytest.mark.parametrize("name", ["ndp", "eqds"])
def test_connections_of_a_host_share_its_link(name: str) -> None:
    """Four senders of the same size end within a few turns of each other."""
    simulation = star(
        Simulation, with_credits(ReceiverControl(name), nscc=0), INCAST[:4], size_bytes=2_000_000
    )
    simulation.sample_throughput(50_000)
    simulation.run_until(500_000)
    table = simulation.throughput_table()
    late = table["t_ns"] > 200_000
    sums = [
        table["delivered_bytes"][late & (table["qp_num"] == qp)].sum() for qp in set(table["qp_num"][late])
    ]
    busy = sorted(int(each) for each in sums if each)
    assert len(busy) == 4
    assert busy[-1] < 1.1 * busy[0]


def test_a_pull_for_each_packet_that_comes_keeps_the_flight_as_it_is() -> None:
    """Two spines carry half of what the hosts could send: NDP overfills them at the beginning alone."""
    trimmed = {}
    for name in ("ndp", "eqds"):
        reliability = with_credits(ReceiverControl(name), nscc=0, credit_max_bytes=60_000)
        simulation = fabric(Simulation, reliability, PERMUTATION, size_bytes=2_000_000)
        simulation.run_until(UNTIL_NS)
        assert simulation.statistics()["verbs_done"] == len(PERMUTATION)
        trimmed[name] = counter(simulation, "trimmed_packets")
    assert trimmed["ndp"] < trimmed["eqds"] / 4


def test_a_first_window_that_is_kept_goes_out_whole() -> None:
    """A sender shares its NIC between two receivers, and hears of both before it has sent all that it may."""
    usual, kept = (
        star(
            Simulation,
            with_credits(ReceiverControl("ndp"), nscc=0, keeps_first_credit=keeps),
            [(0, 1), (0, 2)],
        )
        for keeps in (0, 1)
    )
    ends = []
    for simulation in (usual, kept):
        while simulation.statistics()["verbs_done"] < 2:
            simulation.run_until(simulation.now_ns + 1_000)
        simulation.check_invariants()
        ends.append(simulation.now_ns)
    assert ends[1] < ends[0]


@pytest.mark.parametrize("seed", range(12))
def test_both_engines_agree_on_random_grants(seed: int) -> None:
    stream = Random(seed)
    build = stream.choice((star, fabric))
    pairs = [tuple(stream.sample(range(8), 2)) for _ in range(stream.randint(1, 9))]
    numbers = {
        "nscc": stream.randint(0, 1),
        "credit_max_bytes": stream.choice((0, 1, 5_000, 200_000)),
        "keeps_first_credit": stream.randint(0, 1),
    }
    more: dict[str, Any] = {"size_bytes": stream.choice((1_000, 50_000, 200_000))}
    if build is star:
        more |= {"loss": stream.choice((0, 0.02)), "trim_above_bytes": stream.choice((None, 20_000))}
    reliability = with_credits(ReceiverControl("grim_grants", {"mood": 10}), **numbers)
    assert_equal_runs(lambda kind: build(kind, reliability, pairs, **more), MILLISECOND_NS)


GRIM = RECEIVERS / "grim.h"
LINES = GRIM.read_text().splitlines()


def line_of(words: str) -> int:
    return next(number for number, line in enumerate(LINES, 1) if words in line)


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize(
    ("mood", "words", "line"),
    [
        (1, "its constructor: not today", ""),
        (2, "its constructor: there is no parameter temper", "temper"),
        (3, "on_arrival: tired", "tired"),
        (4, "grim_grants.next_turn_ps: expected 2665600 or later after on_arrival, got 2665599", ""),
        (5, "on_turn: it threw what is no std::exception", ""),
        (6, "grim_grants.next_turn_ps: expected 2665601 or later after on_turn, got 2665600", ""),
        (7, "grim_grants.on_turn: expected a connection below 7 or kNobody, got 1000", ""),
        (8, "grim_grants.on_turn: expected bytes from 0 to 268439808, got -1", ""),
        (9, "grim_grants.on_turn: expected bytes from 0 to 268439808, got 1099511627776", ""),
    ],
)
def test_an_error_of_a_receiver_control_names_its_place(
    kind: type[Simulation], mood: int, words: str, line: str
) -> None:
    with pytest.raises(ControlError) as caught:
        star(kind, with_credits(ReceiverControl("grim_grants", {"mood": mood})), INCAST).run_until(UNTIL_NS)
    assert str(caught.value) == words
    assert caught.value.place == (f"{GRIM}:{line_of(line)}" if line else str(GRIM))


@pytest.mark.parametrize("kind", ENGINES)
def test_a_plugin_that_raised_is_not_called_again(kind: type[Simulation]) -> None:
    simulation = star(kind, with_credits(ReceiverControl("grim_grants", {"mood": 8})), INCAST)
    with pytest.raises(ControlError, match="bytes from 0"):
        simulation.run_until(UNTIL_NS)
    with pytest.raises(ControlError, match="grim_grants has raised: the simulation cannot continue"):
        simulation.run_until(2 * UNTIL_NS)


def test_a_host_grants_in_one_way() -> None:
    simulation = star(Simulation, with_credits(ReceiverControl("ndp")), [(1, 0), (2, 3)])
    connect = {"mtu_bytes": PAYLOAD, "retry_count": 7, "timeout_exponent": 14}
    for other, shown in ((None, "the engine's"), (ReceiverControl("ndp", {"share": 0.5}), "share 0.5")):
        with pytest.raises(SimulationError, match=f"at h2, got ndp with its defaults and .*{shown}"):
            simulation.connect("h2", "h0", reliability=with_credits(other), **connect)


@pytest.mark.parametrize(
    ("reliability", "words"),
    [
        (Reliability("uet", receiver=ReceiverControl("ndp")), "expected uet-rccc with ndp, which grants"),
        (
            with_credits(ReceiverControl("nd")),
            "expected one of rccc_outside, ndp, eqds, grim_grants, got 'nd'",
        ),
        (with_credits(ReceiverControl("ndp", {"share": 2})), "ndp: expected share from 0.01 to 1, got 2"),
    ],
)
def test_invalid_receiver_controls_are_refused(reliability: Reliability, words: str) -> None:
    with pytest.raises(SimulationError, match=words):
        star(Simulation, reliability, [(1, 0)])


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (0, "its constructor: rate 100000000000 rtt 4700000 mtu 4096 header 64 most 88125"),
        (1, "now 2665600 asked 4352 granted 0 ahead 0 connection 0 payload 4096"),
        (3, "now 3331200 asked"),
    ],
)
def test_a_receiver_control_gets_its_host_and_each_packet(
    kind: type[Simulation], call: int, words: str
) -> None:
    with loaded("witness"), pytest.raises(ControlError) as caught:
        control = ReceiverControl("witness_grants", {"call": call})
        star(kind, with_credits(control), [(1, 0), (2, 0)]).run_until(UNTIL_NS)
    assert words in str(caught.value)
    zeros = "trimmed 0 marked 0 duplicate 0 request 0"
    assert call == 0 or str(caught.value).endswith(zeros)


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize(
    ("only", "words"),
    [
        (1, "payload 4096 trimmed 1 marked 0 duplicate 0 request 0"),
        (2, "payload 4096 trimmed 0 marked 1 duplicate 0 request 0"),
        (3, "payload 4096 trimmed 0 marked 0 duplicate 1 request 0"),
        (4, "ahead 0 connection 0 payload 0 trimmed 0 marked 0 duplicate 0 request 1"),
        (5, "ahead 1 connection 0 payload 4096 trimmed 0 marked 0 duplicate 0 request 0"),
    ],
)
def test_a_receiver_control_gets_the_fate_of_a_packet(kind: type[Simulation], only: int, words: str) -> None:
    """Seven senders begin with more credit than they need, or with too little; none gets a grant.

    A timeout that is shorter than the queue makes duplicates.
    """
    more: dict[str, Any] = {
        1: {"trim_above_bytes": 20_000},
        2: {"marking": Marking(20_000, 20_000, 1.0)},
    }.get(only, {"loss": 0.05, "trim_above_bytes": None})
    numbers = {"credit_max_bytes": 10_000 if only == 4 else 10**6, "rto_ns": 10_000 if only == 3 else 60_000}
    with loaded("witness"), pytest.raises(ControlError) as caught:
        reliability = with_credits(ReceiverControl("witness_grants", {"only": only}), nscc=0, **numbers)
        star(kind, reliability, INCAST, size_bytes=100_000, **more).run_until(20 * MILLISECOND_NS)
    assert words in str(caught.value)
