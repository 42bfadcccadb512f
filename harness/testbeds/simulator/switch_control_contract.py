"""What every part of switches has to keep, in small networks: the same each time, and no byte is lost."""

from collections.abc import Iterator
from functools import partial
from itertools import cycle, product
from typing import Final

from rogue.harness.plugins.contract import LINE_RATES_BPS
from rogue.harness.testbeds.simulator.control_contract import (
    fault_of_two_runs,
    settings_to_try,
    unexplained,
)
from rogue.simulator import (
    IDEAL,
    SWITCH_CONTROLS,
    PriorityFlowControl,
    Reliability,
    Simulation,
    SwitchControl,
    SwitchControlKind,
)

LEAVES: Final = 2
SPINES: Final = 3
HOSTS_PER_LEAF: Final = 3
MTU_BYTES: Final = 1024
RUN_NS: Final = 3_000_000
BUFFER_BYTES: Final = 100_000
RELIABILITIES: Final = ("uet", "irn", "reno")


def switch_control_faults(name: str) -> list[str]:
    """The faults that the first failing trial finds; after a fault the next may not end."""
    kind = SWITCH_CONTROLS[name]
    found = [*unexplained(kind.parameters), *_useless(kind)]
    return found or [*_first_fault(kind)]


def _useless(kind: SwitchControlKind) -> Iterator[str]:
    if not kind.judges and not kind.compiled.chooses:
        yield "it has none of on_arrival, on_departure and choose, expected at least one of them"
    if kind.compiled.trims and not kind.compiled.sees_arrivals:
        yield "it trims, and has no on_arrival, which alone may say so"


def _first_fault(kind: SwitchControlKind) -> Iterator[str]:
    """With the defaults and each bound of each parameter, at slow and fast links, with and without pauses."""
    for values, stated in settings_to_try(kind.parameters):
        for rate_bps, has_pauses in product(LINE_RATES_BPS, (False, True)):
            control = SwitchControl(kind.name, values)
            fault = fault_of_two_runs(
                partial(_ran, control, rate_bps, has_pauses), partial(_stuck, bool(values))
            )
            if fault is not None:
                yield f"with {stated}, at {rate_bps} bit/s{', with pauses' if has_pauses else ''}: {fault}"
                return


def _stuck(is_stated: bool, simulation: Simulation) -> str | None:
    """With its defaults something must arrive."""
    if is_stated or simulation.statistics()["verbs_done"] > 0:
        return None
    return f"nothing arrived within {RUN_NS // 10**6} ms, expected some transfers to end"


def _ran(control: SwitchControl, line_rate_bps: int, has_pauses: bool) -> Simulation:
    """Two leaves, three spines: an incast over two hops, of transports that trim, repair, or know no ECN."""
    simulation = Simulation(seed=1)
    pauses = PriorityFlowControl(mtu_bytes=MTU_BYTES) if has_pauses else None
    switches = [f"leaf{index}" for index in range(LEAVES)] + [f"spine{index}" for index in range(SPINES)]
    for switch in switches:
        simulation.add_switch(
            switch,
            buffer_bytes=BUFFER_BYTES * (10 if has_pauses else 1),
            alpha=1.0,
            flow_control=pauses,
            controls=[control],
        )
    hosts = [(f"h{leaf}_{index}", leaf) for leaf in range(LEAVES) for index in range(HOSTS_PER_LEAF)]
    for host, leaf in hosts:
        simulation.add_host(host, IDEAL)
        simulation.add_link(host, f"leaf{leaf}", rate_bps=line_rate_bps, delay_ps=10**6)
    for leaf in range(LEAVES):
        for spine in range(SPINES):
            simulation.add_link(
                f"leaf{leaf}", f"spine{spine}", rate_bps=line_rate_bps // SPINES, delay_ps=10**6
            )
    receiver = hosts[-1][0]
    for (host, _), reliability in zip(hosts[:-1], cycle(RELIABILITIES), strict=False):
        queue_pair, _ = simulation.connect(
            host, receiver, mtu_bytes=MTU_BYTES, retry_count=7, timeout_exponent=8,
            reliability=Reliability(reliability),
        )  # fmt: skip
        for verb in range(20):
            queue_pair.post_write(verb, 10**4, True)
    simulation.run_until(RUN_NS)
    simulation.check_invariants()
    return simulation
