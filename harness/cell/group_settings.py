"""Translate the parameters of a traffic group's transport, once, for every testbed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from rogue.agent.core.errors import ContradictionError, SettingsError
from rogue.agent.core.estimators import ESTIMATORS
from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.transports import CHOICES, chosen_settings, parameter_names, with_parameters
from rogue.harness.cell.marking import CURVE_PARAMETERS, MARK_ABOVE, MarkingCurve, requested_marking
from rogue.harness.cell.parameter_sets import VARIANT, described_sets
from rogue.harness.cell.transport import (
    NumericParameter,
    ParameterError,
    ParameterMistake,
    as_written,
    translated,
    values_of,
    with_numbers,
)
from rogue.harness.experiment.choices import Scalar
from rogue.simulator import (
    CONTROLS,
    FAIR_RATE_PARAMETERS,
    RECEIVER_CONTROLS,
    RELIABILITIES,
    SPRAYING_PARAMETERS,
    ControlParameter,
)
from rogue.workloads.topologies import Topology
from rogue.workloads.transports import BASES, NIC_CONTROLS, TransportName

OPTIONS: Final[dict[str, tuple[Scalar, ...]]] = {
    "completions": ("event", "polling"),
    "record_inputs": (False, True),
}
"""Values of the options of drivers on nodes, the default first.

completions: wait for completion events, or poll all the time, with the NIC's timestamps if it has them.
record_inputs: log all inputs of a connection, so that its decisions can be replayed.
"""
OF_GRANTING: Final = ("credit_packets", "credit_rate")
"""Parameters of the engine's credit rule, which a plug-in replaces."""


@dataclass(frozen=True, slots=True)
class DriverOptions:
    """Options of the agent at a flow's ends."""

    completions: Literal["event", "polling"] = "event"
    record_inputs: bool = False


@dataclass(frozen=True, slots=True)
class TcpSettings:
    """A TCP with its parameters, defaults left out; the rest is what an agent's settings have besides."""

    transport: str
    parameters: Mapping[str, float]
    mark_above_bytes: int | None = None
    estimator: None = None
    cc_parameters: None = None

    @property
    def segment_bytes(self) -> int:
        """Return the payload of a full segment."""
        options = 12 if self.parameters.get("timestamps") else 0
        packets = BASES[self.transport].packets
        assert packets is not None, "every TCP names its packets"
        return packets.payload_bytes - options


class NicPart(NamedTuple):
    """A key of one of the engine's registries, and the parameters that the experiment states."""

    name: str
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """The parameters of a transport in base units, by what takes them."""

    agents: Mapping[int, TransportSettings] = field(default_factory=dict)
    """Settings of the agent by the line rate of its host; empty for a TCP."""
    overrides: Mapping[str, Scalar] = field(default_factory=dict)
    """The agent's parameters that the experiment states, by the agent's names."""
    options: DriverOptions = DriverOptions()
    tcp: TcpSettings | None = None
    marking: MarkingCurve | None = None
    """When switches mark its packets; None: never."""
    control: NicPart | None = None
    """Congestion control in NICs."""
    recovery: NicPart | None = None
    """Loss recovery in NICs; None: the usual go-back-N."""
    receiver: NicPart | None = None
    """The plug-in that grants credit at receivers."""
    spraying: Mapping[str, float] | None = None
    """None: all packets of a flow take one path."""
    fair_rates: Mapping[str, float] | None = None
    """Of the congestion points in switches."""
    outside_agent: tuple[str, ...] = ()
    """The parameters, as written, that NICs and switches take."""

    def of_host(self, line_rate_bps: int) -> TransportSettings | TcpSettings:
        """Return the settings of what drives a flow that starts at a host with this line rate."""
        return self.tcp or self.agents[line_rate_bps]


