"""What every workload and topology has to keep, tried with values that suit the types of their keys."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

from pydantic import ValidationError

from rogue.workloads.meanings import meanings
from rogue.workloads.specification import Specification
from rogue.workloads.topologies import TOPOLOGIES, Placement, Topology
from rogue.workloads.topologies.star import Star
from rogue.workloads.traffic import WORKLOADS, Workload
from rogue.workloads.traffic.waiting import earliest_end_ns, unknowable

T = TypeVar("T", bound=Specification)
HOSTS: Final = 16
SEEDS: Final = (1, 2, 3)
_TRIED: Final[Mapping[str, object]] = {"bytes": "100KB", "bps": "10Gbps", "ns": "1ms"}
_NUMBERS: Final = (4, 2, 1, 0.5)


def faults(kind: str, name: str) -> list[str]:
    """Of an entry; nothing for kinds that have no contract."""
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
            found.append(fault)  # one by one: what was found says why it raises
    except Exception as error:
        found.append(f"it raises {type(error).__name__}: {error}")
    return found


def _made(entry: type[T]) -> T | str:
    """One with its defaults, and with values that are tried for the keys without one."""
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
        if earliest_end_ns(flows, lambda _flow, size_bytes: size_bytes) is None:
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
        yield f"no way leads from {nodes[0]} to {', '.join(sorted({*nodes} - reached))}"
        return
    placement: Placement = topology.placement(has_probe=False)
    if placement.receiver not in placement.hosts:
        yield f"{placement.receiver} receives, and is no host"
