"""Both drivers give the core the same inputs: what `ibv_wc` and a clock query carry, and nothing else.

A field that only a simulator can know would make the core work in simulation alone. The inputs of a whole
transfer, and of one whose queue pair fails, are recorded above each driver and compared by their exact types.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import get_args

import pytest
from helpers.fake_verbs import EVENT_FILE, fake_pyverbs
from helpers.fake_verbs_network import Fabric
from helpers.verbs_ends import scene

from rogue.agent.core.actions import SUCCESS, Completion
from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers import simulated
from rogue.agent.drivers.verbs import completion_queue
from rogue.simulator import CX3PRO, Simulation

RATE_BPS = 10**10
MTU_BYTES = 1024
SIZE_BYTES = 12 * 65_536
START = HostNs(1_000)
SECOND_NS = 10**9
INPUTS = (
    "submit",
    "on_posted",
    "on_post_refused",
    "on_rate_set",
    "on_completions",
    "on_qp_event",
    "on_timer",
)
# The entry of a completion queue: our field, and what verbs call it.
IBV_WC = {"wr_id": int, "status": int, "completion_ts": int, "byte_len": int, "imm_data": int | None}
ECHOES = {
    "on_rate_set",
    "on_qp_event",
    "on_timer",
}  # they depend on the limiter, and on when an error is noticed

Recorded = list[tuple[str, tuple[object, ...]]]


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """Every input that any connection gets from here on."""
    inputs: Recorded = []

    def recorder(name: str) -> Callable[..., object]:
        original = getattr(Connection, name)

        def record(self: Connection, *arguments: object) -> object:
            inputs.append((name, arguments))
            return original(self, *arguments)

        return record

    for name in INPUTS:
        monkeypatch.setattr(Connection, name, recorder(name))
    return inputs


def run_simulated(*, is_failing: bool) -> None:
    """One transfer over a simulated NIC; a link that loses everything makes the queue pair fail."""
    simulation = Simulation(seed=3)
    for host in ("a", "b"):
        simulation.add_host(host, CX3PRO)
    loss = 0.999_999 if is_failing else 0.0
    simulation.add_link("a", "b", rate_bps=RATE_BPS, delay_ps=10**6, loss_probability=loss)
    settings = settings_for("rogue", RATE_BPS, {})
    queue_pair, _ = simulation.connect("a", "b", mtu_bytes=MTU_BYTES, retry_count=1, timeout_exponent=8)
    flow = simulated.SimulatedFlow(
        simulation,
        queue_pair,
        settings=settings,
        link=LinkFacts(RATE_BPS, MTU_BYTES, rate_step_bps=CX3PRO.rate_step_bps),
        schedule=Schedule(SIZE_BYTES, START),
        record_rtt=True,
    )
    flow.start()
    simulation.run_until(SECOND_NS)
    assert flow.transfers[0].status == ("error" if is_failing else "ok")


@pytest.fixture
def event_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion_queue, "_EVENT_FILE", EVENT_FILE)


def run_verbs(*, is_failing: bool) -> None:
    """One transfer over verbs whose completions are read as the event loop reads them."""
    fabric = Fabric(verbs_left=3 if is_failing else 1 << 30)
    with ExitStack() as stack:
        verbs = scene(stack, fake_pyverbs(fabric), fabric)
        verbs.follow(Schedule(SIZE_BYTES, START))
        verbs.run()
        assert verbs.flow.ended["error" if is_failing else "ok"] == 1


RUNS = {"simulated": run_simulated, "verbs": run_verbs}


def completions_in(recorded: Recorded) -> Iterator[tuple[object, ...]]:
    for name, arguments in recorded:
        if name == "on_completions":
            _now, entries = arguments
            assert type(entries) is list
            yield from entries


def shapes_of(recorded: Recorded) -> set[tuple[str, ...]]:
    """Each input's name and the exact types of its arguments."""
    return {(name, *(type(argument).__name__ for argument in arguments)) for name, arguments in recorded}


def test_the_cores_completion_is_a_selection_of_ibv_wc() -> None:
    fields = tuple(int if each is NicNs else each for each in get_args(Completion))
    assert fields == tuple(IBV_WC.values())


@pytest.mark.usefixtures("event_file")
@pytest.mark.parametrize("is_failing", [False, True], ids=["whole", "failing"])
@pytest.mark.parametrize("driver", RUNS)
def test_a_driver_passes_completions_of_exactly_these_fields(
    recorded: Recorded, driver: str, is_failing: bool
) -> None:
    RUNS[driver](is_failing=is_failing)
    entries = list(completions_in(recorded))
    assert entries
    assert any(entry[1] != SUCCESS for entry in entries) is is_failing
    for entry in entries:
        assert type(entry) is tuple, "a subclass could carry more than its fields"
        assert [type(value) for value in entry[:4]] == [int] * 4
        assert entry[4] is None or type(entry[4]) is int


@pytest.mark.usefixtures("event_file")
@pytest.mark.parametrize("is_failing", [False, True], ids=["whole", "failing"])
def test_both_drivers_feed_the_core_alike(recorded: Recorded, is_failing: bool) -> None:
    shapes = {}
    for driver, run in RUNS.items():
        recorded.clear()
        run(is_failing=is_failing)
        shapes[driver] = {shape for shape in shapes_of(recorded) if shape[0] not in ECHOES}
    assert shapes["simulated"] == shapes["verbs"]
    assert ("on_completions", "int", "list") in shapes["simulated"]
    assert ("on_posted", "int", "int") in shapes["simulated"]


def test_the_simulated_nic_stamps_by_its_own_clock(recorded: Recorded) -> None:
    run_simulated(is_failing=False)
    for name, arguments in recorded:
        if name == "on_completions":
            now, entries = arguments
            assert isinstance(entries, list)
            assert all(entry[2] != now for entry in entries), "host time in place of the NIC's"