def group_settings(
    topology: Topology, transport: TransportName, parameters: Mapping[str, Scalar]
) -> GroupSettings:
    """Translate parameters as an experiment writes them; ParameterError names the first that cannot be.

    A parameter has its unit in the value, not in the key: `base_rtt_floor: 25us` is the agent's
    `base_rtt_floor_ns`.
    """
    if transport.service == "tcp":
        return _tcp_group(topology, transport, parameters)
    control = _control_name(transport, parameters)
    tables = _tables(transport, control)
    outside = [as_written(parameter.name) for table in tables.values() for parameter in table]
    outside += [VARIANT] if control else []
    written = with_numbers(parameters) if transport.base == "uet" else parameters
    stated = {taker: values_of(table, written) for taker, table in tables.items()}
    if transport.recovery is not None:
        _refuse_retries(tables["recovery"], parameters)
    agents, overrides = _agents(topology, transport, parameters, outside)
    return GroupSettings(
        agents=agents,
        overrides=overrides,
        options=_options(parameters),
        marking=requested_marking(topology, transport, parameters),
        control=_part(control, stated["control"]),
        recovery=_part(transport.recovery, stated["recovery"]),
        receiver=_part(transport.receiver_control, stated["receiver"]),
        spraying=stated["spraying"] if transport.is_sprayed else None,
        fair_rates=stated["fair_rates"] if transport.has_fair_rates else None,
        outside_agent=tuple(key for key in parameters if key in outside),
    )


def _tables(transport: TransportName, control: str | None) -> dict[str, tuple[NumericParameter, ...]]:
    """Return what an experiment may state for NICs and switches, by what takes it."""
    receiver = transport.receiver_control
    is_marked = transport.wants_curve or transport.has_marked_control
    return {
        "recovery": () if transport.recovery is None else _recovery_table(transport.recovery, receiver),
        "receiver": () if receiver is None else RECEIVER_CONTROLS[receiver].parameters,
        "spraying": SPRAYING_PARAMETERS if transport.is_sprayed else (),
        "marking": CURVE_PARAMETERS if is_marked else (),
        "fair_rates": FAIR_RATE_PARAMETERS if transport.has_fair_rates else (),
        "control": () if control is None else CONTROLS[control].parameters,
    }


def _recovery_table(recovery: str, receiver: str | None) -> tuple[ControlParameter, ...]:
    """Return the parameters of a loss recovery, without those of granting where a plug-in grants."""
    table = RELIABILITIES[recovery].parameters
    return table if receiver is None else tuple(each for each in table if each.name not in OF_GRANTING)


def _part(name: str | None, values: Mapping[str, float]) -> NicPart | None:
    return None if name is None else NicPart(name, values)


def control_values(control: NicPart) -> dict[str, float]:
    """Return all parameters of a control in NICs: the stated ones, and defaults."""
    defaults = {parameter.name: parameter.value for parameter in CONTROLS[control.name].parameters}
    return defaults | dict(control.values)


def _control_name(transport: TransportName, parameters: Mapping[str, Scalar]) -> str | None:
    """Return the engine's name of the control in NICs, with its variant; ParameterError if there is none."""
    control = transport.control
    if control is None or VARIANT not in parameters:
        return control
    known = {
        name.removeprefix(f"{control}-"): name
        for name in CONTROLS
        if name.startswith(f"{control}-") and name not in NIC_CONTROLS
    }
    if parameters[VARIANT] not in known:
        raise _unknown_variant(transport, known)
    return known[str(parameters[VARIANT])]


def _unknown_variant(transport: TransportName, known: Iterable[str] = ()) -> ParameterError:
    """Return the error for a variant that a transport does not have, or not at the hosts' line rate."""
    variants = [*known, *described_sets(transport)]
    name = transport.control or transport.base
    expected = f"one of the variants {', '.join(variants)}" if variants else f"no variant of {name}"
    return ParameterError(ParameterMistake(VARIANT, expected, "leave it out for the text of its authors"))


def _refuse_retries(table: Iterable[NumericParameter], parameters: Mapping[str, Scalar]) -> None:
    """Raise ParameterError for parameters that only the usual go-back-N has."""
    for key in ("retry_count", "timeout_exponent"):
        if key in parameters:
            names = [parameter.name for parameter in table if parameter.name.endswith("_ns")]
            own = [as_written(name) for name in names if name.startswith("rto")]
            advice = f"its {'timeout is' if len(own) == 1 else 'timeouts are'} {' and '.join(own)}"
            expected = "no such parameter, because NICs retry without limit"
            raise ParameterError(ParameterMistake(key, expected, advice))


