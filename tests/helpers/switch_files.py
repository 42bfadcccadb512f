"""Parts of switches in C++ that tests load, and networks in which they have something to do."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from helpers.networks import GBPS
from helpers.plugin_files import FOLDER

from rogue.harness.plugins.loading import load_plugins, unload_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.simulator import (
    IDEAL,
    Marking,
    NicControl,
    QueuePair,
    Reliability,
    Simulation,
    SwitchControl,
    unsprayable,
)

SWITCHES = FOLDER / "switches"
NAMES = ("step", "red", "codel", "drill", "hashed", "cut", "flowlet", "pi2")


@contextmanager
def loaded(*names: str) -> Iterator[None]:
    """Load switch controls, by the names of their files."""
    load_plugins([read_plugin(str(SWITCHES / f"{name}.h"), "") for name in names])
    yield
    unload_plugins()


def fan_in(
    simulation_type: type[Simulation] = Simulation,
    controls: Sequence[SwitchControl] = (),
    reliability: Reliability | None = None,
    control: NicControl | None = None,
    size_bytes: int = 300 * 1024,
    **features: Any,
) -> Simulation:
    """Build four hosts that send to one over a switch."""
    simulation = simulation_type(seed=1)
    simulation.add_switch("s0", controls=controls, **({"buffer_bytes": 300_000, "alpha": 8.0} | features))
    for host in range(5):
        simulation.add_host(f"h{host}", IDEAL)
        simulation.add_link(f"h{host}", "s0", rate_bps=10 * GBPS, delay_ps=1_000_000)
    simulation.sample_queues(5_000)
    for host in range(1, 5):
        queue_pair, _ = simulation.connect(
            f"h{host}", "h0", mtu_bytes=1024, retry_count=7, timeout_exponent=14, priority=host % 2,
            reliability=reliability, control=control,
        )  # fmt: skip
        queue_pair.post_write(1, size_bytes, True)
    return simulation


def two_tier(
    kind: type[Simulation] = Simulation,
    controls: Sequence[SwitchControl] = (),
    marking: Marking | None = None,
    messages: int = 1,
    every_ns: int = 0,
    **connection: Any,
) -> Simulation:
    """Build two leaves and four spines; each host of one leaf sends messages to one of the other."""
    simulation = kind(seed=3)
    for switch in ("leaf0", "leaf1", "spine0", "spine1", "spine2", "spine3"):
        simulation.add_switch(switch, buffer_bytes=2_000_000, alpha=8.0, marking=marking, controls=controls)
    for host in range(8):
        simulation.add_host(f"h{host}", IDEAL)
        simulation.add_link(f"h{host}", f"leaf{host // 4}", rate_bps=10 * GBPS, delay_ps=1_000_000)
    for leaf in range(2):
        for spine in range(4):
            simulation.add_link(f"leaf{leaf}", f"spine{spine}", rate_bps=10 * GBPS, delay_ps=1_000_000)
    simulation.sample_queues(5_000)
    usual = {"mtu_bytes": 1024, "retry_count": 7, "timeout_exponent": 14}
    for host in range(4):
        ends = simulation.connect(f"h{host}", f"h{host + 4}", path_seed=host, **(usual | connection))
        for number in range(messages):
            size_bytes = 400 * 1024 // messages
            simulation.schedule(number * every_ns, partial(_post, ends[0], number, size_bytes))
    return simulation


def _post(queue_pair: QueuePair, wr_id: int, size_bytes: int, _now_ns: int) -> None:
    queue_pair.post_write(wr_id, size_bytes, True)


def outcome(simulation: Simulation, until_ns: int) -> dict[str, object]:
    """Return digest, counters and queues of a run."""
    simulation.run_until(until_ns)
    simulation.check_invariants()
    table = {name: values.tolist() for name, values in simulation.queue_table().items()}
    return {"digest": simulation.digest(), "counters": simulation.counters(), "queues": table}


def with_controls(
    build: Callable[[type[Simulation]], Simulation], *controls: SwitchControl
) -> Callable[[type[Simulation]], Simulation]:
    """Return a builder of the same network with these controls in every switch."""

    def build_with(kind: type[Simulation]) -> Simulation:
        class Controlled(kind):  # type: ignore[misc, valid-type]
            def add_switch(self, name: str, **features: Any) -> None:
                features["marking"] = None
                super().add_switch(name, controls=controls, **features)

            def connect(self, a: str, b: str, **connection: Any) -> Any:
                control = connection.get("control")
                if control is not None and unsprayable(control.name) is not None:
                    connection["control"] = None
                if connection.get("service") == "uc" and self._selects_ports:
                    connection |= {"service": "rc", "reliability": None}
                return super().connect(a, b, **connection)

        return build(Controlled)

    return build_with
