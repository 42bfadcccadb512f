"""Every key that a cell can carry: a cell in which it means something, and another value of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from helpers.cell_kinds import TOPOLOGIES_OWN, WORKLOADS_OWN
from helpers.experiments import SIZES
from pydantic import BaseModel

from rogue.agent.core.transports import TRANSPORTS, parameter_names, settings_for
from rogue.harness.cell.group_settings import OPTIONS
from rogue.harness.cell.marking import CURVE_PARAMETERS, MARK_ABOVE
from rogue.harness.cell.transport import NumericParameter, as_written
from rogue.harness.experiment.choices import MEASURES
from rogue.simulator import CONTROLS, FAIR_RATE_PARAMETERS, RELIABILITIES
from rogue.workloads.transports import NIC_CONTROLS
from rogue.workloads.units import QUANTITY_OF_SUFFIX

Values = Mapping[str, object]

BASE = """\
name: small
topology: {kind: star, hosts: 4, rate: 100Mbps}
workload: {kind: incast, senders: 2, size: 20KB}
transports: [rogue]
measure: [throughput]
"""
LINE_RATE_BPS = 100_000_000
PFC = "transports=[roce+pfc]"

TOPOLOGY: Mapping[str, tuple[object, ...]] = {
    "mtu": (4096,),
    "framing": ("ns3", "uec"),
    "nic": ("ideal",),
    "delay": ("5us", "200us"),
    "delay_spread": ("1us",),
    "switch": ("voq",),
    "buffer": ("1MB",),
    "alpha": (2.0,),
    "trim_above": ("20KB",),
    "trim": ("coin",),
    "thresholds": ("rate",),
    "ttl_hops": (9,),
}
"""Keys of every topology, with other values than theirs."""
PAUSES: Values = {
    "pause_alpha": 0.5,
    "pause_xoff": "100KB",
    "pause_headroom": "50KB",
    "pause_watchdog": "1ms",
}
"""Keys of every topology that mean something with +pfc."""
PAIRS_OWN: Values = {
    "source": "{source: h2, destination: h1}",
    "destination": "{source: h0, destination: h2}",
    "offered": "{source: h0, destination: h1, offered: 10Mbps}",
    "start": "{source: h0, destination: h1, start: 1ms}",
    "stop": "{source: h0, destination: h1, stop: 2ms}",
}
RING = "topology={kind: ring, rate: 1Gbps}"
"""Has links between switches."""
FAULTS_OWN: Mapping[str, tuple[Values, Values]] = {
    "link_cut": (
        {"target": "h1", "at": "1ms", "duration": "1ms"},
        {"target": "h0", "at": "2ms", "duration": "2ms"},
    ),
    "link_failures": (
        {"target": "s0", "at": "1ms", "duration": "1ms"},
        {
            "target": "any", "links": 2, "at": "2ms", "within": "1ms", "duration": "2ms",
            "reroute_after": "10us",
        },
    ),
    "loss": (
        {"target": "h1", "probability": 0.01},
        {"target": "h0", "probability": 0.02, "model": "burst", "from": "1ms", "until": "2ms"},
    ),
    "pause_storm": (
        {"target": "h1", "at": "1ms", "duration": "1ms"},
        {"target": "h0", "at": "2ms", "duration": "2ms", "nic_watchdog": "1ms"},
    ),
    "slow_receiver": (
        {"target": "h2", "rate": "10Mbps", "duration": "2ms"},
        {
            "target": "h1", "rate": "20Mbps", "at": "1ms", "duration": "3ms", "buffer": "300KB",
            "xoff": "90KB", "xon": "50KB",
        },
    ),
    "misrouting": ({"target": "s0-h2", "destination": "h2"}, {"target": "s0-h1", "destination": "h1"}),
    "flooding": ({"target": "s0", "destination": "h2"}, {"destination": "h1"}),
    "packet_event": (
        {"flow": "main/h0->h2", "psn": 0, "do": "drop"},
        {
            "flow": "main/h1->h2", "packet": "ack", "psn": 3, "transmission": 2, "do": "mark",
            "amount": 3,
        },
    ),
}  # fmt: skip
NO_OTHER_VALUE = {
    "topology.pause_watchdog_restore": "means something beside a watchdog",
    "workload.poisson.sizes": "replaces size",
    "workload.collective.skew": "means something where every host has something for every other",
    "faults.loss.one_in": "replaces probability",
    "faults.loss.burst_packets": "means something with bursts",
    "faults.misrouting.target": "and its destination change together",
    "faults.misrouting.destination": "and its target change together",
    "faults.flooding.target": "is the only switch of a star",
    "faults.packet_event.amount": "means something with some actions",
}
"""Keys that no single value can be exchanged for; MORE has a case of each that does anything."""


def mapping(values: Values) -> str:
    """As YAML, in one line."""
    return "{" + ", ".join(f"{key}: {value}" for key, value in values.items()) + "}"


@dataclass(frozen=True)
class Case:
    """A key, settings under which it means something, and those that state it with another value."""

    key: str
    beside: tuple[str, ...]
    stated: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.key} {'' if len(self.stated) > 1 else self.stated[0][-30:]}"


def _pausing(kind: str) -> tuple[str, ...]:
    return (PFC,) if kind in ("pause_storm", "slow_receiver") else ()


def _case(key: str, *settings: str) -> Case:
    """Return a case whose last setting states the key."""
    return Case(key, settings[:-1], settings[-1:])


def _fault(key: str, usual: str, changed: str, *beside: str) -> Case:
    """Return a case of a key `KIND.KEY`, with the keys of a usual and a changed fault."""
    faults = (f"faults=[{{kind: {key.partition('.')[0]}, {each}}}]" for each in (usual, changed))
    return _case(f"faults.{key}", *beside, *faults)


INCAST = "workload: {kind: incast, senders: 2, size: 1MB}"
PROBE = "probe={kind: write0, interval: 1ms}"
CUT = "at: 1ms, duration: 1ms"
MORE = (
    _case(
        "topology.weights",
        f"traffic=[{{name: a, {INCAST}}}, {{name: b, priority: 1, {INCAST}}}]",
        "workload=null",
        "topology.weights=[1, 1]",
        "topology.weights=[1, 3]",
    ),
    _case(
        "topology.nic_limiters",
        "workload={kind: many_pairs, hosts: 4, load: 0.5, arrive_for: 20ms, drain_for: 50ms}",
        "topology.nic_limiters=2",
    ),
    _case(
        "topology.pause_watchdog_restore",
        PFC,
        "topology.pause_watchdog=1ms",
        "topology.pause_watchdog_restore=3ms",
    ),
    *(
        _case(
            "workload.poisson.sizes",
            "workload={kind: poisson, load: 0.5, arrive_for: 3ms, hosts: 3, drain_for: 30ms, sizes: irn}",
            f"workload.sizes={sizes}",
        )
        for sizes in ("fb_hadoop", f"{{file: {SIZES}}}")
    ),
    _case(
        "workload.collective.skew",
        "workload={kind: collective, operation: all_to_all, hosts: 3, size: 20KB}",
        "workload.skew=1.5",
    ),
    _fault(
        "link_cut.reroute_after", f"target: s0-s1, {CUT}", f"target: s0-s1, {CUT}, reroute_after: 10us", RING
    ),
    _fault("link_cut.one_way", f"target: h1, {CUT}", f"target: h1, {CUT}, one_way: true"),
    _fault("loss.one_in", "target: h1, one_in: 100", "target: h1, one_in: 50"),
    _fault(
        "loss.burst_packets",
        "target: h1, model: burst, probability: 0.01",
        "target: h1, model: burst, probability: 0.01, burst_packets: 4",
    ),
    _fault("misrouting.target", "target: s0-s1, destination: h2", "target: s0-s4, destination: h2", RING),
    _fault(
        "misrouting.destination",
        "target: s0-s4, destination: h2",
        "target: s0-s4, destination: h1",
        RING.replace("}", ", ttl_hops: 9}"),
    ),
    _fault("flooding.target", "target: s0, destination: h2", "target: s1, destination: h2", RING),
    _fault(
        "packet_event.amount",
        "flow: main/h0->h2, psn: 0, do: duplicate",
        "flow: main/h0->h2, psn: 0, do: duplicate, amount: 3",
    ),
    _case("seed", "seed=2"),
    _case("time_limit", "time_limit=1ms"),
    _case("probe.interval", PROBE, "measure=null", "probe.interval=2ms"),
    _case("probe.target", PROBE, "measure=null", "probe.target=h0"),
    _case("transports.name", "transports=[roce]"),
    _case("transports.label", "transports=[{name: rogue, label: ours}]"),
    *(
        _case(f"measure.{kind}", PROBE, f"measure=[{kind}, throughput]")
        for kind in MEASURES
        if kind != "throughput"
    ),
    _case("measure.throughput", "measure=[queues]", "measure=[queues, throughput]"),
    *(
        _case(f"measure.{kind}.interval", f"measure=[{kind}]", f"measure=[{{kind: {kind}, interval: 300us}}]")
        for kind in ("throughput", "queues")
    ),
    *(
        _case(f"measure.packets.{key}", "measure=[packets]", f"measure=[{{kind: packets, {key}: {value}}}]")
        for key, value in {
            "ports": "[h0->s0]",
            "flows": "[main/h0->h2]",
            "from": "10us",
            "until": "10us",
            "packets_max": 9,
        }.items()
    ),
)


def keys_of(model: type[BaseModel]) -> set[str]:
    """Keys of a part of an experiment file, but the kind by which it was chosen."""
    return {field.alias or name for name, field in model.model_fields.items()} - {"kind"}


def section_cases() -> Iterator[Case]:
    """Of topology, workload and faults."""
    for kind, (usual, others) in TOPOLOGIES_OWN.items():
        for key, other in others.items():
            stated = f"topology={mapping({'kind': kind, **usual, key: other})}"
            yield Case(f"topology.{key}", (f"topology={mapping({'kind': kind, **usual})}",), (stated,))
    for key, values in TOPOLOGY.items():
        for value in values:
            yield Case(f"topology.{key}", (), (f"topology.{key}={value}",))
    for key, value in PAUSES.items():
        yield Case(f"topology.{key}", (PFC,), (f"topology.{key}={value}",))
    for kind, (usual, others) in WORKLOADS_OWN.items():
        beside = [f"workload={mapping({'kind': kind, **usual})}"]
        if kind == "pingmesh":
            beside.append("measure=[latency]")
        if kind == "poisson":
            beside.append("topology.nic=ideal")  # a limiter for each queue pair that responds to READs
        if kind == "clos_pairs":
            beside.append(f"topology={mapping({'kind': 'clos', **TOPOLOGIES_OWN['clos'][0]})}")
        for key, other in others.items():
            stated = f"workload={mapping({'kind': kind, **usual, key: other})}"
            yield Case(f"workload.{kind}.{key}", tuple(beside), (stated,))
    for key, flow in PAIRS_OWN.items():
        beside = [f"workload={mapping({'kind': 'pairs', **WORKLOADS_OWN['pairs'][0]})}"]
        yield Case(f"workload.pairs.flows.{key}", tuple(beside), (f"workload.flows=[{flow}]",))
    for kind, (usual, others) in FAULTS_OWN.items():
        for key, other in others.items():
            if f"faults.{kind}.{key}" not in NO_OTHER_VALUE:
                stated = f"faults=[{mapping({'kind': kind, **usual, key: other})}]"
                ring = [RING] if kind == "link_failures" else []
                beside = [*ring, *_pausing(kind), f"faults=[{mapping({'kind': kind, **usual})}]"]
                yield Case(f"faults.{kind}.{key}", tuple(beside), (stated,))


def group(transport: str | None, parameters: Values, priority: int = 0) -> tuple[str, ...]:
    """Settings with one traffic group."""
    values: dict[str, object] = {
        "name": "own", "workload": "{kind: incast, senders: 2, size: 20KB}", "priority": priority,
    }  # fmt: skip
    if transport:
        values["transport"] = transport
    if parameters:
        values["parameters"] = mapping(parameters)
    return "workload=null", f"traffic=[{mapping(values)}]"


def group_cases() -> Iterator[Case]:
    """Of a traffic group."""
    yield Case("traffic.transport", group(None, {}), group("roce", {}))
    yield Case("traffic.priority", group(None, {}), group(None, {}, priority=3))
    yield Case("traffic.priority", (PFC, *group(None, {})), group(None, {}, priority=3))
    yield Case("traffic.parameters", group(None, {}), group(None, {"alpha_packets": 1}))


def other_values(name: str, value: object, minimum: float = 0.0) -> list[object]:
    """Other values of a parameter, as written, of which one at least should be possible."""
    if isinstance(value, bool):
        return [str(not value).lower()]
    if not isinstance(value, int | float):
        return []
    others: list[float] = [value * 2, value / 2, 1 - value, value + 1, value - 1, 1000, 1e6]
    whole = isinstance(value, int) or any(name.endswith(suffix) for suffix in QUANTITY_OF_SUFFIX)
    numbers = [round(each) if whole or each == int(each) else each for each in others if each >= minimum]
    for suffix, quantity in QUANTITY_OF_SUFFIX.items():
        if name.endswith(suffix):
            numbers = [value * 2, value / 2, 1e6, 1e5, 64]
            return [quantity.format(int(each)) for each in numbers if each != value and each >= 1]
    return [each for each in (*numbers, 0.5) if each != value]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a transport."""

    transport: str
    key: str
    others: tuple[object, ...]
    """Values other than its own."""

    def __str__(self) -> str:
        return f"{self.transport}.{self.key}"


