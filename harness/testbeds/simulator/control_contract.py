"""What every congestion control of NICs has to keep, told alone and in a small network."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from rogue.harness.plugins.contract import ANOTHER_RESULT, LINE_RATES_BPS, metrics_fault
from rogue.harness.testbeds.simulator.features import FEATURES
from rogue.simulator import (
    CONTROLS,
    IDEAL,
    ROCEV2,
    ControlError,
    ControlKind,
    Controller,
    ControlParameter,
    FairRates,
    Marking,
    NicControl,
    Simulation,
    SimulationError,
    with_telemetry,
)

SEQUENCES: Final = 20
CALLS: Final = 200
TIMERS_MAX: Final = 1000
"""Of one control between two calls, which are half a millisecond apart at most."""
PAUSE_PS_MAX: Final = 500_000_000
MTU_BYTES: Final = 1024
HOPS: Final = 2
SENDERS: Final = 3
RUN_NS: Final = 2_000_000


def nic_control_faults(name: str) -> list[str]:
    """The faults of a control that the first failing trial finds; after a fault the next may not end."""
    kind = CONTROLS[name]
    found = [*unexplained(kind.parameters), *_unbuildable(kind)]
    return found or _faults_alone(name) or _faults_in_a_network(name)


def error_words(error: Exception) -> str:
    """What a control of any kind raised, with its place if it knows that."""
    if not isinstance(error, ControlError):
        return f"it raises {type(error).__name__}: {error}"
    return f"{error.place}: {error}" if error.place else str(error)


def unexplained(parameters: Sequence[ControlParameter]) -> list[str]:
    """A fault for each parameter that has no meaning."""
    return [f"{each.name} has no meaning in words" for each in parameters if not each.meaning.strip()]


def settings_to_try(parameters: Sequence[ControlParameter]) -> Iterator[tuple[dict[str, float], str]]:
    """The defaults and each bound of each parameter, and how they are called."""
    bounds = [{each.name: bound} for each in parameters for bound in (each.minimum, each.maximum)]
    for values in ({}, *bounds):
        yield values, ", ".join(f"{key} = {value:g}" for key, value in values.items()) or "its defaults"


def fault_of_two_runs(
    run: Callable[[], Simulation], fault_of_one: Callable[[Simulation], str | None]
) -> str | None:
    """What either raises, or that they differ, or what is wrong with the first."""
    try:
        one, other = run(), run()
    except ControlError as error:
        return error_words(error)
    except SimulationError as error:
        return str(error)
    if one.digest() != other.digest() or one.counters() != other.counters():
        return ANOTHER_RESULT
    return fault_of_one(one)


def _unbuildable(kind: ControlKind) -> Iterator[str]:
    """With the defaults, and with each bound of each parameter: a refusal must be a sentence."""
    for values, stated in settings_to_try(kind.parameters):
        for line_rate_bps in LINE_RATES_BPS:
            try:
                NicControl(kind.name, values).check(line_rate_bps)
            except ControlError as error:
                yield f"with {stated}, at {line_rate_bps} bit/s: {error_words(error)}"
                break
            except SimulationError as error:  # beside the other parameters it makes no sense, and says so
                if not values:
                    yield f"with {stated}: {error}"
                    break


@dataclass(slots=True)
class _Told:
    """Two controls with the same inputs, and these inputs."""

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
        """Timers that come due, in order; a sentence if they never end."""
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
        told = _Told(NicControl(name).alone(line_rate_bps), NicControl(name).alone(line_rate_bps))
        keys = set(told.one.metrics(0))
        for number in range(1, CALLS + 1):
            if fault := told.wait(told.now_ps + stream.randrange(1, PAUSE_PS_MAX)):
                return fault
            call = _tell(told, name, line_rate_bps, stream)
            if fault := _fault_now(told, keys):
                return f"after {number} calls, the last {call}: {fault}"
    except Exception as error:
        return error_words(error)
    return None


def _tell(told: _Told, name: str, line_rate_bps: int, stream: Random) -> str:
    """Something has left; then perhaps a CNP, an acknowledgement or what a switch says comes."""
    packets = stream.randrange(1, 64)
    told.psn += packets
    told.sent_bytes += packets * MTU_BYTES
    told.call("on_sent", packets * MTU_BYTES)
    calls = ["on_cnp"]
    calls += ["on_acknowledgement"] if CONTROLS[name].wants_acknowledgements else []
    calls += ["on_feedback"] if name in FEATURES and FEATURES[name].has_fair_rates else []
    call = stream.choice(calls)
    if call == "on_cnp":
        told.call(call)
    elif call == "on_feedback":
        told.call(call, port=stream.randrange(4), rate_bps=stream.randrange(10**6, line_rate_bps))
    else:
        _acknowledge(told, name, line_rate_bps, stream)
    return call


def _acknowledge(told: _Told, name: str, line_rate_bps: int, stream: Random) -> None:
    sent_ps = None if stream.random() < 0.05 else max(0, told.now_ps - stream.randrange(1, 100_000_000))
    told.recoveries += stream.random() < 0.1
    hop = (told.now_ps, stream.randrange(10**6), told.sent_bytes, line_rate_bps)
    told.call(
        "on_acknowledgement",
        sent_ps=sent_ps,
        acknowledged_psn=told.psn,
        sent_psn=told.psn + stream.randrange(64),
        recoveries=told.recoveries,
        is_marked=stream.random() < 0.3,
        hops=[hop] * HOPS if CONTROLS[name].wants_telemetry else [],
    )


def _fault_now(told: _Told, keys: set[str]) -> str | None:
    said = [
        (each.rate_bps, each.window_bytes, each.deadline_ps, each.metrics(told.now_ps))
        for each in (told.one, told.other)
    ]
    return metrics_fault(said[0][3], keys) or (None if said[0] == said[1] else ANOTHER_RESULT)


def _faults_in_a_network(name: str) -> list[str]:
    """Senders that share a port of a switch which marks: data get through, twice in the same way."""
    try:
        one, other = (_ran(name) for _ in range(2))
    except Exception as error:
        return [f"in a network of {SENDERS + 1} hosts: {error_words(error)}"]
    if one.digest() != other.digest() or one.control_metrics() != other.control_metrics():
        return ["the same network and seed gave another result, expected no clock and no unseeded randomness"]
    if one.statistics()["verbs_done"] == 0:
        return [f"in a network of {SENDERS + 1} hosts nothing arrived within {RUN_NS // 10**6} ms"]
    return []


def _ran(name: str) -> Simulation:
    feature, wants_telemetry = FEATURES.get(name), CONTROLS[name].wants_telemetry
    simulation = Simulation(seed=1, framing=with_telemetry(ROCEV2) if wants_telemetry else ROCEV2)
    simulation.add_switch(
        "s0",
        buffer_bytes=9_000_000,
        alpha=1.0,
        marking=Marking(kmin_bytes=5_000, kmax_bytes=200_000, pmax=0.01),
        fair_rates=FairRates({}) if feature is not None and feature.has_fair_rates else None,
        has_telemetry=wants_telemetry,
    )
    for index in range(SENDERS + 1):
        simulation.add_host(f"h{index}", IDEAL)
        simulation.add_link(f"h{index}", "s0", rate_bps=LINE_RATES_BPS[0], delay_ps=10**6)
    for index in range(SENDERS):
        queue_pair, _ = simulation.connect(
            f"h{index}", f"h{SENDERS}", mtu_bytes=MTU_BYTES, retry_count=7, timeout_exponent=14,
            control=NicControl(name),
        )  # fmt: skip
        for verb in range(20):
            queue_pair.post_write(verb, 10**5, True)
    simulation.run_until(RUN_NS)
    simulation.check_invariants()
    return simulation
