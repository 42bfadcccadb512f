"""Check that controls, workloads and topologies keep their contract."""

import math
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from random import Random
from typing import Final, TypeVar

from pydantic import ValidationError

from rogue.agent.core.cc import (
    CONGESTION_CONTROLS,
    CongestionControl,
    CongestionControlParameters,
    Sample,
    Segments,
)
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.limiter import LinkFacts
from rogue.harness.errors import ConfigError, Problem
from rogue.harness.plugins.loading import LoadedPlugin, load_plugins
from rogue.harness.plugins.source import PluginSource
from rogue.workloads.registration import CONTRACTS
from rogue.workloads.specification import Specification, meanings
from rogue.workloads.topologies import TOPOLOGIES, Placement, Topology
from rogue.workloads.topologies.small_networks import Star
from rogue.workloads.traffic import WORKLOADS, Workload
from rogue.workloads.traffic.transfer_graph import TransferOrder, unknowable

T = TypeVar("T", bound=Specification)
HOSTS: Final = 16
SEEDS: Final = (1, 2, 3)
_TRIED: Final[Mapping[str, object]] = {"bytes": "100KB", "bps": "10Gbps", "ns": "1ms"}
_NUMBERS: Final = (4, 2, 1, 0.5)


def traffic_faults(kind: str, name: str) -> list[str]:
    """Return the faults of a workload or a topology; none for kinds without a contract."""
    if kind == "workload":
        return _faults_of(WORKLOADS[name], _workload_faults)
    if kind == "topology":
        return _faults_of(TOPOLOGIES[name], _topology_faults)
    return []


def _faults_of(entry: type[T], check: Callable[[T], Iterable[str]]) -> list[str]:
    explained = meanings(entry)
    found = [
        f"the key {name} has no docstring"
        for name in entry.model_fields
        if name != "kind" and not explained.get(name)
    ]
    made = _made(entry)
    if isinstance(made, str):
        return [*found, made]
    try:
        for fault in check(made):
            found.append(fault)  # one by one, because a fault may explain the next exception
    except Exception as error:
        found.append(f"it raises {type(error).__name__}: {error}")
    return found


def _made(entry: type[T]) -> T | str:
    """Return an entry with its defaults and tried values for required keys, or the fault that prevents it."""
    first = ""
    for number in _NUMBERS:
        values: dict[str, object] = {"kind": entry.model_fields["kind"].default}
        for name, field in entry.model_fields.items():
            if field.is_required():
                values[field.alias or name] = _TRIED.get(name.rpartition("_")[2], number)
        try:
            return entry.model_validate(values)
        except ValidationError as error:
            first = first or f"it takes none of the values that were tried: {error.errors()[0]['msg']}"
    return first


def _workload_faults(workload: Workload) -> Iterator[str]:
    hosts = max(HOSTS, workload.hosts_min())
    placement = Star.model_validate({"kind": "star", "hosts": hosts, "rate": "10Gbps"}).placement(
        has_probe=False
    )
    for seed in SEEDS:
        flows = workload.flows(placement, seed)
        if flows != workload.flows(placement, seed):
            yield f"flows() differ from call to call with seed {seed}"
        names = [flow.name_in("main") for flow in flows]
        if len(set(names)) != len(names):
            yield "two flows between the same hosts have one number"
        for flow in flows:
            if flow.source == flow.destination:
                yield f"{flow.source} sends to itself"
            if not {flow.source, flow.destination} <= {*placement.hosts}:
                yield f"{flow.source}->{flow.destination} are not hosts of the placement"
        for flow, before in unknowable(flows):
            what = f"the {before.moment} of transfer {before.number} of {before.flow}"
            yield f"{flow.ends} waits for {what}, of which its host cannot know"
        if TransferOrder(flows).has_cycle:
            yield "transfers wait for each other in a circle (after), or for one behind them in their flow"


def _topology_faults(topology: Topology) -> Iterator[str]:
    nodes = [*topology.host_names(), *topology.switch_names()]
    if len(set(nodes)) != len(nodes):
        yield "two nodes have one name"
    for link in topology.links():
        if link.a not in nodes or link.b not in nodes:
            yield f"a link from {link.a} to {link.b}, which are not both hosts or switches"
            return
    for host in topology.host_names():
        if len(topology.links_of.get(host, {})) != 1:
            yield f"{host} has {len(topology.links_of.get(host, {}))} links, expected one"
    reached, new = {nodes[0]}, [nodes[0]]
    while new:
        near = topology.links_of.get(new.pop(), {})
        new += [node for node in near if node not in reached]
        reached |= {*near}
    if reached != {*nodes}:
        yield f"no path leads from {nodes[0]} to {', '.join(sorted({*nodes} - reached))}"
        return
    placement: Placement = topology.placement(has_probe=False)
    if placement.receiver not in placement.hosts:
        yield f"{placement.receiver} receives, and is no host"


