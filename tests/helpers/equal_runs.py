"""The same network on both engines."""

from collections.abc import Callable
from typing import Any

import numpy
from helpers.networks import ReferenceSimulation

from rogue.simulator import QueuePair, Simulation

TABLES = {name for name in dir(Simulation) if name.endswith("_table")}
Builder = Callable[[type[Simulation]], Simulation]


class RunsAhead(Simulation):
    """Switches run ahead, as otherwise in large networks."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._engine.run_ahead_from(0)


class Recorded(RunsAhead):
    """Records all packets from the first connection on: then switches keep step after all."""

    def connect(self, *args: Any, **kwargs: Any) -> tuple[QueuePair, QueuePair]:
        if not self._connected:
            self.record_packets()
        return super().connect(*args, **kwargs)


class RecordedReference(Recorded, ReferenceSimulation):
    """The same on the eager engine."""


def assert_equal_runs(build: Builder, until_ns: int) -> Simulation:
    lazy, eager = build(Recorded), build(RecordedReference)
    ahead, plain = build(RunsAhead), build(Simulation)
    plain.run_until(until_ns)  # what is looked at goes on as before
    for at_ns in (until_ns // 3, until_ns):  # whoever looks in between changes nothing
        for simulation in (lazy, eager, ahead):
            simulation.run_until(at_ns)
            simulation.check_invariants()
        assert lazy.control_metrics() == eager.control_metrics() == ahead.control_metrics()
    assert plain.digest() == eager.digest()
    assert lazy.packets_missed == eager.packets_missed
    for other, tables in ((lazy, TABLES), (ahead, TABLES - {"packet_table"})):  # packets: see Recorded
        assert other.digest() == eager.digest()
        assert other.waits() == eager.waits()
        assert other.statistics()["packet_hops"] == eager.statistics()["packet_hops"]
        for name in sorted(tables):
            assert_equal_tables(name, getattr(other, name)(), getattr(eager, name)())
    return lazy


def assert_equal_tables(name: str, left: dict[str, Any], right: dict[str, Any]) -> None:
    assert left.keys() == right.keys()
    for column, values in left.items():
        numpy.testing.assert_array_equal(values, right[column], f"{name}: {column}", strict=True)
