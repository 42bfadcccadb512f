"""The parts of an experiment that have a short form: transports, measures, traffic groups."""

from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema, model_validator
from pydantic.config import JsonDict

from rogue.harness.experiment.keys import ByKind
from rogue.workloads.printable import did_you_mean
from rogue.workloads.specification import Name, Specification, Time, mistake, mistakes_at
from rogue.workloads.traffic import WORKLOADS, Workload
from rogue.workloads.transports import (
    BASES,
    FEATURES,
    NIC_CONTROLS,
    RECEIVER_CONTROLS,
    TransportName,
    TransportNameError,
    parse_transport,
)

MeasureKind = Literal["throughput", "latency", "queues", "pauses", "cpu", "rtt", "control", "packets"]
MEASURES: Final[dict[MeasureKind, str]] = {
    "throughput": "payload delivered in order, per flow and interval",
    "latency": "round trips of the probe",
    "queues": "bytes waiting in the switches' ports",
    "pauses": "intervals in which a port was paused",
    "cpu": "processor time used on the hosts",
    "rtt": "the agent's RTT samples",
    "control": "what congestion controls of hosts and NICs believe; only when asked for by name",
    "packets": "every packet of chosen ports, flows and times; only when asked for by name",
}
SAMPLED: Final[tuple[MeasureKind, ...]] = ("throughput", "queues")
"""Measures that have an interval; what the others record is written down whenever it happens."""
ON_REQUEST: Final[tuple[MeasureKind, ...]] = ("control", "packets")
"""Measures that an experiment gets only if it names them."""
PACKETS_MAX: Final = 2_000_000
"""Of one cell: they lie in memory until its end."""

Scalar = str | int | float | bool


def _only_scalar(value: object) -> object:
    if not isinstance(value, Scalar):
        raise mistake("one word or number", "write a single value")
    return value


Parameter = Annotated[Scalar, BeforeValidator(_only_scalar)]


def _parsed(name: object) -> object:
    if not isinstance(name, str):
        raise mistake("text", "correct the value")
    try:
        return parse_transport(name)
    except TransportNameError as error:
        raise mistake(error.expected, _advice(name)) from error


def _advice(name: str) -> str:
    """Return advice about a wrong name; if the base is right, about its features."""
    base, *features = name.split("+")
    elsewhere = {*FEATURES, *NIC_CONTROLS, *RECEIVER_CONTROLS}
    misplaced = [each for each in features if base in BASES and each in elsewhere - {*BASES[base].allowed}]
    if misplaced:
        return f"leave +{misplaced[0]} out"
    bases = [base] if base in BASES else list(BASES)
    known = [*bases, *(f"{each}+{feature}" for each in bases for feature in BASES[each].allowed)]
    return did_you_mean(name, known, "`rogue list transports` explains them")


Transport = Annotated[
    TransportName, BeforeValidator(_parsed), PlainSerializer(str), WithJsonSchema({"type": "string"})
]


def _transport_schema(schema: JsonDict) -> None:
    """Return the JSON Schema of a name, or a mapping with parameters beside the name."""
    properties = schema.pop("properties")
    assert isinstance(properties, dict)
    parameters = properties.pop("parameters")
    assert isinstance(parameters, dict)
    mapping: JsonDict = {
        "type": "object",
        "properties": properties,
        "required": ["name"],
        "additionalProperties": parameters["additionalProperties"],
    }
    schema.clear()
    schema["anyOf"] = [properties["name"], mapping]


def _measure_schema(schema: JsonDict) -> None:
    """Return the JSON Schema of a name, or a mapping with an interval."""
    mapping = dict(schema)
    properties = schema["properties"]
    assert isinstance(properties, dict)
    schema.clear()
    schema["anyOf"] = [properties["kind"], mapping]


class TransportChoice(Specification):
    """A transport, with the parameters that are not left at their defaults."""

    model_config = ConfigDict(json_schema_extra=_transport_schema)

    name: Transport
    """Name of the transport."""
    label: Annotated[str, Field(min_length=1, max_length=60)] | None = None
    """What results call it; by default the name and the parameters."""
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    """Parameters of the agent, as written."""

    @model_validator(mode="before")
    @classmethod
    def _fold(cls, value: object) -> object:
        if isinstance(value, str):
            return {"name": value}
        if not isinstance(value, dict):
            raise mistake("a transport's name, or a mapping with its name", "write for example rogue")
        folded: dict[str, object] = {key: value[key] for key in ("name", "label") if key in value}
        folded["parameters"] = {key: item for key, item in value.items() if key not in folded}
        return folded

    @property
    def shown(self) -> str:
        """Return its name in results."""
        if self.label is not None:
            return self.label
        return ",".join((str(self.name), *(f"{key}={value}" for key, value in self.parameters.items())))


class MeasureChoice(Specification):
    """Something to record, and how often."""

    model_config = ConfigDict(json_schema_extra=_measure_schema)

    kind: MeasureKind
    """What to record."""
    interval_ns: Time | None = None
    """How often; by default every 10 ms, of queues 10 us, and less often from 2 s and 100 ms on."""
    required: bool = False
    """Run only where this can be recorded; by default a cell runs without it, and results say so."""
    ports: Annotated[list[str], Field(min_length=1, max_length=1000)] | None = None
    """Of packets: whose ports, as `h0->s0`, or a node for all links to and from it; by default all."""
    flows: Annotated[list[str], Field(min_length=1, max_length=1000)] | None = None
    """Of packets: of which flows, as `main/h0->h8`; by default all."""
    from_ns: Time = 0
    """Of packets: those that leave a port from then on."""
    until_ns: Time | None = None
    """Of packets: those that leave a port before."""
    packets_max: Annotated[int, Field(ge=1, le=PACKETS_MAX)] = 100_000
    """Of packets: how many are recorded; the rest is counted, and the report says so."""

    @model_validator(mode="before")
    @classmethod
    def _fold(cls, value: object) -> object:
        return {"kind": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.interval_ns is not None and self.kind not in SAMPLED:
            expected = f"none, for only {' and '.join(SAMPLED)} are sampled"
            raise mistakes_at({"interval": mistake(expected, "leave it out")})
        self._check_packets()
        return self

    def _check_packets(self) -> None:
        own = ("ports", "flows", "from_ns", "until_ns", "packets_max")
        stated = [
            type(self).model_fields[name].alias or name for name in own if name in self.model_fields_set
        ]
        if self.kind != "packets" and stated:
            found = mistake("none, for only packets are chosen", "leave it out, or measure packets")
            raise mistakes_at(dict.fromkeys(stated, found))
        if self.until_ns is not None and self.until_ns <= self.from_ns:
            raise mistakes_at({"until": mistake("a time after from", "correct one of them")})


class TrafficGroup(Specification):
    """A workload with a name, beside others in the same network."""

    name: Name
    """Name of the group; flows carry it."""
    workload: Annotated[Workload, ByKind(WORKLOADS)]
    """Its traffic."""
    transport: Transport | None = None
    """Its own transport; by default the cell's."""
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    """Parameters of its transport that are not the cell's, such as the rate that its NICs begin with."""
    priority: Annotated[int, Field(ge=0, le=7)] = 0
    """Traffic class in the network."""
