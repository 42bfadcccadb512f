"""Check that controls of NICs, receivers and switches keep their contracts, alone and in small networks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, product
from random import Random
from typing import Final

from rogue.harness.plugins.contract import ANOTHER_RESULT, LINE_RATES_BPS, metrics_fault
from rogue.simulator import (
    CONTROLS,
    IDEAL,
    RECEIVER_CONTROLS,
    ROCEV2,
    SWITCH_CONTROLS,
    WITH_CREDITS,
    ControlError,
    ControlKind,
    Controller,
    ControlParameter,
    FairRates,
    IndependentLoss,
    Marking,
    NicControl,
    PriorityFlowControl,
    ReceiverControl,
    Reliability,
    Simulation,
    SimulationError,
    SwitchControl,
    SwitchControlKind,
    Trimming,
    with_telemetry,
)

SEQUENCES: Final = 20
CALLS: Final = 200
TIMERS_MAX: Final = 1000
"""Timers of a control between two calls, at most half a millisecond apart."""
PAUSE_PS_MAX: Final = 500_000_000
MTU_BYTES: Final = 1024
HOPS: Final = 2
NIC_SENDERS: Final = 3
RUN_NS: Final = 3_000_000
DELAY_PS: Final = 10**6
SENDERS: Final = 6
BASE_RTT_NS: Final = 20_000
"""Longer than any of the network's."""
TRANSFERS: Final = 4
TRANSFER_BYTES: Final = 50_000
FULL_ROUNDS: Final = 40
"""Times of sending everything over the receiver's link within which everything must arrive."""
LEAVES: Final = 2
SPINES: Final = 3
HOSTS_PER_LEAF: Final = 3
BUFFER_BYTES: Final = 100_000
RELIABILITIES: Final = ("uet", "irn", "reno")

Trial = Callable[[dict[str, float], int, bool], Simulation]
"""Runs a network with these values and this line rate, with or without a feature of its switches."""


def nic_control_faults(name: str) -> list[str]:
    """Return the faults of the first failing trial; after a fault the next trial might not end."""
    kind = CONTROLS[name]
    found = [*unexplained(kind.parameters), *_unbuildable(kind)]
    return found or _faults_alone(name) or _faults_in_a_network(name)


def error_words(error: Exception) -> str:
    """Return a sentence about an exception of a control, with its place if it is known."""
    if not isinstance(error, ControlError):
        return f"it raises {type(error).__name__}: {error}"
    return f"{error.place}: {error}" if error.place else str(error)


def unexplained(parameters: Sequence[ControlParameter]) -> list[str]:
    """Return a fault for each parameter without a meaning."""
    return [f"{each.name} has no meaning in words" for each in parameters if not each.meaning.strip()]


def settings_to_try(parameters: Sequence[ControlParameter]) -> Iterator[tuple[dict[str, float], str]]:
    """Yield the defaults and each bound of each parameter, with a description."""
    bounds = [{each.name: bound} for each in parameters for bound in (each.minimum, each.maximum)]
    for values in ({}, *bounds):
        yield values, ", ".join(f"{key} = {value:g}" for key, value in values.items()) or "its defaults"


def _fault_of_two_runs(
    run: Callable[[], Simulation], fault_of_one: Callable[[Simulation], str | None]
) -> str | None:
    """Return what either run raises, that they differ, or what is wrong with the first."""
    try:
        one, other = run(), run()
    except SimulationError as error:
        return error_words(error) if isinstance(error, ControlError) else str(error)
    except Exception as error:
        return error_words(error)
    if _result(one) != _result(other):
        return ANOTHER_RESULT
    return fault_of_one(one)


def _result(simulation: Simulation) -> tuple[object, ...]:
    return simulation.digest(), simulation.counters(), simulation.control_metrics()


def _unbuildable(kind: ControlKind) -> Iterator[str]:
    """Build a control with the defaults and each bound; a refusal must be a SimulationError."""
    for values, stated in settings_to_try(kind.parameters):
        for line_rate_bps in LINE_RATES_BPS:
            try:
                NicControl(kind.name, values).check(line_rate_bps)
            except ControlError as error:
                yield f"with {stated}, at {line_rate_bps} bit/s: {error_words(error)}"
                break
            except SimulationError as error:  # a bound may contradict other parameters
                if not values:
                    yield f"with {stated}: {error}"
                    break


@dataclass(slots=True)
class _Twins:
    """Two instances of a control with the same inputs, and these inputs."""

    one: Controller
    other: Controller
    now_ps: int = 0
    psn: int = 0
    sent_bytes: int = 0
    recoveries: int = 0

    def call(self, name: str, *arguments: object, **named: object) -> None:
        for control in (self.one, self.other):
            getattr(control, name)(self.now_ps, *arguments, **named)

    def wait(self, until_ps: int) -> str | None:
        """Call due timers in order; return a fault if they never end."""
        for _ in range(TIMERS_MAX):
            deadline_ps = self.one.deadline_ps
            if deadline_ps is None or deadline_ps > until_ps:
                self.now_ps = until_ps
                return None
            self.now_ps = max(self.now_ps, deadline_ps)
            self.call("on_timer")
        return f"on_timer asked to be called again {TIMERS_MAX} times within {PAUSE_PS_MAX // 10**6} us"