def _options(parameters: Mapping[str, Scalar]) -> DriverOptions:
    """Return the options among the parameters; ParameterError names the first that cannot be."""
    for key, values in OPTIONS.items():
        value = parameters.get(key, values[0])
        if not any(value is each or (isinstance(each, str) and value == each) for each in values):
            shown = " or ".join(str(each).lower() for each in values)
            raise ParameterError(ParameterMistake(key, shown, "choose one of them"))
    is_polled = parameters.get("completions") == "polling"
    return DriverOptions("polling" if is_polled else "event", parameters.get("record_inputs") is True)


def _agents(
    topology: Topology, transport: TransportName, parameters: Mapping[str, Scalar], outside: Sequence[str]
) -> tuple[dict[int, TransportSettings], dict[str, Scalar]]:
    """Return the agent's settings by line rate, and the stated parameters by the agent's names.

    Raises ParameterError, which also lists the parameters of NICs and switches where a name is unknown.
    """
    own = {key: value for key, value in parameters.items() if key not in outside and key not in OPTIONS}
    choices = {key: value for key, value in own.items() if key in CHOICES}
    rest = {key: value for key, value in own.items() if key not in CHOICES}
    rates_bps = topology.host_rates_bps
    try:
        chosen = [chosen_settings(transport.agent, rate_bps, choices) for rate_bps in rates_bps]
        known = (*outside, *parameter_names(chosen[0]))
        translations = dict(translated(key, value, known) for key, value in rest.items())
        agents = [with_parameters(settings, translations) for settings in chosen]
    except ContradictionError as error:
        raise ParameterError(_contradiction(error, parameters)) from error
    except SettingsError as error:
        key = as_written(error.key)
        raise ParameterError(ParameterMistake(key, error.expected, "correct the value")) from error
    estimator = agents[0].estimator
    if transport.service == "uc" and estimator is not None and ESTIMATORS[estimator].is_oracle:
        expected = "one that uses times of verbs: NICs do not record when a verb over UC left"
        raise ParameterError(ParameterMistake("estimator", expected, "choose another estimator"))
    return dict(zip(rates_bps, agents, strict=True)), choices | translations


def _contradiction(error: ContradictionError, parameters: Mapping[str, Scalar]) -> ParameterMistake:
    """Blame the one of two parameters that the file states."""
    key, bound_key = as_written(error.key), as_written(error.bound_key)
    if key in parameters:
        expected = f"up to {bound_key}, {_with_unit(error.bound_key, error.bound)}"
        return ParameterMistake(key, expected, f"lower it, or raise {bound_key}")
    expected = f"at least {key}, {_with_unit(error.key, error.got)}"
    return ParameterMistake(bound_key, expected, f"raise it, or lower {key}")


def _with_unit(name: str, value: object) -> str:
    return f"{value:.15g}{name.removeprefix(as_written(name)).replace('_', ' ')}"


def _tcp_group(
    topology: Topology, transport: TransportName, parameters: Mapping[str, Scalar]
) -> GroupSettings:
    """Translate the parameters of a TCP: `rto_min: 10ms` is the engine's `rto_min_ns`."""
    if VARIANT in parameters:
        raise _unknown_variant(transport)
    table = RELIABILITIES[transport.base].parameters
    own = (MARK_ABOVE,) if transport.wants_marks else ()
    known = (*(parameter.name for parameter in table), *own)
    values = dict(translated(key, value, known) for key, value in parameters.items())
    for key, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ParameterError(ParameterMistake(as_written(key), "a number", "correct the value"))
    marking = requested_marking(topology, transport, parameters)
    above_bytes = values.pop(MARK_ABOVE, None)
    numbers = {key: float(value) for key, value in values.items()}
    return GroupSettings(
        tcp=TcpSettings(transport.base, numbers, None if above_bytes is None else int(above_bytes)),
        marking=marking,
    )
