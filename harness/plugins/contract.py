"""What every control, workload and topology has to keep; each fault is a sentence."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import partial
from random import Random
from typing import Final

from rogue.agent.core.cc import (
    CONGESTION_CONTROLS,
    CongestionControl,
    CongestionControlParameters,
    Sample,
    Segments,
)
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.link import LinkFacts
from rogue.harness.plugins import traffic_contract
from rogue.harness.plugins.loading import LoadedPlugin
from rogue.workloads.registration import CONTRACTS

LINE_RATES_BPS: Final = (10**10, 4 * 10**10, 10**11)
SEQUENCES: Final = 60
CALLS: Final = 120
COARSE: Final = 0.05
"""So many samples are of round trips that a clock did not see."""
CWND_PACKETS_MAX: Final = 1e6
SEGMENTS: Final = Segments(65_536, 131_072)
ANOTHER_RESULT: Final = "the same calls gave another result, expected no clock and no unseeded random numbers"

Call = Sample | str


def contract_faults(plugin: LoadedPlugin) -> list[str]:
    """What is wrong with what a plug-in registered; nothing for kinds that have no contract."""
    found: list[str] = []
    for added in plugin.adds:
        kind, name = added.split()
        if kind == "control":
            found += [f"{added}: {fault}" for fault in control_faults(CONGESTION_CONTROLS[name])]
        else:
            faults = CONTRACTS.get(kind, partial(traffic_contract.faults, kind))
            found += [f"{added}: {fault}" for fault in faults(name)]
    return found


def control_faults(parameters: type[CongestionControlParameters]) -> list[str]:
    """Of a control: the first of each kind."""
    found = list(_unexplained(parameters))
    for line_rate_bps in LINE_RATES_BPS:
        for seed in range(SEQUENCES):
            fault = _first_fault(parameters, line_rate_bps, list(_calls(Random(seed))))
            if fault is not None:
                return [*found, f"{fault} (line rate {line_rate_bps} bit/s, sequence {seed})"]
    return found


def _unexplained(parameters: type[CongestionControlParameters]) -> Iterator[str]:
    for each in fields(parameters):
        if not re.search(rf"\b{each.name}\b[^:\n]*:", parameters.__doc__ or ""):
            yield f"the docstring of {parameters.__name__} does not explain {each.name}"


def _calls(stream: Random) -> Iterator[Call]:
    """Any order of samples, losses and timeouts; times rise, and some round trips are 0."""
    now_ns = 0
    for _ in range(CALLS):
        what = stream.random()
        if what < 0.1:
            yield "loss" if what < 0.07 else "timeout"
            continue
        is_none = stream.random() < COARSE
        rtt_ns = 0.0 if is_none else math.exp(stream.uniform(math.log(1_000), math.log(10_000_000)))
        now_ns += stream.randrange(1_000_000)
        batches = stream.randrange(1, 5)
        yield Sample(rtt_ns, HostNs(now_ns), batches * SEGMENTS.batch_bytes, SEGMENTS.batch_bytes)


def _first_fault(
    parameters: type[CongestionControlParameters], line_rate_bps: int, calls: list[Call]
) -> str | None:
    link = LinkFacts(line_rate_bps, 1024)
    try:
        one, other = (parameters.for_line_rate(line_rate_bps).build(link, SEGMENTS) for _ in range(2))
        keys = set(one.metrics())
        for number, call in enumerate(calls, start=1):
            _tell(one, call)
            _tell(other, call)
            fault = _fault_now(one, other, keys)
            if fault is not None:
                return f"after {number} calls, the last {_words(call)}: {fault}"
    except Exception as error:
        return f"it raises {type(error).__name__}: {error}"
    return None


def _tell(control: CongestionControl, call: Call) -> None:
    if isinstance(call, Sample):
        control.on_sample(call)
    elif call == "loss":
        control.on_loss()
    else:
        control.on_timeout()


def _words(call: Call) -> str:
    return f"a sample of {call.rtt_ns:.0f} ns" if isinstance(call, Sample) else f"a {call}"


def _fault_now(one: CongestionControl, other: CongestionControl, keys: set[str]) -> str | None:
    """What is wrong after a call with one of two that were told the same."""
    rate_bps, metrics = one.target_rate_bps, one.metrics()
    if not 0 < one.cwnd_packets <= CWND_PACKETS_MAX:
        return f"cwnd_packets is {one.cwnd_packets}, expected above 0 and up to a million"
    if rate_bps is not None and not 0 < rate_bps < math.inf:
        return f"target_rate_bps is {rate_bps}, expected above 0, or None"
    if fault := metrics_fault(metrics, keys):
        return fault
    if metrics != other.metrics() or rate_bps != other.target_rate_bps:
        return ANOTHER_RESULT
    if metrics.get("cwnd_packets") != one.cwnd_packets:
        return f"metrics() has the window {metrics.get('cwnd_packets')}, expected {one.cwnd_packets}"
    return None


def metrics_fault(metrics: Mapping[str, float], keys: set[str]) -> str | None:
    """What is wrong with what any control tells of itself, which had these names at first."""
    if set(metrics) != keys:
        return f"metrics() has other names than before: {', '.join(sorted(set(metrics) ^ keys))}"
    if not all(math.isfinite(value) for value in metrics.values()):
        return f"metrics() has a value that is not finite: {dict(metrics)}"
    return None