def _faults_alone(name: str) -> list[str]:
    for line_rate_bps in LINE_RATES_BPS:
        for seed in range(SEQUENCES):
            if fault := _first_fault(name, line_rate_bps, Random(seed)):
                return [f"{fault} (line rate {line_rate_bps} bit/s, sequence {seed})"]
    return []


def _first_fault(name: str, line_rate_bps: int, stream: Random) -> str | None:
    try:
        twins = _Twins(NicControl(name).alone(line_rate_bps), NicControl(name).alone(line_rate_bps))
        keys = set(twins.one.metrics(0))
        for number in range(1, CALLS + 1):
            if fault := twins.wait(twins.now_ps + stream.randrange(1, PAUSE_PS_MAX)):
                return fault
            call = _call_randomly(twins, name, line_rate_bps, stream)
            if fault := _fault_now(twins, keys):
                return f"after {number} calls, the last {call}: {fault}"
    except Exception as error:
        return error_words(error)
    return None


def _call_randomly(twins: _Twins, name: str, line_rate_bps: int, stream: Random) -> str:
    """Call `on_sent`, then one random other callback; return the name of that one."""
    packets = stream.randrange(1, 64)
    twins.psn += packets
    twins.sent_bytes += packets * MTU_BYTES
    twins.call("on_sent", packets * MTU_BYTES)
    calls = ["on_cnp"]
    calls += ["on_acknowledgement"] if CONTROLS[name].wants_acknowledgements else []
    calls += ["on_feedback"] if CONTROLS[name].wants_feedback else []
    call = stream.choice(calls)
    if call == "on_cnp":
        twins.call(call)
    elif call == "on_feedback":
        twins.call(call, port=stream.randrange(4), rate_bps=stream.randrange(10**6, line_rate_bps))
    else:
        _acknowledge(twins, name, line_rate_bps, stream)
    return call


def _acknowledge(twins: _Twins, name: str, line_rate_bps: int, stream: Random) -> None:
    sent_ps = None if stream.random() < 0.05 else max(0, twins.now_ps - stream.randrange(1, 100_000_000))
    twins.recoveries += stream.random() < 0.1
    hop = (twins.now_ps, stream.randrange(10**6), twins.sent_bytes, line_rate_bps)
    twins.call(
        "on_acknowledgement",
        sent_ps=sent_ps,
        acknowledged_psn=twins.psn,
        sent_psn=twins.psn + stream.randrange(64),
        recoveries=twins.recoveries,
        is_marked=stream.random() < 0.3,
        hops=[hop] * HOPS if CONTROLS[name].wants_telemetry else [],
    )


def _fault_now(twins: _Twins, keys: set[str]) -> str | None:
    states = [
        (each.rate_bps, each.window_bytes, each.deadline_ps, each.metrics(twins.now_ps))
        for each in (twins.one, twins.other)
    ]
    return metrics_fault(states[0][3], keys) or (None if states[0] == states[1] else ANOTHER_RESULT)


def _faults_in_a_network(name: str) -> list[str]:
    fault = _fault_of_two_runs(partial(_run_nics, name), _stuck)
    return [] if fault is None else [f"in a network of {NIC_SENDERS + 1} hosts: {fault}"]


def _run_nics(name: str) -> Simulation:
    wants_telemetry = CONTROLS[name].wants_telemetry
    simulation = Simulation(seed=1, framing=with_telemetry(ROCEV2) if wants_telemetry else ROCEV2)
    simulation.add_switch(
        "s0",
        buffer_bytes=9_000_000,
        alpha=1.0,
        marking=Marking(kmin_bytes=5_000, kmax_bytes=200_000, pmax=0.01),
        fair_rates=FairRates({}) if CONTROLS[name].wants_feedback else None,
        has_telemetry=wants_telemetry,
    )
    for index in range(NIC_SENDERS + 1):
        simulation.add_host(f"h{index}", IDEAL)
        simulation.add_link(f"h{index}", "s0", rate_bps=LINE_RATES_BPS[0], delay_ps=DELAY_PS)
    for index in range(NIC_SENDERS):
        _send(simulation, (f"h{index}", f"h{NIC_SENDERS}"), [10**5] * 20, NicControl(name))
    return _finished(simulation, RUN_NS)


def _send(
    simulation: Simulation,
    ends: tuple[str, str],
    transfer_bytes: Sequence[int],
    part: NicControl | Reliability,
) -> None:
    """Connect a source and a destination over a control or a loss recovery, and post transfers."""
    queue_pair, _ = simulation.connect(
        *ends, mtu_bytes=MTU_BYTES, retry_count=7,
        timeout_exponent=14 if isinstance(part, NicControl) else 8,
        control=part if isinstance(part, NicControl) else None,
        reliability=part if isinstance(part, Reliability) else None,
    )  # fmt: skip
    for number, size_bytes in enumerate(transfer_bytes):
        queue_pair.post_write(number, size_bytes, True)


