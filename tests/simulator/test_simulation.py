import gc
import signal
import sys
import threading
import weakref
from collections.abc import Iterator

import pytest
from helpers.networks import MILLISECOND_NS, Host, ReferenceSimulation, Star, connect, direct

from rogue.harness.cell.demand import gc_paused
from rogue.simulator import CX3PRO, QueuePair, Simulation, SimulationError

MTU = 1024


def busy_pair() -> tuple[Simulation, QueuePair]:
    """Two hosts; a 1 GB transfer takes 0.87 s of simulated time."""
    simulation = Star(hosts=2).build()
    queue_pair = connect(simulation, "h0", "h1")
    queue_pair.post_write(1, 10**9, True)
    return simulation, queue_pair


def test_run_until_includes_its_limit() -> None:
    simulation = Simulation(seed=1)
    called: list[int] = []
    simulation.schedule(5, called.append)
    simulation.run_until(4)
    assert (called, simulation.now_ns) == ([], 4)
    simulation.run_until(5)
    assert called == [5]


def test_time_does_not_run_backwards() -> None:
    simulation = Simulation(seed=1)
    simulation.run_until(10)
    with pytest.raises(
        SimulationError, match=r"run_until: expected a time not before now \(10 ns\), got 9 ns"
    ):
        simulation.run_until(9)
    with pytest.raises(
        SimulationError, match=r"schedule: expected a time not before now \(10 ns\), got 9 ns"
    ):
        simulation.schedule(9, lambda now: None)
    with pytest.raises(SimulationError, match="53 days"):
        simulation.run_until(2**62)
    with pytest.raises(SimulationError, match="got -1 ns"):
        simulation.schedule(-1, lambda now: None)


def test_calls_of_one_instant_come_in_the_order_they_were_made() -> None:
    simulation = Simulation(seed=1)
    order: list[str] = []
    simulation.schedule(7, lambda now: order.append("first"))
    timer = simulation.timer(lambda now: order.append("timer"))
    simulation.schedule(7, lambda now: order.append("second"))
    timer.set(7)
    simulation.run_until(7)
    assert order == ["first", "timer", "second"]


def test_a_timer_is_moved_and_cancelled() -> None:
    simulation = Simulation(seed=1)
    fired: list[int] = []
    timer = simulation.timer(fired.append)
    timer.set(10)
    timer.set(20)  # later: the first deadline is forgotten
    simulation.run_until(15)
    assert fired == []
    timer.set(17)  # earlier
    simulation.run_until(30)
    assert fired == [17]
    timer.set(40)
    timer.cancel()
    simulation.run_until(50)
    timer.set(60)
    simulation.run_until(70)
    assert fired == [17, 60]


def test_all_completions_of_an_instant_come_in_one_call() -> None:
    simulation = direct(loss_probability=1 - 1e-12)
    queue_pair = connect(simulation, "a", "b", retry_count=0, timeout_exponent=1)
    host = Host(queue_pair)
    for wr_id in range(5):
        queue_pair.post_write(wr_id, MTU, True)
    simulation.run_until(MILLISECOND_NS)
    assert [len(completions) for _, completions in host.polls] == [5]


def test_host_software_is_never_called_from_within_its_own_calls() -> None:
    simulation = Star(hosts=2).build()
    queue_pair = connect(simulation, "h0", "h1")
    depth = 0
    depths: list[int] = []

    def on_completions(now: int, completions: list[tuple[int, int, int, int, int | None]]) -> None:
        nonlocal depth
        depth += 1
        depths.append(depth)
        if completions[0][0] < 50:
            queue_pair.post_write(completions[0][0] + 1, 0, True)
            timer.set(now)
        depth -= 1

    timer = simulation.timer(lambda now: depths.append(depth + 1))
    queue_pair.attach(on_completions, lambda now, state: None)
    queue_pair.post_write(0, 0, True)
    simulation.run_until(10 * MILLISECOND_NS)
    assert depths == [1] * (51 + 50)


def test_running_from_within_a_call_is_refused() -> None:
    simulation = Simulation(seed=1)
    simulation.schedule(1, lambda now: simulation.run_until(now + 1))
    with pytest.raises(SimulationError, match="called by host software"):
        simulation.run_until(5)
    simulation.run_until(5)