WORDS: Mapping[str, tuple[object, ...]] = {
    "cc": ("fixed", "vegas"),
    "estimator": ("literal", "drained"),
    "load_balancing": ("reps", "bitmap"),
}
NEEDED: Mapping[str, dict[str, object]] = {
    "freeze": {"load_balancing": "reps"},
    "explored_paths": {"load_balancing": "reps"},
    "fair_gain": {"smartt": 1},
    "delay_gain": {"smartt": 1},
}
"""Other parameters that a parameter needs to have an effect."""
OF_BASES = {
    "irn": "irn",
    "irn-gbn": "irn-gbn",
    "roce-lossy": "go-back-n",
    "roce-go-back-0": "go-back-0",
    "uet": "uet",
    "uet+rccc": "uet-rccc",
}
"""Ways to repair losses, by a transport that has them."""


def parameters() -> Iterator[Parameter]:
    """Every parameter of every transport, wherever it goes."""
    for name in TRANSPORTS:
        settings = settings_for(name, LINE_RATE_BPS, {})
        for each in parameter_names(settings):
            value = getattr(settings, each, None)
            if value is None:
                value = getattr(settings.cc_parameters, each, None)
            words = [word for word in WORDS.get(each, ()) if word != value]
            yield Parameter(name, as_written(each), tuple(words or other_values(each, value)))
        for key, values in OPTIONS.items():
            yield Parameter(name, key, tuple(str(each).lower() for each in values[1:]))
    for name, kind in RELIABILITIES.items():
        if kind.controls_window:
            yield from _table(name, kind.parameters)
    yield Parameter("dctcp", as_written(MARK_ABOVE), ("50KB",))
    for name in NIC_CONTROLS:
        yield from _table(f"roce+{name}", CONTROLS[name].parameters)
    yield from _table("roce+dcqcn", CURVE_PARAMETERS)
    yield from _table("roce+rocc", FAIR_RATE_PARAMETERS)
    yield Parameter("roce+dcqcn", "variant", ("ns3-rdma",))
    for transport, name in OF_BASES.items():
        yield from _table(transport, RELIABILITIES[name].parameters)


def _table(transport: str, table: tuple[NumericParameter, ...]) -> Iterator[Parameter]:
    for each in table:
        others = tuple(WORDS.get(each.name) or other_values(each.name, each.value, each.minimum))
        yield Parameter(transport, as_written(each.name), others)
