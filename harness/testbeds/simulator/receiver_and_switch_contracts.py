"""Check that receiver and switch controls keep their contracts in small networks."""

from collections.abc import Iterator
from functools import partial
from itertools import cycle, product
from typing import Final

from rogue.harness.plugins.contract import LINE_RATES_BPS
from rogue.harness.testbeds.simulator.control_contract import fault_of_two_runs, settings_to_try, unexplained
from rogue.simulator import (
    IDEAL,
    RECEIVER_CONTROLS,
    SWITCH_CONTROLS,
    WITH_CREDITS,
    IndependentLoss,
    PriorityFlowControl,
    ReceiverControl,
    ReceiverControlKind,
    Reliability,
    Simulation,
    SwitchControl,
    SwitchControlKind,
    Trimming,
)

SENDERS: Final = 6
MTU_BYTES: Final = 1024
DELAY_PS: Final = 10**6
BASE_RTT_NS: Final = 20_000
"""Longer than any of the network's."""
TRANSFERS: Final = 4
TRANSFER_BYTES: Final = 50_000
FULL_ROUNDS: Final = 40
"""Times of sending everything over the receiver's link within which all must have come."""


def receiver_control_faults(name: str) -> list[str]:
    """The faults that the first failing trial finds; after a fault the next may not end."""
    kind = RECEIVER_CONTROLS[name]
    return unexplained(kind.parameters) or [*_first_receiver_fault(kind)]


def _first_receiver_fault(kind: ReceiverControlKind) -> Iterator[str]:
    """With the defaults and each bound of each parameter, at slow and fast links, also with trimming."""
    for values, stated in settings_to_try(kind.parameters):
        for rate_bps, trims in product(LINE_RATES_BPS, (False, True)):
            control = ReceiverControl(kind.name, values)
            fault = fault_of_two_runs(
                partial(_run_receivers, control, rate_bps, trims),
                partial(_unfinished, rate_bps, bool(values)),
            )
            if fault is not None:
                yield f"with {stated}, at {rate_bps} bit/s{', with trimming' if trims else ''}: {fault}"
                return


def _unfinished(line_rate_bps: int, is_stated: bool, simulation: Simulation) -> str | None:
    """With its defaults everything must arrive."""
    done, posted = simulation.statistics()["verbs_done"], SENDERS * TRANSFERS
    if is_stated or done == posted:
        return None
    ms = _run_ns(line_rate_bps) / 1e6
    return f"{done} of {posted} transfers ended within {ms:.3g} ms, expected all: somebody waits for credit"


def _run_ns(line_rate_bps: int) -> int:
    """Long enough for all that is sent, and for some timeouts."""
    once_ns = SENDERS * TRANSFERS * TRANSFER_BYTES * 8 * 10**9 // line_rate_bps
    return FULL_ROUNDS * once_ns + 10**7


def _run_receivers(control: ReceiverControl, line_rate_bps: int, trims: bool) -> Simulation:
    """Several senders of one host, whose packets are lost now and then."""
    simulation = Simulation(seed=1)
    trimming = Trimming(20_000) if trims else None
    simulation.add_switch("s0", buffer_bytes=200_000, alpha=8.0, trimming=trimming)
    for host in range(SENDERS + 1):
        simulation.add_host(f"h{host}", IDEAL)
        loss = IndependentLoss(0.01) if host == 1 else None
        simulation.add_link(f"h{host}", "s0", rate_bps=line_rate_bps, delay_ps=DELAY_PS, loss=loss)
    full_ns = 200_000 * 8 * 10**9 // line_rate_bps
    numbers = {
        "line_rate_bps": float(line_rate_bps),
        "base_rtt_ns": float(BASE_RTT_NS),
        "rto_ns": float(BASE_RTT_NS + 2 * full_ns),
        "nscc": 0.0,
    }
    for host in range(1, SENDERS + 1):
        queue_pair, _ = simulation.connect(
            f"h{host}", "h0", mtu_bytes=MTU_BYTES, retry_count=7, timeout_exponent=8,
            reliability=Reliability(WITH_CREDITS, numbers, 7, control),
        )  # fmt: skip
        for transfer in range(TRANSFERS):
            queue_pair.post_write(transfer, TRANSFER_BYTES, True)
    simulation.run_until(_run_ns(line_rate_bps))
    simulation.check_invariants()
    return simulation


LEAVES: Final = 2
SPINES: Final = 3
HOSTS_PER_LEAF: Final = 3
RUN_NS: Final = 3_000_000
BUFFER_BYTES: Final = 100_000
RELIABILITIES: Final = ("uet", "irn", "reno")


def switch_control_faults(name: str) -> list[str]:
    """The faults that the first failing trial finds; after a fault the next may not end."""
    kind = SWITCH_CONTROLS[name]
    found = [*unexplained(kind.parameters), *_useless(kind)]
    return found or [*_first_switch_fault(kind)]


def _useless(kind: SwitchControlKind) -> Iterator[str]:
    if not kind.judges and not kind.compiled.chooses:
        yield "it has none of on_arrival, on_departure and choose, expected at least one of them"
    if kind.compiled.trims and not kind.compiled.sees_arrivals:
        yield "it trims, and has no on_arrival, which alone may say so"


def _first_switch_fault(kind: SwitchControlKind) -> Iterator[str]:
    """With the defaults and each bound of each parameter, at slow and fast links, with and without pauses."""
    for values, stated in settings_to_try(kind.parameters):
        for rate_bps, has_pauses in product(LINE_RATES_BPS, (False, True)):
            control = SwitchControl(kind.name, values)
            fault = fault_of_two_runs(
                partial(_run_switches, control, rate_bps, has_pauses), partial(_stuck, bool(values))
            )
            if fault is not None:
                yield f"with {stated}, at {rate_bps} bit/s{', with pauses' if has_pauses else ''}: {fault}"
                return


def _stuck(is_stated: bool, simulation: Simulation) -> str | None:
    """With its defaults something must arrive."""
    if is_stated or simulation.statistics()["verbs_done"] > 0:
        return None
    return f"nothing arrived within {RUN_NS // 10**6} ms, expected some transfers to end"


def _run_switches(control: SwitchControl, line_rate_bps: int, has_pauses: bool) -> Simulation:
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