def test_an_exception_of_host_software_passes_through_and_the_run_may_go_on() -> None:
    simulation, queue_pair = busy_pair()
    host = Host(queue_pair)
    later: list[int] = []

    def fail(now: int) -> None:
        raise LookupError("mine")

    simulation.schedule(1000, fail)
    simulation.schedule(1000, later.append)
    with pytest.raises(LookupError, match="mine"):
        simulation.run_until(10**9)
    assert simulation.now_ns == 1000
    simulation.run_until(10**9)
    assert later == [1000]
    assert host.statuses == [(1, 0)]


@pytest.fixture
def interrupt_soon() -> Iterator[None]:
    """Deliver SIGINT after 50 ms of this process's own computing time."""
    previous = signal.signal(signal.SIGVTALRM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, previous)


@pytest.mark.usefixtures("interrupt_soon")
@pytest.mark.parametrize("has_host_software", [False, True])
def test_ctrl_c_ends_a_run_that_can_be_continued(has_host_software: bool) -> None:
    simulation = Star(hosts=2).build()
    queue_pair = connect(simulation, "h0", "h1")
    if has_host_software:
        Host(queue_pair)
    queue_pair.post_write(1, 2**40, True)  # 950 simulated seconds, some 40 real ones
    with pytest.raises(KeyboardInterrupt):
        simulation.run_until(1000 * 10**9)
    assert 0 < simulation.now_ns < 1000 * 10**9
    before = queue_pair.delivered_bytes
    simulation.run_until(simulation.now_ns + MILLISECOND_NS)
    assert queue_pair.delivered_bytes - before == pytest.approx(1_157_000, rel=0.01)


def test_other_threads_run_while_no_host_software_is_attached() -> None:
    simulation, _ = busy_pair()
    gate, has_run = threading.Lock(), threading.Event()
    gate.acquire()
    thread = threading.Thread(target=lambda: gate.acquire() and has_run.set())
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # from now on a thread runs only when another one lets it
    try:
        gate.release()
        simulation.run_until(10**9)
        assert has_run.is_set()
    finally:
        sys.setswitchinterval(interval)
        thread.join()


class Driver:
    """Host software that holds its queue pair, which holds the engine, which holds this."""

    def __init__(self, simulation: Simulation) -> None:
        self.queue_pair = connect(simulation, "h0", "h1")
        self.queue_pair.attach(self.on_completions, self.on_qp_event)
        self.timer = simulation.timer(self.on_timer)
        simulation.schedule(10**12, self.on_timer)

    def on_completions(self, now: int, completions: list[tuple[int, int, int, int, int | None]]) -> None: ...
    def on_qp_event(self, now: int, state: int) -> None: ...
    def on_timer(self, now: int) -> None: ...


def test_a_simulation_and_its_host_software_are_garbage_together() -> None:
    simulation = Star(hosts=2).build()
    driver = Driver(simulation)
    simulation.run_until(1)
    trace = weakref.ref(driver)
    del simulation, driver
    gc.collect()
    assert trace() is None


@pytest.mark.parametrize("kind", [Simulation, ReferenceSimulation])
def test_a_closed_simulation_is_released_at_once_and_can_be_read_until_then(kind: type[Simulation]) -> None:
    simulation = Star(hosts=2).build(kind)
    driver = Driver(simulation)
    driver.queue_pair.post_write(1, MTU, True)
    simulation.run_until(MILLISECOND_NS)
    digest = simulation.digest()
    simulation.close()
    assert (simulation.digest(), simulation.now_ns) == (digest, MILLISECOND_NS)
    with pytest.raises(SimulationError, match="expected an open simulation, got one that is closed"):
        simulation.run_until(2 * MILLISECOND_NS)
    traces = weakref.ref(driver), weakref.ref(simulation)
    with gc_paused():
        del simulation, driver
        assert [trace() for trace in traces] == [None, None]


def test_a_callback_cannot_close_its_simulation() -> None:
    simulation = Star(hosts=2).build()
    simulation.schedule(1, lambda _now_ns: simulation.close())
    with pytest.raises(SimulationError, match="close was called by host software"):
        simulation.run_until(1)


