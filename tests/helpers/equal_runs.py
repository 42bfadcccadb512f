"""The same network on both engines."""

from collections.abc import Callable

from helpers.networks import ReferenceSimulation

from simulator import Simulation

Builder = Callable[[type[Simulation]], Simulation]


def assert_equal_runs(build: Builder, until_ns: int) -> Simulation:
    lazy, eager = build(Simulation), build(ReferenceSimulation)
    for at_ns in (until_ns // 3, until_ns):  # whoever looks in between changes nothing
        for simulation in (lazy, eager):
            simulation.run_until(at_ns)
            simulation.check_invariants()
        assert lazy.control_metrics() == eager.control_metrics()
    assert lazy.digest() == eager.digest()
    assert lazy.counters() == eager.counters()
    assert lazy.waits() == eager.waits()
    assert lazy.statistics()["packet_hops"] == eager.statistics()["packet_hops"]
    for name in ("throughput_table", "queue_table", "oracle_table", "memory_write_table", "pause_table"):
        left, right = getattr(lazy, name)(), getattr(eager, name)()
        assert {column: values.tolist() for column, values in left.items()} == {
            column: values.tolist() for column, values in right.items()
        }, name
    return lazy