LINE_RATES_BPS: Final = (10**10, 4 * 10**10, 10**11)
SEQUENCES: Final = 60
CALLS: Final = 120
COARSE: Final = 0.05
"""Share of samples whose round trip is shorter than a tick of the clock."""
CWND_PACKETS_MAX: Final = 1e6
SEGMENTS: Final = Segments(65_536, 131_072)
ANOTHER_RESULT: Final = "the same calls gave another result, expected no clock and no unseeded random numbers"

Call = Sample | str
TIME_LIMIT_S: Final = 600.0
"""Seconds for all calls of a plug-in; shipped ones take a few."""
WAIT_S: Final = 15.0
END_LIMIT_S: Final = 5.0
"""Longest wait for a child's exit code after its pipe has closed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Entries of a plug-in, and their faults."""

    adds: tuple[str, ...]
    faults: tuple[str, ...]


def try_plugin(
    sources: Sequence[PluginSource], waits: Callable[[], object], limit_s: float = TIME_LIMIT_S
) -> Verdict:
    """Load plug-ins in a child process and try what the last of them registers.

    ConfigError if one does not load.
    waits: is called once, after WAIT_S without a verdict.
    limit_s: seconds until the child is killed.
    """
    ours, theirs = get_context("fork").Pipe(duplex=False)
    child = get_context("fork").Process(target=_try, args=(theirs, sources))
    child.start()
    theirs.close()
    try:
        if not ours.poll(min(limit_s, WAIT_S)):
            waits()
            if not ours.poll(limit_s):
                return Verdict((), (f"it has not ended after {limit_s:g} s, expected an end of each call",))
        verdict: Verdict | tuple[Problem, ...] = ours.recv()
    except EOFError:
        child.join(END_LIMIT_S)
        return Verdict((), (f"it ended the process that tried it, {_end(child.exitcode)}",))
    finally:
        child.kill()
        child.join()
        ours.close()
    if isinstance(verdict, tuple):
        raise ConfigError(verdict)
    return verdict


def _try(pipe: Connection, sources: Sequence[PluginSource]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and kills this process
    verdict: Verdict | tuple[Problem, ...]
    try:
        loaded = load_plugins(sources)[-1]
        verdict = Verdict(loaded.adds, tuple(contract_faults(loaded)))
    except ConfigError as error:
        verdict = error.problems
    sys.stdout.flush()  # the parent kills this process once it has the verdict
    pipe.send(verdict)


def _end(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return f"by signal {-exit_code}"
    return f"with exit code {exit_code}"


def contract_faults(plugin: LoadedPlugin) -> list[str]:
    """Return the faults of all entries that a plug-in registered; none for kinds without a contract."""
    found: list[str] = []
    for added in plugin.adds:
        kind, name = added.split()
        if kind == "control":
            found += [f"{added}: {fault}" for fault in control_faults(CONGESTION_CONTROLS[name])]
        else:
            faults = CONTRACTS.get(kind, partial(traffic_faults, kind))
            found += [f"{added}: {fault}" for fault in faults(name)]
    return found


def control_faults(parameters: type[CongestionControlParameters]) -> list[str]:
    """Return all unexplained parameters and the first fault in behaviour."""
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
    """Yield samples, losses and timeouts in random order; times rise, and some round trips are 0."""
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
            _call(one, call)
            _call(other, call)
            fault = _fault_now(one, other, keys)
            if fault is not None:
                return f"after {number} calls, the last {_words(call)}: {fault}"
    except Exception as error:
        return f"it raises {type(error).__name__}: {error}"
    return None


def _call(control: CongestionControl, call: Call) -> None:
    if isinstance(call, Sample):
        control.on_sample(call)
    elif call == "loss":
        control.on_loss()
    else:
        control.on_timeout()


def _words(call: Call) -> str:
    return f"a sample of {call.rtt_ns:.0f} ns" if isinstance(call, Sample) else f"a {call}"


def _fault_now(one: CongestionControl, other: CongestionControl, keys: set[str]) -> str | None:
    """Return the fault of one of two controls with the same inputs after a call."""
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
    """Return the fault of a control's metrics; keys: their names after the first call."""
    if set(metrics) != keys:
        return f"metrics() has other names than before: {', '.join(sorted(set(metrics) ^ keys))}"
    if not all(math.isfinite(value) for value in metrics.values()):
        return f"metrics() has a value that is not finite: {dict(metrics)}"
    return None