def test_the_throughput_table_counts_what_was_accepted_in_each_interval() -> None:
    simulation = Star(hosts=3).build()
    active, _idle = connect(simulation, "h0", "h1"), connect(simulation, "h2", "h1")
    simulation.sample_throughput(10_000)
    active.post_write(1, 20 * MTU, True)
    simulation.run_until(30_000)
    table = {name: column.tolist() for name, column in simulation.throughput_table().items()}
    # Packets are accepted at 3.7952 + 0.8848 n us: 8 until 10 us, 11 more until 20 us, the last one later.
    assert table == {
        "qp_num": [2, 2, 2],
        "t_ns": [10_000, 20_000, 30_000],
        "interval_ns": [10_000] * 3,
        "delivered_bytes": [8 * MTU, 11 * MTU, MTU],
    }


@pytest.mark.parametrize("engine", [Simulation, ReferenceSimulation])
def test_the_throughput_table_ends_now(engine: type[Simulation]) -> None:
    """Looking at it changes nothing: 8 packets until 10 us, 5 more until 15 us, 6 more until 20 us."""
    simulation = Star(hosts=2).build(engine)
    simulation.sample_throughput(10_000)
    connect(simulation, "h0", "h1").post_write(1, 20 * MTU, True)
    simulation.run_until(15_000)
    parts = simulation.throughput_table()
    assert (parts["t_ns"].tolist(), parts["interval_ns"].tolist()) == ([10_000, 15_000], [10_000, 5_000])
    assert parts["delivered_bytes"].tolist() == [8 * MTU, 5 * MTU]
    simulation.run_until(20_000)
    whole = simulation.throughput_table()
    assert (whole["t_ns"].tolist(), whole["interval_ns"].tolist()) == ([10_000, 20_000], [10_000] * 2)
    assert whole["delivered_bytes"].tolist() == [8 * MTU, 11 * MTU]


def test_the_queue_table_has_depth_maximum_and_drops_of_each_port() -> None:
    """Pairs of packets arrive at 1.8976 + 0.8848 n us; one starts at 1.8976, 2.7952, then every 0.8848 us.

    The fourth pair (4.552 us) finds three frames of 1086 bytes waiting, so that only one of it fits in 5000
    bytes; one is sent on at 4.5776 us. The same happens to the four pairs that are left. At 10 us one frame
    waits.
    """
    simulation = Star(hosts=3, buffer_bytes=5000, alpha=100.0).build()
    for name in ("h0", "h1"):
        connect(simulation, name, "h2").post_write(1, 8 * MTU, True)
    simulation.sample_queues(5_000)
    simulation.run_until(20_000)
    table = simulation.queue_table()
    names = ("node", "priority", "t_ns", "bytes", "max_bytes", "drops", "marks")
    chosen = table["port"] == "s0->h2"
    assert list(zip(*(table[name][chosen].tolist() for name in names), strict=True)) == [
        ("s0", 0, 5_000, 3 * 1086, 4 * 1086, 1, 0),
        ("s0", 0, 10_000, 1086, 4 * 1086, 4, 0),
        ("s0", 0, 15_000, 0, 1086, 0, 0),
        ("s0", 0, 20_000, 0, 0, 0, 0),
    ]


def test_the_same_seed_gives_the_same_bytes() -> None:
    def run(seed: int) -> tuple[str, list[tuple[str, str, str, int]], bytes]:
        simulation = Star(hosts=5, profile=CX3PRO, loss_probability=0.002).build(seed=seed)
        simulation.sample_throughput(100_000)
        for i in range(4):
            queue_pair = connect(simulation, f"h{i}", "h4", timeout_exponent=6)
            queue_pair.set_rate(3 * 10**9)
            queue_pair.post_write(i, 500_000, True)
        simulation.run_until(50 * MILLISECOND_NS)
        return (
            simulation.digest(),
            simulation.counters(),
            simulation.throughput_table()["delivered_bytes"].tobytes(),
        )

    assert run(7) == run(7)
    assert run(7)[0] != run(8)[0]
