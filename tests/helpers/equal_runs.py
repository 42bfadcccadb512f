"""The same network on both engines."""

from collections.abc import Callable
from typing import Any

import numpy
from helpers.networks import ReferenceSimulation

from rogue.simulator import QueuePair, Simulation

TABLES = (
    "throughput_table",
    "queue_table",
    "oracle_table",
    "memory_write_table",
    "pause_table",
    "packet_table",
)
Builder = Callable[[type[Simulation]], Simulation]


class Recorded(Simulation):
    """Records all packets from the first connection on."""

    def connect(self, *args: Any, **kwargs: Any) -> tuple[QueuePair, QueuePair]:
        if not self._connected:
            self.record_packets()
        return super().connect(*args, **kwargs)


class RecordedReference(Recorded, ReferenceSimulation):
    """The same on the eager engine."""


def assert_equal_runs(build: Builder, until_ns: int) -> Simulation:
    lazy, eager = build(Recorded), build(RecordedReference)
    plain = build(Simulation)  # what is looked at goes on as before
    plain.run_until(until_ns)
    for at_ns in (until_ns // 3, until_ns):  # whoever looks in between changes nothing
        for simulation in (lazy, eager):
            simulation.run_until(at_ns)
            simulation.check_invariants()
        assert lazy.control_metrics() == eager.control_metrics()
    assert lazy.digest() == eager.digest() == plain.digest()
    assert lazy.packets_missed == eager.packets_missed
    assert lazy.counters() == eager.counters()
    assert lazy.waits() == eager.waits()
    assert lazy.statistics()["packet_hops"] == eager.statistics()["packet_hops"]
    for name in TABLES:
        left, right = getattr(lazy, name)(), getattr(eager, name)()
        assert left.keys() == right.keys()
        for column, values in left.items():
            numpy.testing.assert_array_equal(values, right[column], f"{name}: {column}", strict=True)
    return lazy