def _finished(simulation: Simulation, run_ns: int) -> Simulation:
    simulation.run_until(run_ns)
    simulation.check_invariants()
    return simulation


def _stuck(simulation: Simulation) -> str | None:
    if simulation.statistics()["verbs_done"] > 0:
        return None
    return f"nothing arrived within {RUN_NS // 10**6} ms, expected some transfers to end"


def receiver_control_faults(name: str) -> list[str]:
    """Return the faults of the first failing trial; after a fault the next may not end."""
    kind = RECEIVER_CONTROLS[name]
    return unexplained(kind.parameters) or _first_fault_in_networks(
        kind.parameters, partial(_run_receivers, name), _unfinished, "trimming"
    )


def _first_fault_in_networks(
    parameters: Sequence[ControlParameter],
    run: Trial,
    fault_with_defaults: Callable[[Simulation], str | None],
    feature: str,
) -> list[str]:
    """Try the defaults and each bound of each parameter, on slow and fast links, also with a feature."""
    for values, stated in settings_to_try(parameters):
        for rate_bps, has_feature in product(LINE_RATES_BPS, (False, True)):
            fault = _fault_of_two_runs(
                partial(run, values, rate_bps, has_feature),
                (lambda _simulation: None) if values else fault_with_defaults,
            )
            if fault is not None:
                return [f"with {stated}, at {rate_bps} bit/s{f', with {feature}' * has_feature}: {fault}"]
    return []


def _run_receivers(name: str, values: dict[str, float], line_rate_bps: int, has_trimming: bool) -> Simulation:
    simulation = Simulation(seed=1)
    trimming = Trimming(20_000) if has_trimming else None
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
    reliability = Reliability(WITH_CREDITS, numbers, 7, ReceiverControl(name, values))
    for host in range(1, SENDERS + 1):
        _send(simulation, (f"h{host}", "h0"), [TRANSFER_BYTES] * TRANSFERS, reliability)
    once_ns = SENDERS * TRANSFERS * TRANSFER_BYTES * 8 * 10**9 // line_rate_bps
    return _finished(simulation, FULL_ROUNDS * once_ns + 10**7)


def _unfinished(simulation: Simulation) -> str | None:
    done, posted = simulation.statistics()["verbs_done"], SENDERS * TRANSFERS
    if done == posted:
        return None
    within = f"within {simulation.now_ns / 1e6:.3g} ms"
    return f"{done} of {posted} transfers ended {within}, expected all: a sender waits for credit"


def switch_control_faults(name: str) -> list[str]:
    """Return the faults of the first failing trial; after a fault the next may not end."""
    kind = SWITCH_CONTROLS[name]
    found = [*unexplained(kind.parameters), *_useless(kind)]
    run = partial(_run_switches, name)
    return found or _first_fault_in_networks(kind.parameters, run, _stuck, "pauses")


def _useless(kind: SwitchControlKind) -> Iterator[str]:
    if not kind.is_aqm and not kind.compiled.selects_ports:
        yield "it has none of on_arrival, on_departure and choose, expected at least one of them"
    if kind.compiled.trims and not kind.compiled.sees_arrivals:
        yield "it trims, and has no on_arrival, which alone may say so"


def _run_switches(name: str, values: dict[str, float], line_rate_bps: int, has_pauses: bool) -> Simulation:
    """Run an incast over two leaves and three spines with transports that trim, repair, or ignore ECN."""
    simulation = Simulation(seed=1)
    pauses = PriorityFlowControl(mtu_bytes=MTU_BYTES) if has_pauses else None
    switches = [f"leaf{index}" for index in range(LEAVES)] + [f"spine{index}" for index in range(SPINES)]
    for switch in switches:
        simulation.add_switch(
            switch,
            buffer_bytes=BUFFER_BYTES * (10 if has_pauses else 1),
            alpha=1.0,
            flow_control=pauses,
            controls=[SwitchControl(name, values)],
        )
    hosts = [(f"h{leaf}_{index}", leaf) for leaf in range(LEAVES) for index in range(HOSTS_PER_LEAF)]
    for host, leaf in hosts:
        simulation.add_host(host, IDEAL)
        simulation.add_link(host, f"leaf{leaf}", rate_bps=line_rate_bps, delay_ps=DELAY_PS)
    for leaf in range(LEAVES):
        for spine in range(SPINES):
            simulation.add_link(
                f"leaf{leaf}", f"spine{spine}", rate_bps=line_rate_bps // SPINES, delay_ps=DELAY_PS
            )
    receiver = hosts[-1][0]
    for (host, _), reliability in zip(hosts[:-1], cycle(RELIABILITIES), strict=False):
        _send(simulation, (host, receiver), [10**4] * 20, Reliability(reliability))
    return _finished(simulation, RUN_NS)
